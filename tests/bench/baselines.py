"""How exact and how fast the baselines are, beside mpmath and the package max-random-baseline: page rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from max_random_baseline import max_random_baseline

from abovechance import RandomBaseline
from abovechance.chance import poisson_binomial
from tests.exact import Exact


def errors(_: int = 0) -> Iterator[dict[str, object]]:
    """Yield the largest relative errors of pmf, tails and maxima, over chances and prompts."""
    for examples in (200, 10_000, 100_000):
        worst = {"pmf": 0.0, "tail": 0.0, "maximum": 0.0, "maximum of max-random-baseline": 0.0}
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
                        worst["maximum of max-random-baseline"] = max(
                            worst["maximum of max-random-baseline"], _error(theirs, expected)
                        )
        if examples > 200:
            del worst["maximum of max-random-baseline"]
        yield {"examples": examples, **{name: f"{error:.0e}" for name, error in worst.items()}}


def _error(result: float, exact: object) -> float:
    return abs(float((result - exact) / exact)) if exact else abs(result)


def speed(repetitions: int = 5) -> Iterator[dict[str, object]]:
    """Yield seconds for one maximum baseline of 200 prompts, nothing remembered from before."""
    for examples, chances in ((200, 0.5), (10_000, 0.5), (10_000, {2: 5_000, 5: 5_000})):
        if isinstance(chances, dict):
            make = lambda chances=chances: RandomBaseline.from_choices(chances)  # noqa: E731
        else:
            make = lambda examples=examples: RandomBaseline.from_chance(0.5, examples)  # noqa: E731

        def with_library(make: Callable[[], RandomBaseline] = make) -> float:
            poisson_binomial._small.cache_clear()
            poisson_binomial._large.cache_clear()
            return make().maximum(200)

        ours = _seconds(with_library, 10 * repetitions)
        theirs = _seconds(
            lambda n=examples, c=chances: max_random_baseline(n, c, 200),
            repetitions if examples == 200 else 1,
        )
        yield {
            "examples": examples,
            "choices": "2 and 5" if isinstance(chances, dict) else "2",
            "seconds": f"{ours:.1e}",
            "seconds of max-random-baseline": f"{theirs:.1e}",
            "ratio": f"{theirs / ours:.0f}",
        }


def _seconds(run: Callable[[], object], times: int) -> float:
    counts = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        counts.append(time.perf_counter() - begin)
    return float(np.median(counts))
