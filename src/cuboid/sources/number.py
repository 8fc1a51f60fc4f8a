"""Numbers written as text, compared exactly: no float, so 0.1 is not 0.1000000000000000055."""

from __future__ import annotations

import re
from typing import TypeAlias

Number: TypeAlias = tuple[int, int, str]
"""(sign, decimal order of magnitude, digits): equal for equal numbers, and ordered as the numbers are."""

MAX = 2**63 - 1
ZERO: Number = (0, 0, "")
_PATTERN = re.compile(r"([+-]?)([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?")
_MIRROR = str.maketrans("0123456789", "9876543210")
_LONGEST_EXPONENT = 18  # beyond it all magnitudes count as one: int() of a long text is slow, and refuses 4,301 digits


def number(text: str) -> Number | None:
    """The number that a text writes in decimal, or None. Cost is linear in the text, whatever its exponent."""
    found = _PATTERN.fullmatch(text)
    if found is None:
        return None
    sign, whole, fraction, exponent = found.groups()
    digits = whole + fraction
    if not digits:
        return None
    significant = digits.lstrip("0")
    magnitude = len(whole) - (len(digits) - len(significant)) + (_exponent(exponent) if exponent else 0)
    significant = significant.rstrip("0")
    if not significant:
        return ZERO
    if sign != "-":
        return 1, magnitude, significant
    # mirrored digits with a mark above 9 at the end: the longer of two negative numbers is the smaller
    return -1, -magnitude, significant.translate(_MIRROR) + ":"


def whole_weight(text: str) -> int:
    """A non-negative whole number, at most 2^63 - 1, or -1 where the text writes none."""
    found = number(text.strip())
    if found is None or found[0] < 0:
        return -1
    _, magnitude, digits = found
    if len(digits) > max(0, magnitude):
        return -1
    return MAX if magnitude > 19 else min(MAX, int(digits.ljust(magnitude, "0") or "0"))


def _exponent(text: str) -> int:
    size = text.lstrip("+-").lstrip("0") or "0"
    exponent = int(size) if len(size) <= _LONGEST_EXPONENT else 10**_LONGEST_EXPONENT
    return -exponent if text.startswith("-") else exponent
