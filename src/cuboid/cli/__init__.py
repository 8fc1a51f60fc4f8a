"""The command line: each command parses, makes one call of the library, and prints."""

from cuboid.cli.main import app, main

__all__ = ["app", "main"]
