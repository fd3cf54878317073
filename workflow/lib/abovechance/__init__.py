"""Is a model's best in-context-learning score better than chance?

The method is that of Yauney and Mimno, *Stronger Random Baselines for
In-Context Learning* (COLM 2024).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abovechance.chance.baseline import RandomBaseline
    from abovechance.chance.best_of import BestOf
    from abovechance.chance.randomization import Answers, randomization_test
    from abovechance.chance.verdicts import Verdict
    from abovechance.shown.guessers import draw
    from abovechance.study.own_tasks import task_chances

__version__ = "0.1.0"
__all__ = ["Answers", "BestOf", "RandomBaseline", "Verdict", "draw", "randomization_test", "task_chances"]

_HOMES = {
    "Answers": "chance.randomization",
    "BestOf": "chance.best_of",
    "RandomBaseline": "chance.baseline",
    "Verdict": "chance.verdicts",
    "draw": "shown.guessers",
    "randomization_test": "chance.randomization",
    "task_chances": "study.own_tasks",
}


def __getattr__(name: str) -> Any:
    """Import on first use: a job that needs one module does not wait for all libraries."""
    if name in _HOMES:
        return getattr(import_module(f"abovechance.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'abovechance' has no attribute '{name}'")
