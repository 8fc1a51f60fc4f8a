"""Slow plain twins of fast routines: what they mean, written as simply as it can be said."""

from __future__ import annotations

import itertools
import math
import re
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation

import numpy as np

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def naive_number(text):
    """The exact decimal that a text writes, or None."""
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,17})?", text):
        return None
    try:
        return Decimal(text, _EXACT)
    except InvalidOperation:
        return None


def naive_encode_value(attribute, value):
    """The position of the category that a value (text, or None) falls into; None where its row is dropped."""
    categories = list(attribute.categories)
    outside = None if attribute.outside == "drop" else categories.index(attribute.outside)
    null = outside if attribute.missing is None else categories.index(attribute.missing)
    if value is None:
        return null
    text = value.strip()
    declared = [declared.strip() for declared in attribute.values]
    if text in declared:
        return declared.index(text)
    if text == "":
        return null
    number = naive_number(text)
    if number is None:
        return outside
    if attribute.bins:
        edges = [Decimal(repr(float(edge))) for edge in attribute.bins]
        for place, (left, right) in enumerate(itertools.pairwise(edges)):
            if left <= number < right or (number == right == edges[-1]):
                return place
        return outside
    equal = [place for place, other in enumerate(declared) if naive_number(other) == number]
    return equal[0] if len(equal) == 1 else outside


def naive_weight(value):
    """The weight that a value (text, or None) stands for, at most 2^63 - 1; None where its row is dropped."""
    number = None if value is None else naive_number(value.strip())
    if number is None or number < 0:
        return None
    if number >= 2**63 - 1:
        return 2**63 - 1 if number.adjusted() > 40 or number == number.to_integral_value() else None
    return int(number) if number == int(number) else None


def naive_count(columns, sizes, cuboid, weights=None):
    """The table of a cuboid, row by row, with sums that stop at 2^63 - 1."""
    shape = tuple(sizes[i] for i in cuboid)
    cells = [0] * math.prod(shape)
    for row in range(len(columns[0])):
        place = 0
        for i in cuboid:
            place = place * sizes[i] + int(columns[i][row])
        cells[place] += 1 if weights is None else int(weights[row])
    return np.array([min(2**63 - 1, cell) for cell in cells], dtype=np.int64).reshape(shape)
