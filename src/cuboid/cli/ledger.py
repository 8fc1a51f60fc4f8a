"""`cuboid ledger`: open a dataset's budget, show what is left of it, check that nobody changed the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuboid.cli.options import AsJson, LedgerPath, printed
from cuboid.planning import counted
from cuboid.privacy import Relation, Unit, loss
from cuboid.privacy.ledger import Account, Ledger, Receipt, Spent
from cuboid.privacy.ledger.amount import remaining, shown, used

if TYPE_CHECKING:
    from fractions import Fraction

app = typer.Typer(no_args_is_help=True, help="The record of what was spent on each dataset, and of its budget.")

Epsilon = Annotated[str | None, typer.Option(help="The cap, as pure epsilon, or with --delta.")]


@app.command(name="open")
def open_(
    name: Annotated[str, typer.Argument(help="The dataset's name, as in its schema.")],
    *,
    epsilon: Epsilon = None,
    rho: Annotated[str | None, typer.Option(help="The cap, as rho of zero-concentrated privacy.")] = None,
    delta: Annotated[str | None, typer.Option(help="With --epsilon: the delta of the cap.")] = None,
    relation: Annotated[str, typer.Option(help="Neighbours: add-remove or replace.")] = "add-remove",
    max_rows: Annotated[int, typer.Option(help="How many rows one person may own.")] = 1,
    ledger: LedgerPath = None,
) -> None:
    """Give a dataset a budget, once and for good; what was spent on it before counts.

    Example: cuboid ledger open survey-2026 --epsilon 1 --delta 1e-9
    """
    unit = Unit(relation=Relation.of(relation), max_rows=max_rows)
    guarantee = loss(epsilon=epsilon, rho=rho, delta=delta)
    Ledger.at(ledger).open_account(name, loss=guarantee, unit=unit)
    print(f"{name} is open: {shown(guarantee.typed())}")


@app.command()
def show(
    name: Annotated[str | None, typer.Argument(help="A dataset; all of them if left out.")] = None,
    *,
    as_json: AsJson = False,
    ledger: LedgerPath = None,
) -> None:
    """Show each dataset's cap, what is spent and what is left; with a name, its entries too.

    Example: cuboid ledger show survey-2026 --json
    """
    book = Ledger.at(ledger)
    accounts = [book.account(own) for own in (book.names() if name is None else (name,))]
    if as_json:
        print(printed({"ledger": str(book.path), "datasets": [_plain(account) for account in accounts]}))
    else:
        if not accounts:
            print(f"the ledger {book.path} has no dataset yet: open one with `cuboid ledger open NAME --epsilon 1`")
            return
        _print_accounts(accounts)
        if name is not None:
            _print_entries(accounts[0])


@app.command()
def verify(
    name: Annotated[str | None, typer.Argument(help="A dataset; all of them if left out.")] = None,
    *,
    head: Annotated[str | None, typer.Option(help="A receipt's head, which must still be there.")] = None,
    sequence: Annotated[int | None, typer.Option(help="That receipt's sequence.")] = None,
    as_json: AsJson = False,
    ledger: LedgerPath = None,
) -> None:
    """Recompute the chain of entries; a changed, lost or reordered one is refused (exit code 3).

    Example: cuboid ledger verify survey-2026
    """
    book = Ledger.at(ledger)
    receipts = book.verify(name, head=head, sequence=sequence)
    if as_json:
        print(printed({"ledger": str(book.path), "datasets": [_tip(receipt) for receipt in receipts]}))
        return
    for receipt in receipts:
        print(f"{receipt.dataset}: {counted(receipt.sequence, 'entry')} in an unbroken chain, head {receipt.head}")
    print(f"the ledger {book.path} holds")


def _tip(receipt: Receipt) -> dict[str, Any]:
    return {"dataset": receipt.dataset, "sequence": receipt.sequence, "head": receipt.head}


def _amounts(account: Account) -> dict[str, Any]:
    """Cap, spent and left, as people type them."""
    if account.guarantee is None or account.spent is None or account.left is None:
        return {"cap": None, "spent": None, "left": None}
    return {
        "cap": account.guarantee,
        "spent": used(account.guarantee, account.spent),
        "left": remaining(account.guarantee, account.left),
    }


def _text(amount: Fraction | None) -> str | None:
    return None if amount is None else str(amount)


def _plain(account: Account) -> dict[str, Any]:
    """An account as JSON has it; `exact` holds rationals in the currency's own amounts."""
    return {
        "dataset": account.dataset,
        "currency": account.currency,
        **_amounts(account),
        "exact": {"cap": _text(account.cap), "spent": _text(account.spent), "left": _text(account.left)},
        "relation": account.relation,
        "max_rows": account.max_rows,
        "entries": [
            _tip(entry.receipt) | {"at": entry.at, "event": "open"}
            if not isinstance(entry.record, Spent)
            else _tip(entry.receipt) | {"at": entry.at, "event": "spend"} | _spend(entry.record)
            for entry in account.entries
        ],
    }


def _spend(spent: Spent) -> dict[str, Any]:
    request = spent.request
    return {
        "guarantee": request.guarantee,
        "mechanism": request.spend.mechanism,
        "amount": str(request.spend.amount),
        "charge": _text(spent.charge),
        "plan": request.plan,
        "folder": request.folder,
        "source": request.source,
        "disclosures": list(request.disclosures),
        "private": request.private,
        "release": request.release,
    }


def _print_accounts(accounts: list[Account]) -> None:
    rows = []
    for account in accounts:
        several = "" if account.max_rows in (None, 1) else f", {account.max_rows} rows"
        spends = sum(isinstance(entry.record, Spent) for entry in account.entries)
        rows.append([account.dataset, f"{account.relation or '-'}{several}", *_cells(account), str(spends)])
    _print(["dataset", "protects", "cap", "spent", "left", "spends"], rows)


def _print(header: list[str], rows: list[list[str]]) -> None:
    from cuboid.bundle import aligned

    print("\n".join(aligned(header, rows, [False] * len(header))))


def _cells(account: Account) -> tuple[str, str, str]:
    """Cap, spent and left; the delta, which is the same for all three, is said once."""
    amounts = _amounts(account)
    if amounts["cap"] is None:
        return "not opened", "uncapped", "-"
    spent, left = ({name: amounts[key][name] for name in amounts[key] if name != "delta"} for key in ("spent", "left"))
    return shown(amounts["cap"]), shown(spent), shown(left)


def _print_entries(account: Account) -> None:
    rows = []
    for entry in account.entries:
        record = entry.record
        if isinstance(record, Spent):
            request = record.request
            note = "; ".join([*(() if request.private else ("NOT PRIVATE",)), *request.disclosures])
            cells = [shown(request.guarantee), request.plan[:12], request.folder or "-", note]
        else:
            cells = [shown(record.guarantee), "-", "-", "opened"]
        rows.append([str(entry.sequence), f"{entry.at[:16]}Z", *cells])
    print()
    _print(["entry", "written", "guarantee", "plan", "folder", "note"], rows)
