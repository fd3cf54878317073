"""How much a score varies, at the place where users import it from.

Functions on arrays of (seeds, checkpoints). The measures are those of Madaan et al., *Quantifying Variance in
Evaluation Benchmarks* (2024).
"""

from abovechance.series.answers import continuous
from abovechance.series.measures import (
    analytic_error,
    bootstrap_interval,
    final,
    leaves_chance,
    monotonicity,
    rank_correlation,
    seed_deviation,
    seed_mean,
    signal_to_noise,
)

__all__ = [
    "analytic_error",
    "bootstrap_interval",
    "continuous",
    "final",
    "leaves_chance",
    "monotonicity",
    "rank_correlation",
    "seed_deviation",
    "seed_mean",
    "signal_to_noise",
]
