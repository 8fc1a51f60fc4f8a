"""Plans: what to ask, how noisy, and the error that leaves. No room here ever sees data."""

from cuboid.planning.allocation import equal_shares, shares
from cuboid.planning.error_law import INTERVAL_RULE, CellError, ErrorLaw
from cuboid.planning.explain import counted, people
from cuboid.planning.plan import Plan, Rejected
from cuboid.planning.plan_file import digest, from_dict, to_dict
from cuboid.planning.prediction import parts, precision, query_variance, residual_scales
from cuboid.planning.protection import refuse_misfit

__all__ = [
    "INTERVAL_RULE",
    "CellError",
    "ErrorLaw",
    "Plan",
    "Rejected",
    "counted",
    "digest",
    "equal_shares",
    "from_dict",
    "parts",
    "people",
    "precision",
    "query_variance",
    "refuse_misfit",
    "residual_scales",
    "shares",
    "to_dict",
]
