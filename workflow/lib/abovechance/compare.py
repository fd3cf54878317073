"""Whether one model is better than another, at the place where users import it from.

    found = compare(first, second)          # two models on the same examples
    table = ranks(paired(scores), names)    # many models
    table = ranks(trained(seeds), names)    # many models, with several training seeds each

Functions on arrays; scores are 0 and 1, or any numbers.
"""

from abovechance.comparison.components import variance_components
from abovechance.comparison.many import Drawn, flips, paired, pairs, ranks, together, trained, unpaired
from abovechance.comparison.paired import Comparison, compare, exchanged, mcnemar
from abovechance.comparison.prompts import Interval, OverPrompts, over_prompts
from abovechance.comparison.seeds import OverSeeds, over_seeds

__all__ = [
    "Comparison",
    "Drawn",
    "Interval",
    "OverPrompts",
    "OverSeeds",
    "compare",
    "exchanged",
    "flips",
    "mcnemar",
    "over_prompts",
    "over_seeds",
    "paired",
    "pairs",
    "ranks",
    "together",
    "trained",
    "unpaired",
    "variance_components",
]
