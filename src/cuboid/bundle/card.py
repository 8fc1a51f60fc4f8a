"""The card: what a reader of the release must know, in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cuboid.planning import counted, people
from cuboid.privacy import Mechanism, Pure, Relation, typed
from cuboid.workload import in_short

if TYPE_CHECKING:
    from cuboid.bundle.content import Content
    from cuboid.planning import Plan

NOT_PRIVATE = "NOT PRIVATE: the noise was drawn with a known seed, so anybody who knows it can subtract it"
_MOST_TABLES = 200


def statement(plan: Plan) -> dict[str, Any]:
    """The privacy statement as plain values."""
    cost = plan.cost()
    return {
        "guarantee": plan.loss.typed(),
        "mechanism": plan.mechanism.value,
        "spent": typed(plan.loss.spend.amount),
        "currency": "epsilon" if plan.mechanism is Mechanism.PURE else "mu^2",
        "relation": plan.unit.relation.value,
        "max_rows": plan.unit.max_rows,
        "sensitivity": cost.known,
        "disclosed": ["the number of rows, exactly"] if plan.unit.total_is_public else [],
        "listed_from_data": [a.name for a in plan.schema.domain.attributes if a.public],
    }


def card(content: Content) -> str:
    """The card as Markdown."""
    plan = content.plan
    parts = [f"# {_plain(plan.schema.name)}: tables under differential privacy"]
    if not content.private:
        parts.append(f"**{NOT_PRIVATE}.**")
    parts += [
        _section("Who is protected", _protected(plan)),
        _section("What was spent", _spent(content)),
        _section("What that means for one person", [odds(plan) if content.private else f"{NOT_PRIVATE}."]),
        _section("What is not protected", _unprotected(plan)),
        _section("How the numbers were made", _made(content)),
        _section("How far off each table is", _errors(plan)),
        _section("How to read the flags", [
            "- `ok`: half the width of the 95 % interval is at most half of the number.",
            "- `unreliable`: it is more than that; do not quote the number alone.",
            "- `exact`: public, without noise. `impossible`: ruled out by the schema; what is not 0 is noise.",
            "",
            "Flags are decided on the noisy numbers alone.",
        ]),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def odds(plan: Plan) -> str:
    """The guarantee as the odds of a guess about one person."""
    amount = float(plan.loss.spend.amount)
    if isinstance(plan.loss, Pure):
        chance = 1 / (1 + math.exp(-amount)) if amount < 700 else 1.0
    else:
        chance = 0.5 * (1 + math.erf(math.sqrt(amount) / 2 / math.sqrt(2)))
    question = (
        "is this person in the data, or not" if plan.unit.relation is Relation.ADD_REMOVE
        else "does this person's data say one thing, or another"
    )  # fmt: skip
    return (
        f"Suppose somebody knows everything about everyone else, and nothing decides between two stories about one "
        f"person ({question}). Without the release they guess right half of the time. With it, whatever they do, they "
        f"guess right at most {math.ceil(1000 * chance) / 10:.1f} % of the time."
    )


def _protected(plan: Plan) -> list[str]:
    rows = "row" if plan.unit.max_rows == 1 else f"up to {plan.unit.max_rows} rows"
    own = f"their {rows}" if plan.schema.count is None else "being counted"
    if plan.unit.relation is Relation.ADD_REMOVE:
        return [f"Each person: with or without {own}, the release looks nearly the same (neighbouring data: "
                "`add-remove`)."]  # fmt: skip
    return ["Each person: whatever else they had said, the release looks nearly the same (neighbouring data: "
            "`replace`). That a person is counted is not hidden."]  # fmt: skip


def _spent(content: Content) -> list[str]:
    plan = content.plan
    guarantee = ", ".join(f"{name} = {value}" for name, value in plan.loss.typed().items())
    lines = [f"{guarantee}."]
    if plan.mechanism is Mechanism.GAUSSIAN:
        mu = math.ceil(1e6 * math.sqrt(float(plan.loss.spend.amount))) / 1e6
        lines.append(f"All noise is Gaussian, so the exact guarantee is mu-Gaussian differential privacy, mu = {mu:g}.")
    lines.append(f"The sensitivity of all measurements together is {_known(plan)}.")
    lines.append(f"The ledger has it as entry {content.receipt.sequence} of `{_plain(content.receipt.dataset)}`.")
    return lines


def _known(plan: Plan) -> str:
    return {"exact": "known exactly", "bound": "bounded from above by proof"}[plan.cost().known]


def _unprotected(plan: Plan) -> list[str]:
    lines = ["- What holds for people in general: that a group is large, or that two things go together."]
    if plan.unit.total_is_public:
        lines.append("- The number of rows: it is published exactly.")
    lines.append("- The schema: names, categories, bins, impossible combinations and everything else in it is public.")
    listed = [attribute.name for attribute in plan.schema.domain.attributes if attribute.public]
    if listed:
        lines.append(f"- The categories of {_plain(', '.join(listed))}: they were listed from the data, and declared "
                     "public by whoever did so.")  # fmt: skip
    lines.append("- Other releases about the same people: their budgets add up (see the ledger).")
    lines.append("- The time that the computation took.")
    return lines


def _made(content: Content) -> list[str]:
    plan, source = content.plan, "system entropy" if content.private else "a known seed"
    noise = "discrete Laplace" if plan.mechanism is Mechanism.PURE else "Gaussian"
    asked = counted(len(plan.queries), "query")
    return [
        f"Strategy `{plan.strategy}`, `{plan.budget}` budget: {asked} with {noise} noise, "
        f"drawn exactly from {source}. All tables are the least-squares estimates from all measurements "
        "together, so they agree on every total they share. `raw` is unbiased and may be negative or fractional: it "
        "was not clipped. Values that the schema does not declare went where it says (`outside`), unreported.",
    ]


def _errors(plan: Plan) -> list[str]:
    domain = plan.schema.domain
    lines = [
        f"Wanted: {_plain(in_short(plan.workload))}.",
        "",
        "| table | cells | ± people, 95 % | sd |",
        "|---|---:|---:|---:|",
    ]
    shown = list(plan.predicted.items())[:_MOST_TABLES]
    lines += [
        f"| {_plain(' × '.join(domain.named(cuboid)) or 'total')} | {domain.cells(cuboid):,} | {people(error.half95)} "
        f"| {people(error.sd)} |"
        for cuboid, error in shown
    ]
    if len(plan.predicted) > len(shown):
        lines += ["", f"… and {len(plan.predicted) - len(shown)} more."]
    return lines


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"## {title}", "", *lines])


def _plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is."""
    for char in "\\`*_[]<>|#":
        text = text.replace(char, f"\\{char}" if char not in "<>" else {"<": "&lt;", ">": "&gt;"}[char])
    return "".join(char if char.isprintable() else " " for char in text)
