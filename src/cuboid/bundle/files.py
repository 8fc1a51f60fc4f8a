"""Files of a bundle. What cannot be made again is either whole or not there; the rest is synced before the receipt."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cuboid.errors import BundleError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FORMAT = 1
RELEASE, MEASUREMENTS, RECEIPT, CARD, PACKAGE = (
    "release.json", "measurements.parquet", "receipt.json", "card.md", "datapackage.json",
)  # fmt: skip
TABLES = "tables"
PARTIAL = ".partial"
CLAIM = f"claim{PARTIAL}"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path to write to; it takes the given name once the block is done, and vanishes if the block fails.

    What was written survives a crash of the machine: it is on the disk before it has its name.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        synced([partial])
        partial.replace(path)
        synced([path.parent])
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        partial.unlink(missing_ok=True)


def synced(paths: Sequence[Path]) -> None:
    """Put files or folders on the disk, several at a time: the disk waits once for many."""
    with ThreadPoolExecutor(max_workers=16) as pool:
        list(pool.map(_sync, paths))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _refused(path: Path, error: OSError) -> BundleError:
    return BundleError(f"cannot write {path}: {error.strerror or 'the disk refused'}; free the place or choose another "
                       "folder, then `cuboid recover` goes on from what is there")  # fmt: skip


def write_loose(path: Path, text: str) -> None:
    """Write a text file that is put on the disk later, with others, by `synced`. Raises OSError."""
    path.write_text(text, encoding="utf-8", newline="\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def as_json(document: Any) -> str:
    """A document as the text of a JSON file."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read_json(path: Path) -> Any:
    """The document in a JSON file. Raises BundleError where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BundleError(f"{path.parent} has no {path.name}: name the folder that `cuboid release -o` wrote") from None
    except (OSError, ValueError, RecursionError):
        raise BundleError(f"{path} cannot be read: it is not the file that Cuboid wrote") from None


def there(path: Path) -> bool:
    """Whether a file is there; a name that no file can have is not."""
    try:
        return path.is_file()
    except OSError:
        return False


def sha256(path: Path) -> str:
    """Digest of a file."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def contents(folder: Path) -> list[str]:
    """Every file of a bundle but its receipt, as paths within it, sorted."""
    paths = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    names = (path.relative_to(folder).as_posix() for path in paths)
    return sorted(name for name in names if name != RECEIPT)
