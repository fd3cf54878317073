"""How often the gate decides wrongly: by enumeration of all results of one prompt."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from abovechance.compare.gate import GateDifference
from abovechance.core.estimates import Spread

ALPHA = 0.05
SHARES = (
    0.002,
    0.01,
    0.03,
    0.1,
    0.2,
    0.4,
    0.6,
    0.8,
    0.9,
    0.95,
    1.0,
)  # of examples that differ, of equal models
GAINS = (0.0, 0.001, 0.005, 0.02, 0.1, 0.2, 0.3, 0.4)  # of worse models
MARGINS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
MOST = 200  # examples that differ; more are improbable if at most MOST_EXPECTED are expected
MOST_EXPECTED = 130


def lower_ends(
    examples: int, limit: int = MOST, alpha: float = ALPHA
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gains, losses and lower ends of the intervals of all results with up to so many differing examples."""
    rows = []
    for gains in range(min(examples, limit) + 1):
        for losses in range(min(examples, limit) + 1 - gains):
            value = (gains - losses) / examples
            variance = ((gains + losses) / examples - value**2) / (examples - 1)
            parts = gains / examples**2, losses / examples**2
            difference = GateDifference(value, Spread((variance,), (examples - 1,)), 1 / examples, *parts)
            rows.append((gains, losses, difference.low(alpha)))
    gains, losses, low = np.array(rows).T
    return gains, losses, low


def limit_of(examples: int) -> int:
    """The most examples that may be expected to differ."""
    return examples if examples <= MOST else MOST_EXPECTED


def largest_errors(examples: int, alpha: float = ALPHA) -> tuple[float, float]:
    """Return the largest probabilities of *better* for equal models, and of *not worse* for worse ones."""
    gains, losses, low = lower_ends(examples, alpha=alpha)
    counts = np.stack([gains, losses, examples - gains - losses], axis=1)

    def probability(gain: float, loss: float, least: float) -> float:
        """The probability of an interval above ``least``."""
        chances = stats.multinomial.pmf(counts, examples, [gain, loss, 1 - gain - loss])
        return float(chances[low > least].sum())

    better = [
        probability(share / 2, share / 2, 0.0) for share in SHARES if share * examples <= limit_of(examples)
    ]
    not_worse = [
        probability(gain, gain + margin, -margin)
        for gain in GAINS
        for margin in [*np.linspace(0.3, 12, 40) / examples, *MARGINS]
        if (2 * gain + margin) * examples <= limit_of(examples) and 2 * gain + margin <= 1
    ]
    return max(better), max(not_worse)


def wrong_decisions(_: int = 0) -> Iterator[dict[str, object]]:
    """Yield the page's rows."""
    for examples in (20, 50, 200, 1000):
        better, not_worse = largest_errors(examples)
        yield {
            "examples": examples,
            "*better*, of equal models": better,
            "*not worse*, of models that are worse by the margin": not_worse,
        }
