"""The source as syntax trees."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import cuboid

SRC = Path(cuboid.__file__).parents[1]
REPO = Path(__file__).parents[2]


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted((SRC / "cuboid").rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports(tree: ast.Module) -> set[str]:
    """Every module that a module names in an import, at the top, in a function or for its types."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def within(module: str, rooms: set[str]) -> bool:
    """Whether a module is one of the rooms, or in one."""
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def names_used(tree: ast.AST) -> set[str]:
    """Every bare name and every attribute's name in a tree."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


def calls(tree: ast.AST) -> set[str]:
    """The names of everything that is called."""
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {f.id for f in called if isinstance(f, ast.Name)} | {f.attr for f in called if isinstance(f, ast.Attribute)}
