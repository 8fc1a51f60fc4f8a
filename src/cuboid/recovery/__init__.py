"""From measurements to estimates. Post-processing: nothing here can reach rows."""

from cuboid.recovery.estimate import Estimate, Residuals, grouped
from cuboid.recovery.least_squares import recover

__all__ = ["Estimate", "Residuals", "grouped", "recover"]
