"""Is a model's best in-context-learning score better than chance?

The method is that of Yauney and Mimno, *Stronger Random Baselines for
In-Context Learning* (COLM 2024).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abovechance.baseline import BestOf, RandomBaseline

__version__ = "0.1.0"
__all__ = ["BestOf", "RandomBaseline"]


def __getattr__(name: str) -> Any:
    """Import on first use: a job that needs one module does not wait for all libraries."""
    if name in __all__:
        return getattr(import_module("abovechance.baseline"), name)
    raise AttributeError(f"module 'abovechance' has no attribute '{name}'")
