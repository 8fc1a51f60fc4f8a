"""Do the documents tell the truth? Their commands and snippets are run, and every command and option has its place.

Each page gets a folder with `examples/` in it. Its console blocks run in one shell, in order; its Python blocks run
afterwards as one program, where the shell ended. Every line that a page shows must be in the real output, numbers and
flags apart, as noise differs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from cuboid.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = "docs/commands.md"
PAGES = ("README.md", *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md")))
WITHOUT_NOISE = ("docs/guarantee.md", "docs/strategies.md", "docs/workloads.md")  # snippets compared to the digit
PROOFS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/proofs/*.md"))
OTHERS = ("CONTRIBUTING.md", "CHANGELOG.md", "examples/data/README.md", *PROOFS)
RUN = tuple(page for page in PAGES if re.search(r"^```(console|python)$", (ROOT / page).read_text("utf-8"), re.M))


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a page, and the lines that it shows."""

    command: str
    shown: tuple[str, ...]

    @property
    def fails(self) -> bool:
        """Whether the page shows a failure."""
        return any(line.startswith(("cuboid: ", "FAILED")) for line in self.shown)


def blocks(text: str, kind: str) -> list[str]:
    """The fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S)


def steps(text: str) -> Iterator[Step]:
    """The commands of a page's console blocks."""
    for block in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *shown = part.splitlines()
            yield Step(command, tuple(shown))


def inert(line: str) -> str:
    """A line without numbers, digests, flags, widths and the folder it speaks of."""
    line = re.sub(r"(/[\w.-]+)+/", "/", line)
    line = re.sub(r"\b[0-9a-f]{32,}\b", "#", line)
    line = re.sub(r"-?\d+(,\d{3})*(\.\d+)?(e[+-]?\d+)?", "#", line)
    return " ".join(re.sub(r"\b(ok|unreliable)\b(?=$|,)", "FLAG", re.sub(r"-{2,}", "--", line)).split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples in it, a ledger beside it, and the command on the path."""
    place = tmp_path / "cuboid"
    shutil.copytree(ROOT / "examples" / "data", place / "examples" / "data")
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("CUBOID_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "110")
    return place


def run_console(commands: list[str], place: Path) -> tuple[list[tuple[int, str]], Path]:
    """Exit code and output of each command, run in one shell, and the folder where it ended."""
    marks = place.parent / "marks"
    marks.mkdir()
    script = [
        f"{{ {command}\n}} > '{marks}/{number}.out' 2>&1 < /dev/null; echo $? > '{marks}/{number}.code'"
        for number, command in enumerate(commands)
    ]
    subprocess.run(["bash", "-c", "\n".join([*script, f"pwd > '{marks}/end'"])], cwd=place, check=True, timeout=300)
    found = [
        (int((marks / f"{number}.code").read_text()), (marks / f"{number}.out").read_text("utf-8"))
        for number in range(len(commands))
    ]
    return found, Path((marks / "end").read_text().strip())


@pytest.mark.parametrize("page", RUN)
def test_a_page_does_what_it_says(page: str, folder: Path) -> None:
    """Commands end as shown and print what is shown; snippets run to their end."""
    text = (ROOT / page).read_text("utf-8")
    if page.endswith("schema.md"):
        (folder / "schema.toml").write_text(blocks(text, "toml")[0], "utf-8")
    told = list(steps(text))
    found, end = run_console([step.command for step in told], folder)
    for step, (code, output) in zip(told, found, strict=True):
        assert (code != 0) == step.fails, f"{page}: {step.command} ended with {code}: {output}"
        printed = {inert(line) for line in output.splitlines()}
        missing = [line for line in step.shown if line != "..." and inert(line) not in printed]
        assert not missing, f"{page}: {step.command} does not print {missing[0]!r}, but:\n{output}"
    program = "\n".join(blocks(text, "python"))
    if program:
        ran = subprocess.run([sys.executable, "-c", program], cwd=end, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, f"{page}: {ran.stderr}"
        same = str.rstrip if page in WITHOUT_NOISE else inert
        printed = {same(line) for line in ran.stdout.splitlines()}
        for block in blocks(text, "text"):
            missing = [line for line in block.splitlines() if same(line) not in printed]
            assert not missing, f"{page}: its snippets do not print {missing[0]!r}, but:\n{ran.stdout}"


def leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its full name."""
    parts = getattr(command, "commands", None)
    if parts is None:
        yield name, command
        return
    for own, part in parts.items():
        yield from leaves(part, f"{name} {own}")


def sections(text: str) -> dict[str, str]:
    """The second-level sections of a page, by heading."""
    parts = re.split(r"^## (.+)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


TREE = dict(leaves(typer.main.get_command(app), "cuboid"))


@pytest.mark.parametrize("name", TREE)
def test_every_command_and_option_has_its_place(name: str) -> None:
    """Each command has a section with an example and with just the options and arguments it takes."""
    section = sections((ROOT / COMMANDS).read_text("utf-8")).get(name)
    assert section is not None, f"{COMMANDS} has no section `## {name}`"
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    told = {word for row in rows for word in re.findall(r"`([^`]+)`", row)}
    known: set[str] = set()
    for parameter in TREE[name].params:
        if "--help" in parameter.opts:
            continue
        option = parameter.param_type_name == "option"
        known |= {*parameter.opts, *parameter.secondary_opts} if option else {parameter.metavar or parameter.name}
    known = {own.strip("{}[].") for own in known}
    assert told == known, f"{COMMANDS}, {name}: missing {sorted(known - told)}, not there {sorted(told - known)}"
    examples = [step.command for step in steps(section)]
    assert any(example.startswith(name) for example in examples), f"{COMMANDS} has no example of {name}"


def test_no_section_is_about_a_command_that_is_not_there() -> None:
    """A command that was removed leaves the page, too."""
    told = {name for name in sections((ROOT / COMMANDS).read_text("utf-8")) if name.startswith("cuboid")}
    assert told == set(TREE)


def test_every_exit_code_is_told() -> None:
    """The five codes, each once, before the first command."""
    opening = (ROOT / COMMANDS).read_text("utf-8").split("\n## ")[0]
    assert re.findall(r"\*\*(\d)\*\*", opening) == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("page", [*PAGES, *OTHERS])
def test_links_lead_somewhere(page: str) -> None:
    """Links between documents name a file that is there, and a heading in it."""
    text = (ROOT / page).read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, heading = target.partition("#")
        other = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert other.exists(), f"{page} links to {target}"
        if heading:
            titles = re.findall(r"^#+ (.+)$", other.read_text("utf-8"), re.M)
            anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert heading in anchors, f"{page} links to {target}"


def test_a_line_that_is_not_printed_is_noticed() -> None:
    """Negative control: words differ, numbers may."""
    assert inert("White  <=50K   20,700.7  ±91.3  ok") == inert("White <=50K 1.5 ±2.0 unreliable")
    assert inert("adult: 2 entries hold") != inert("adult: 2 entries broken")
    assert inert("/home/ada/cuboid/people.csv was") == inert("/tmp/x-1/cuboid/people.csv was")
