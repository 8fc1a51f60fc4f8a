"""Who is protected, how much privacy a guarantee lets out, what queries cost, and the ledger of what was spent."""

from cuboid.privacy.loss import Approximate, Concentrated, Loss, Mechanism, Pure, Spend, loss
from cuboid.privacy.number import Number, exact, typed
from cuboid.privacy.sensitivity import Cost, Form, contrast_norm, gaussian_cost, laplace_cost
from cuboid.privacy.unit import Relation, Unit

__all__ = [
    "Approximate",
    "Concentrated",
    "Cost",
    "Form",
    "Loss",
    "Mechanism",
    "Number",
    "Pure",
    "Relation",
    "Spend",
    "Unit",
    "contrast_norm",
    "exact",
    "gaussian_cost",
    "laplace_cost",
    "loss",
    "typed",
]
