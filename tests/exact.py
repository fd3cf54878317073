"""The baselines in 50 digits, term by term."""

from __future__ import annotations

from mpmath import mp, mpf


class Exact:
    """Tails and maxima of a binomial of ``examples`` examples and one chance, in mpmath numbers."""

    def __init__(self, examples: int, chance: float) -> None:
        self.examples = examples
        with mp.workdps(50):
            p, q = mpf(chance), 1 - mpf(chance)
            mode = min(int((examples + 1) * chance), examples)
            weights = [mpf(1)] * (examples + 1)
            for k in range(mode, examples):
                weights[k + 1] = weights[k] * (examples - k) * p / ((k + 1) * q)
            for k in range(mode, 0, -1):
                weights[k - 1] = weights[k] * k * q / ((examples - k + 1) * p)
            total = sum(weights)
            self.pmf = [weight / total for weight in weights]
            self.at_least = [mpf(0)] * (examples + 2)
            for k in range(examples, -1, -1):
                self.at_least[k] = self.at_least[k + 1] + self.pmf[k]

    def tail(self, correct: int, prompts: int) -> mpf:
        """Probability that the best of ``prompts`` guessers has at least ``correct`` correct."""
        with mp.workdps(50):
            above = self.at_least[correct]
            return mpf(1) if above >= 1 else -mp.expm1(prompts * mp.log1p(-above))

    def maximum(self, prompts: int) -> mpf:
        """The expected accuracy of the best of ``prompts`` guessers."""
        with mp.workdps(50):
            # beyond, tails are below 1e-40 of the sum, or above 1 - 1e-40
            spread = 40 * int((self.examples * 0.25) ** 0.5 + 1)
            mean = int(sum(k * float(p) for k, p in enumerate(self.pmf)))
            first, last = max(1, mean - spread), min(self.examples, mean + spread)
            total = mpf(first - 1) + sum(self.tail(k, prompts) for k in range(first, last + 1))
            return total / self.examples
