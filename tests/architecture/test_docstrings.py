"""Is everything public said in a sentence, and every promise of privacy written beside its code?"""

from __future__ import annotations

import ast

import pytest

from architecture.source import modules

PROMISING = ("cuboid.gate", "cuboid.privacy.sensitivity", "cuboid.privacy.ledger", "cuboid.noise.draw")
RETURNS = {"Cost", "Receipt", "Opened", "tuple[Measurements, Receipt]"}  # costs, spends, caps and noisy answers
BY_NAME = {"draw", "price", "charge_for"}


def public(tree):
    """Module-level public functions and classes, and the public methods of public classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                for own in node.body:
                    if isinstance(own, ast.FunctionDef) and not own.name.startswith("_"):
                        yield f"{node.name}.{own.name}", own


def overrides(name, node, tree):
    """Whether a method repeats one of a base class, whose docstring holds for it."""
    if "." not in name:
        return False
    (own,) = (c for c in tree.body if isinstance(c, ast.ClassDef) and c.name == name.split(".")[0])
    return bool(own.bases)


def promising(tree):
    """Public functions that price, cap, spend or draw."""
    for name, node in public(tree):
        if isinstance(node, ast.FunctionDef) and not any(ast.unparse(d) == "property" for d in node.decorator_list):
            returned = ast.unparse(node.returns) if node.returns else ""
            if returned in RETURNS or node.name in BY_NAME:
                yield name, node


def guarantee(node):
    """The lines of a docstring's section of promises."""
    lines = (ast.get_docstring(node) or "").splitlines()
    if "Guarantee:" not in lines:
        return []
    after = lines[lines.index("Guarantee:") + 1 :]
    section = []
    for line in after:
        if not line.startswith("    "):
            break
        section.append(line.strip())
    return section


@pytest.mark.parametrize("name", modules())
def test_everything_public_has_a_sentence(name):
    """Module, class, function and method say first, in a whole sentence, what they are or return."""
    tree = modules()[name]
    for what, node in [(name, tree), *public(tree)]:
        text = ast.get_docstring(node)
        if text is None and overrides(what, node, tree):
            continue
        assert text, f"{name}: {what} has no docstring"
        paragraph = text.split("\n\n")[0]
        assert len(paragraph.split()) > 1, what
        assert paragraph[-1] in ".:?!", f"{name}: {what} does not end its sentence"


@pytest.mark.parametrize("room", PROMISING)
def test_every_promise_is_written_down(room):
    """What prices, caps, spends or draws has a section `Guarantee:` of two to four lines."""
    found = {
        f"{name}.{what}": guarantee(node)
        for name, tree in modules().items()
        if name == room or name.startswith(f"{room}.")
        for what, node in promising(tree)
    }
    assert found
    for what, lines in found.items():
        assert 2 <= len(lines) <= 4, f"{what}: {lines}"


def test_the_promises_that_must_be_there():
    """The rule finds the functions that carry the argument."""
    found = {f"{name}.{what}" for name, tree in modules().items() for what, _ in promising(tree)}
    assert {
        "cuboid.gate.measure",
        "cuboid.noise.draw.draw",
        "cuboid.privacy.sensitivity.laplace_cost",
        "cuboid.privacy.sensitivity.gaussian_cost",
        "cuboid.privacy.ledger.ledger.Ledger.spend",
        "cuboid.privacy.ledger.ledger.Ledger.open_account",
        "cuboid.privacy.ledger.account.charge_for",
        "cuboid.privacy.ledger.account.price",
        "cuboid.privacy.ledger.account.opening",
    } <= found


def test_a_promise_taken_out_is_missed():
    """The control: without its section, a function has no guarantee to show."""
    tree = ast.parse('def draw():\n    """Return noise.\n\n    Nothing is promised.\n    """\n')
    ((_, node),) = promising(tree)
    assert guarantee(node) == []


def test_every_test_says_what_it_asks():
    """Each test has a docstring of a sentence."""
    from architecture.source import REPO

    missing = []
    for path in sorted((REPO / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        ]
        missing += [f"{path.name}: {node.name}" for node in functions if not ast.get_docstring(node)]
    assert missing == []
