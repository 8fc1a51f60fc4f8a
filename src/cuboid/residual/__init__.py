"""The one algebra: tables split into residuals, one for each subset of their attributes, and joined again."""

from cuboid.residual.contrast import contrasts, residuals, squared_lengths
from cuboid.residual.split import Axes, join, split

__all__ = ["Axes", "contrasts", "join", "residuals", "split", "squared_lengths"]
