"""Which tables somebody wants: weighted sets of cuboids in four spellings."""

from cuboid.workload.parser import named, parse
from cuboid.workload.spelling import brackets, in_short, spellings
from cuboid.workload.workload import Workload

__all__ = ["Workload", "brackets", "in_short", "named", "parse", "spellings"]
