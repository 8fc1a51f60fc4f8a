"""Tokens of a workload's text. Declared attribute names match first, so `marital-status` needs no quotes.

A name stands without quotes unless it could change what other text means: a mark, a number, or declared names with
marks between them need double quotes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuboid.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cuboid.domain import Domain

_MARK = re.compile(r"[\[\](),*:+~>]")
_ALL = re.compile(r"all\s+(\d{1,5})(?:\s*\.\.\s*(\d{1,5}))?\s*-?\s*way\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:/\d+)?(?![A-Za-z0-9_])")
_BARE = re.compile(r"[^\W\d][\w.-]*\Z")
_WORDS = re.compile(r"[^\W\d][\w.-]*")
_WORD = re.compile(r"[^\s\[\](),*:+~>\"]+")
LANGUAGE = {"all", "way", "group", "by", "grouping", "sets", "cube", "rollup", "prefix", "ranges"}
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: kind is "all" (as in all 0..2-way), "name" (declared), "quoted", "number", "mark", "word"."""

    kind: str
    text: str

    def says(self, *texts: str) -> bool:
        """Whether it is one of these marks or words, whatever its case. A quoted name is neither."""
        return self.kind in ("mark", "word", "name") and self.text.upper() in texts


def tokens(text: str, domain: Domain) -> Iterator[Token]:
    """The tokens of a workload's text."""
    names = sorted((name for name in domain.names if is_bare(name) or _is_own(name, domain)), key=len, reverse=True)
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        token, place = _next(text, place, names)
        yield token


def _is_own(name: str, domain: Domain) -> bool:
    """Whether a name has a word that nothing else in a workload's text can have."""
    words = (word for word in _WORDS.findall(name) if word.casefold() not in LANGUAGE)
    return any(word not in domain.names for word in words)


def is_bare(name: str) -> bool:
    """Whether a name can stand without quotes: a letter first, then letters, digits, dots and dashes."""
    return _BARE.match(name) is not None


def _next(text: str, place: int, names: list[str]) -> tuple[Token, int]:
    if text[place] == '"':
        quoted = _QUOTED.match(text, place)
        if not quoted:
            raise WorkloadError('the wanted tables have an open quote: close it with "')
        return Token("quoted", quoted[1].replace('""', '"')), quoted.end()
    phrase = _ALL.match(text, place)
    if phrase:
        return Token("all", f"{phrase[1]}..{phrase[2] or phrase[1]}"), phrase.end()
    for name in names:
        if text.startswith(name, place) and _ends(text, place + len(name), name):
            return Token("name", name), place + len(name)
    for kind, pattern in (("number", _NUMBER), ("mark", _MARK), ("word", _WORD)):
        found = pattern.match(text, place)
        if found:
            return Token(kind, found[0]), found.end()
    raise WorkloadError(f"the wanted tables have a {text[place]!r} where no one is expected")


def _ends(text: str, place: int, name: str) -> bool:
    """Whether a declared name ends here, rather than being the start of a longer word."""
    return place == len(text) or not (_word(name[-1]) and _word(text[place]))


def _word(char: str) -> bool:
    return char.isalnum() or char in "_-"
