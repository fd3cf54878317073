"""What smaller benchmarks cost, at the place where users import it from.

    kept = by_responses(train, 100)      # examples and their weights, from other models' responses
    scores = weighted(kept, responses)   # the score on all examples from these
    table = costs(train, test)           # what is lost: error, order, flips

Functions on response matrices, (rows, items): models, checkpoints or prompts by examples. Polo et al.,
*tinyBenchmarks: evaluating LLMs with fewer examples* (2024); Madaan et al., *Quantifying Variance in
Evaluation Benchmarks* (2024), Section 5.
"""

from abovechance.item_analysis.anchors import (
    Anchors,
    at_random,
    by_correlation,
    by_parameters,
    by_responses,
    stratified,
)
from abovechance.item_analysis.estimates import gp_irt, model_error, p_irt, share_of_weighted, weighted
from abovechance.item_analysis.series_rows import SeriesRows
from abovechance.item_analysis.smaller import costs, flips

__all__ = [
    "Anchors",
    "SeriesRows",
    "at_random",
    "by_correlation",
    "by_parameters",
    "by_responses",
    "costs",
    "flips",
    "gp_irt",
    "model_error",
    "p_irt",
    "share_of_weighted",
    "stratified",
    "weighted",
]
