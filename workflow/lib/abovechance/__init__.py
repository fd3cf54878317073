"""Is a model's best in-context-learning score better than chance?

The method is that of Yauney and Mimno, *Stronger Random Baselines for
In-Context Learning* (COLM 2024).
"""

from abovechance.baseline import RandomBaseline, best_of

__version__ = "0.1.0"
__all__ = ["RandomBaseline", "best_of"]
