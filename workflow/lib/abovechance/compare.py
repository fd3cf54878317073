"""Whether one model is better than another, at the place where users import it from.

    found = compare(first, second)          # two models on the same examples
    table = ranks(paired(scores), names)    # many models

Functions on arrays; scores are 0 and 1, or any numbers.
"""

from abovechance.comparison.components import variance_components
from abovechance.comparison.many import Drawn, paired, pairs, ranks, together, unpaired
from abovechance.comparison.paired import Comparison, compare, exchanged, mcnemar
from abovechance.comparison.prompts import Interval, OverPrompts, over_prompts

__all__ = [
    "Comparison",
    "Drawn",
    "Interval",
    "OverPrompts",
    "compare",
    "exchanged",
    "mcnemar",
    "over_prompts",
    "paired",
    "pairs",
    "ranks",
    "together",
    "unpaired",
    "variance_components",
]
