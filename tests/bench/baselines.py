"""How exact and how fast the baselines are, beside mpmath and the package max-random-baseline."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from max_random_baseline import max_random_baseline

from abovechance import RandomBaseline
from abovechance.chance import poisson_binomial
from abovechance.core.files import write_text
from tests.exact import Exact


def accuracy() -> pd.DataFrame:
    """The greatest relative errors of pmf, tails and maxima, over chances and prompts."""
    rows = []
    for examples in (200, 10_000, 100_000):
        worst = {"pmf": 0.0, "tail": 0.0, "maximum": 0.0, "their maximum": 0.0}
        for chance in (0.5, 1 / 3, 0.2, 0.01, 0.9):
            exact, baseline = Exact(examples, chance), RandomBaseline.from_chance(chance, examples)
            places = [k for k in range(0, examples + 1, max(1, examples // 500)) if exact.pmf[k] > 1e-290]
            for k in places:
                worst["pmf"] = max(worst["pmf"], _error(baseline.pmf(k), exact.pmf[k]))
            for prompts in (1, 200, 10**6, 10**9):
                for k in places[:: max(1, len(places) // 40)]:
                    worst["tail"] = max(
                        worst["tail"], _error(baseline.tail(k, prompts), exact.tail(k, prompts))
                    )
                if examples <= 10_000 or prompts in (200, 10**9):
                    expected = exact.maximum(prompts)
                    worst["maximum"] = max(worst["maximum"], _error(baseline.maximum(prompts), expected))
                    if examples == 200:
                        theirs = max_random_baseline(examples, chance, prompts)
                        worst["their maximum"] = max(worst["their maximum"], _error(theirs, expected))
        rows.append({"examples": examples, **{name: f"{error:.0e}" for name, error in worst.items()}})
    return pd.DataFrame(rows)


def _error(result: float, exact: object) -> float:
    return abs(float((result - exact) / exact)) if exact else abs(result)


def speed() -> pd.DataFrame:
    """Seconds for one maximum baseline of 200 prompts, nothing remembered from before."""
    rows = []
    for examples, chances in ((200, 0.5), (10_000, 0.5), (10_000, {2: 5_000, 5: 5_000})):
        if isinstance(chances, dict):
            make = lambda chances=chances: RandomBaseline.from_choices(chances)  # noqa: E731
        else:
            make = lambda examples=examples: RandomBaseline.from_chance(0.5, examples)  # noqa: E731

        def with_library(make: Callable[[], RandomBaseline] = make) -> float:
            poisson_binomial._small.cache_clear()
            poisson_binomial._large.cache_clear()
            return make().maximum(200)

        ours = _seconds(with_library, 50)
        theirs = _seconds(
            lambda n=examples, c=chances: max_random_baseline(n, c, 200), 3 if examples == 200 else 1
        )
        rows.append(
            {
                "examples": examples,
                "chances": str(chances),
                "seconds": ours,
                "theirs": theirs,
                "times": theirs / ours,
            }
        )
    return pd.DataFrame(rows)


def _seconds(run: Callable[[], object], times: int) -> float:
    counts = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        counts.append(time.perf_counter() - begin)
    return float(np.median(counts))


def main() -> None:
    text = f"{accuracy().to_markdown(index=False)}\n\n{speed().to_markdown(index=False)}\n"
    from pathlib import Path

    write_text(text, Path("results/bench/baselines.md"))
    print(text)


if __name__ == "__main__":
    main()
