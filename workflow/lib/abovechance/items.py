"""Which examples tell models apart, at the place where users import it from.

    table = item_statistics(matrix)      # difficulty and discrimination of each example
    curves = pruning(train, test)        # what is lost with those that tell least

Functions on response matrices, (rows, items): models, checkpoints or prompts by examples; scores are 0 and 1,
or any numbers, nan where a row lacks an item. Madaan et al., *Quantifying Variance in Evaluation Benchmarks*
(2024), Section 4.
"""

from abovechance.item_analysis.classical import item_statistics, reliability, row_scores
from abovechance.item_analysis.pruning import at_random, by_score, pruning

__all__ = ["at_random", "by_score", "item_statistics", "pruning", "reliability", "row_scores"]
