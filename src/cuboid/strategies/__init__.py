"""Ways to ask: one file each, `auto` chooses among them by predicted error."""

from cuboid.strategies.auto import NAMES, STRATEGIES, plan
from cuboid.strategies.strategy import BUDGETS, Problem, Strategy

__all__ = ["BUDGETS", "NAMES", "STRATEGIES", "Problem", "Strategy", "plan"]
