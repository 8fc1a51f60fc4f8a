"""Four spellings of a workload, one meaning.

brackets   [A B][B C], 2*[A B], [] for the total
all        all 2-way, all 0..2-way
formula    ~A*B + C (its maximal margins), A:B + A (these cuboids), 1 for the total
SQL        GROUPING SETS ((A, B), (B), ()), CUBE(A, B), ROLLUP(A, B), with GROUP BY before them or not; GROUP BY A, B
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from cuboid.domain import Cuboid, Domain, maximal, subsets
from cuboid.errors import WorkloadError, listed
from cuboid.workload.scanner import Token, tokens
from cuboid.workload.workload import MOST_ATTRIBUTES, Workload, every

if TYPE_CHECKING:
    from collections.abc import Iterable

_EXAMPLES = 'for example "all 2-way", "[age sex][sex region]", "age:sex + region" or "CUBE(age, sex)"'
_LONGEST_NUMBER = 100
_LATER = ("PREFIX", "RANGES")


def parse(text: str, domain: Domain) -> Workload:
    """The weighted set of cuboids that a text asks for. Raises WorkloadError naming what is wrong."""
    return Workload.of(domain, _Parser(text, domain).workload())


def named(tables: Iterable[Iterable[str]], domain: Domain) -> Workload:
    """The workload of the tables given as names of attributes."""
    return Workload.of(domain, [(domain.cuboid([table] if isinstance(table, str) else table), Fraction(1))
                                for table in tables])  # fmt: skip


class _Parser:
    """Recursive descent over the tokens; each method reads what its name says."""

    def __init__(self, text: str, domain: Domain) -> None:
        self.domain = domain
        self.tokens = list(tokens(text, domain))
        self.place = 0

    def workload(self) -> list[tuple[Cuboid, Fraction]]:
        if not self.tokens:
            raise WorkloadError(f"no table is wanted: say which, {_EXAMPLES}")
        self._refuse_what_comes_later()
        if self._peek().says("ALL") and self._peek().kind == "word":
            raise WorkloadError('"all" must be followed by the number of attributes a table: write "all 2-way" or '
                                '"all 0..2-way"')  # fmt: skip
        grouped = self._peek().says("GROUP") and self._peek(1).says("BY")
        if grouped:
            self.place += 2
        if grouped and not self._starts_sql():
            found = [(self._columns(), Fraction(1))]
        elif self._starts_sql():
            found = self._sql()
        elif self._peek().kind == "all" or self._peek().says("[") or self._weighs():
            found = self._brackets()
        else:
            found = [(cuboid, Fraction(1)) for cuboid in self._formula()]
        if self.place < len(self.tokens):
            raise WorkloadError(f"the wanted tables have {self._peek().text!r} where nothing more is expected: write "
                                f"them in one spelling, {_EXAMPLES}")  # fmt: skip
        return found

    def _brackets(self) -> list[tuple[Cuboid, Fraction]]:
        found: list[tuple[Cuboid, Fraction]] = []
        while self.place < len(self.tokens):
            weight = self._weight()
            if self._peek().kind == "all":
                low, high = self._take().text.split("..")
                found += [(cuboid, weight) for cuboid in every(self.domain, int(low), int(high))]
            else:
                self._expect("[")
                found.append((self._names("]"), weight))
            if self._peek().says("+", ","):
                self._take()
                if self.place == len(self.tokens):
                    raise WorkloadError("the wanted tables end in a mark that joins two: name one more, or take it out")
        return found

    def _columns(self) -> Cuboid:
        """A, B, C as after GROUP BY: one table."""
        names = [self._name()]
        while self._peek().says(","):
            self._take()
            names.append(self._name())
        return self.domain.cuboid(names)

    def _starts_sql(self) -> bool:
        if self._peek().says("GROUPING"):
            return self._peek(1).says("SETS")
        return self._peek().says("CUBE", "ROLLUP") and self._peek(1).says("(")

    def _weighs(self) -> bool:
        return self._peek().kind == "number" and self._peek(1).says("*")

    def _weight(self) -> Fraction:
        if self._peek().kind != "number":
            return Fraction(1)
        text = self._take().text
        try:
            weight = Fraction(text if len(text) < _LONGEST_NUMBER else "")
        except (ZeroDivisionError, ValueError):
            raise WorkloadError(
                "a table's weight must be a positive number before the *, such as 2, 0.5 or 1/3"
            ) from None
        self._expect("*")
        return weight

    def _formula(self) -> list[Cuboid]:
        margins = self._peek().says("~")
        if margins:
            self._take()
        found = self._term()
        while self._peek().says("+"):
            self._take()
            found += self._term()
        return list(maximal(found)) if margins else found

    def _term(self) -> list[Cuboid]:
        """A, A:B (one cuboid), A*B (all of its non-empty subsets), or 1."""
        token = self._peek()
        if token.kind == "number" and token.text == "1":
            self._take()
            return [()]
        names, mark = [self._name()], None
        while self._peek().says(":", "*"):
            if mark not in (None, self._peek().text):
                raise WorkloadError("a term of the formula mixes * and :, write it out as a sum of terms")
            mark = self._take().text
            names.append(self._name())
        cuboid = self.domain.cuboid(names)
        return [part for part in _subsets(cuboid) if part] if mark == "*" else [cuboid]

    def _sql(self) -> list[tuple[Cuboid, Fraction]]:
        kind = self._take().text.upper()
        if kind == "GROUPING":
            self._expect("SETS")
            found = self._sets()
        else:
            self._expect("(")
            names = self._list(")")
            cuboid = self.domain.cuboid(names)
            if kind == "CUBE":
                found = _subsets(cuboid)
            else:
                found = [self.domain.cuboid(names[:k]) for k in range(len(names) + 1)]
        return [(cuboid, Fraction(1)) for cuboid in found]

    def _sets(self) -> list[Cuboid]:
        self._expect("(")
        found = []
        while True:
            if self._peek().says("("):
                self._take()
                found.append(self._names(")"))
            else:
                found.append(self.domain.cuboid([self._name()]))
            if self._peek().says(")"):
                self._take()
                return found
            self._expect(",")

    def _names(self, end: str) -> Cuboid:
        return self.domain.cuboid(self._list(end))

    def _list(self, end: str) -> list[str]:
        names = []
        while not self._peek().says(end):
            if self._peek().kind == "end":
                opening = {"]": "[", ")": "("}[end]
                raise WorkloadError(f"the wanted tables have a {opening} that is not closed: write {end} after its "
                                    "last attribute")  # fmt: skip
            names.append(self._name())
            if self._peek().says(","):
                self._take()
        self._take()
        return names

    def _name(self) -> str:
        token = self._take()
        if token.kind in ("mark", "end"):
            place = repr(token.text) if token.text else "the end"
            raise WorkloadError(f"the wanted tables lack an attribute's name before {place}; "
                                f"the schema has: {listed(self.domain.names)}")  # fmt: skip
        return token.text

    def _expect(self, text: str) -> None:
        token = self._take()
        if not token.says(text):
            got = f"{token.text!r}" if token.text else "the end"
            raise WorkloadError(f"the wanted tables have {got} where {text!r} is expected: write them like this, "
                                f"{_EXAMPLES}")  # fmt: skip

    def _peek(self, ahead: int = 0) -> Token:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else Token("end", "")

    def _take(self) -> Token:
        token = self._peek()
        self.place += 1
        return token

    def _refuse_what_comes_later(self) -> None:
        for token, following in zip(self.tokens, [*self.tokens[1:], Token("end", "")], strict=True):
            if (token.says(*_LATER) and following.says("(")) or token.says(">"):
                raise WorkloadError("prefix(...), ranges(...) and `state > county` are a later capability: ask for "
                                    f"tables of attributes, {_EXAMPLES}")  # fmt: skip


def _subsets(cuboid: Cuboid) -> list[Cuboid]:
    if len(cuboid) > MOST_ATTRIBUTES:
        raise WorkloadError(f"that asks for 2^{len(cuboid)} tables: name at most {MOST_ATTRIBUTES} attributes")
    return list(subsets(cuboid))
