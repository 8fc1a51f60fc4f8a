"""Published and agreed figures of Gaussian accounting."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from cuboid.privacy.normal import epsilon_for, mu_squared_for

FIGURES = tomllib.loads((Path(__file__).parent / "gaussian_accounting.toml").read_text())


def half_a_digit(figure: str) -> Fraction:
    return Fraction(1, 2 * 10 ** len(figure.partition(".")[2]))


@pytest.mark.parametrize("row", FIGURES["budget"], ids=lambda row: f"{row['epsilon']}, {row['delta']}")
def test_budgets_are_worth_the_figure(row: dict[str, str]) -> None:
    """The exact mu^2 gives the rho of the table, more than any zCDP conversion."""
    rho = mu_squared_for(Fraction(row["epsilon"]), Fraction(row["delta"])) / 2
    assert abs(rho - Fraction(row["rho"])) <= half_a_digit(row["rho"])
    assert rho > Fraction(row["zcdp"])


@pytest.mark.parametrize("row", FIGURES["claim"], ids=lambda row: f"rho {row['rho']}")
def test_claims_of_gaussian_noise_are_the_figure(row: dict[str, str]) -> None:
    """The exact epsilon of a rho is that of the table."""
    epsilon = epsilon_for(2 * Fraction(row["rho"]), Fraction(row["delta"]))
    assert abs(epsilon - Fraction(row["epsilon"])) <= half_a_digit(row["epsilon"])
