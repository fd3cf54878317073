"""The random baselines, at the place where users import them from; see ``abovechance.chance.baseline``."""

from abovechance.chance.baseline import RandomBaseline
from abovechance.chance.best_of import BestOf

__all__ = ["BestOf", "RandomBaseline"]
