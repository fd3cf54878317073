"""Which examples tell models apart, at the place where users import it from.

    table = item_statistics(matrix)      # difficulty and discrimination of each example
    curves = pruning(train, test)        # what is lost with those that tell least
    table = associations(table)          # what goes with discrimination

Functions on response matrices, (rows, items): models, checkpoints or prompts by examples; scores are 0 and 1,
or any numbers, nan where a row lacks an item. Madaan et al., *Quantifying Variance in Evaluation Benchmarks*
(2024), Section 4.
"""

from abovechance.item_analysis.classical import item_statistics, reliability, row_scores
from abovechance.item_analysis.features import associations
from abovechance.item_analysis.pruning import pruning
from abovechance.item_analysis.splits import at_random, by_group, by_score

__all__ = [
    "associations",
    "at_random",
    "by_group",
    "by_score",
    "item_statistics",
    "pruning",
    "reliability",
    "row_scores",
]
