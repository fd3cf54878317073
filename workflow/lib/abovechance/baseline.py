"""The random baselines, at the place where users import them from; see ``abovechance.chance.baseline``."""

from abovechance.chance.baseline import BestOf, RandomBaseline

__all__ = ["BestOf", "RandomBaseline"]
