"""How often comparisons of two models are wrong, and how often they find what is there.

python -m tests.bench.comparison            # of make bench-baselines
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from abovechance.compare import compare, exchanged, over_prompts, over_seeds, pairs, trained
from abovechance.core.files import write_text

LEVEL = 0.05
# name: examples, how many stand together, how alike models are in what is hard, the true difference
CASES = {
    "10 examples, alike": (10, 1, 0.8, 0.0),
    "30 examples, alike": (30, 1, 0.8, 0.0),
    "200 examples, alike": (200, 1, 0.8, 0.0),
    "200 examples, nearly equal models (ties)": (200, 1, 0.98, 0.0),
    "200 examples, unlike": (200, 1, 0.0, 0.0),
    "200 examples in 40 clusters": (200, 5, 0.5, 0.0),
    "200 examples, alike, 8 points": (200, 1, 0.8, 0.08),
    "200 examples, unlike, 8 points": (200, 1, 0.0, 0.08),
}


def answers(
    generator: np.random.Generator, examples: int, size: int, alike: float, difference: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right and wrong answers of two models at 60 %, and the examples' clusters."""
    groups = np.repeat(np.arange(examples // size), size)
    shared, own = (generator.normal(size=(2, examples // size))[:, groups] for _ in range(2))
    single = generator.normal(size=(2, examples))
    together = 0.7 * (size > 1)  # how much of what is hard is the cluster's
    common = np.sqrt(together) * shared[0] + np.sqrt(1 - together) * single[0]
    apart = np.sqrt(together) * own + np.sqrt(1 - together) * generator.normal(size=(2, examples))
    drive = np.sqrt(alike) * common + np.sqrt(1 - alike) * apart
    bounds = stats.norm.ppf([0.6, 0.6 - difference])
    first, second = (drive < bounds[:, None]).astype(float)
    return first, second, groups


def measured(name: str, studies: int) -> dict[str, object]:
    """How often each test says that models differ, and each interval holds the truth."""
    examples, size, alike, difference = CASES[name]
    generator = np.random.default_rng(0)
    found = []
    for _ in range(studies):
        first, second, clusters = answers(generator, examples, size, alike, difference)
        pair = compare(first, second, clusters, resamples=999)
        found.append(
            {
                "exchanged": pair.p <= LEVEL,
                "Student": leaves_out(pair.t_low, pair.t_high),
                "bootstrap": leaves_out(pair.low, pair.high),
                "unpaired": leaves_out(pair.unpaired_low, pair.unpaired_high),
                "clusters ignored": exchanged(first - second) <= LEVEL,
            }
        )
    return {"case": name, **pd.DataFrame(found).mean().round(3).to_dict()}


def prompts(studies: int) -> Iterator[dict[str, object]]:
    """How often intervals over prompts leave out the truth, of two models that like other prompts."""
    for count in (3, 8, 24):
        generator = np.random.default_rng(0)
        missed = []
        for _ in range(studies):
            own, hard = generator.normal(0, 0.4, (2, count, 1)), generator.normal(size=200)
            scores = (own + hard + generator.normal(0, 0.5, (2, count, 200)) > 0).astype(float)
            pair = over_prompts(*scores, draws=400)
            missed.append([leaves_out(one.low, one.high) for one in (pair.mean, pair.population)])
        mean, population = np.mean(missed, axis=0).round(3)
        yield {"prompts": count, "these prompts alone": mean, "prompts like these": population}


def seeds(studies: int) -> Iterator[dict[str, object]]:
    """How often two models with several training seeds are said to differ; a seed moves scores by 4 %."""
    for counts in ((2, 2), (3, 3), (5, 5), (10, 5), (5, 1)):
        for difference in (0.0, 0.08):
            generator = np.random.default_rng(0)
            bounds = stats.norm.ppf([0.6, 0.6 - difference]) * np.sqrt(2)
            found = []
            for _ in range(studies):
                hard = generator.normal(size=200)
                models = []
                for count, bound in zip(counts, bounds, strict=True):
                    of_seed = generator.normal(0, 0.15, (count, 1))
                    drive = hard + of_seed + generator.normal(size=(count, 200))
                    models.append((drive < bound).astype(float))
                means = [model.mean(axis=0) for model in models]
                ranked = pairs(trained(models, draws=400), ["first", "second"])
                found.append(
                    {
                        "over seeds": over_seeds(*models).p <= LEVEL,
                        "ranks' intervals": leaves_out(ranked["low"][0], ranked["high"][0]),
                        "exchanged, these trainings alone": compare(*means, resamples=400).p <= LEVEL,
                    }
                )
            case = {"seeds": f"{counts[0]} and {counts[1]}", "true difference": difference}
            yield case | pd.DataFrame(found).mean().round(3).to_dict()


def several_models(studies: int) -> Iterator[dict[str, object]]:
    """How often any two of several models that are alike are told apart."""
    for count, examples, repeats in (
        (3, 10, 1),
        (6, 20, 1),
        (6, 200, 1),
        (3, 200, 2),
        (6, 200, 3),
        (6, 200, 5),
    ):
        generator = np.random.default_rng(0)
        found = []
        for _ in range(studies):
            hard = generator.normal(size=examples)
            of_seed = generator.normal(0, 0.15 * (repeats > 1), (count, repeats, 1))
            drive = hard + of_seed + generator.normal(size=(count, repeats, examples))
            table = pairs(trained([*(drive < 0.36).astype(float)], draws=1000), [*"abcdef"[:count]])
            found.append(
                {
                    "intervals (ranks, groups)": (table["low"] > 0).any(),
                    "Holm": (table["holm"] <= LEVEL).any(),
                }
            )
        case = {"models": count, "examples": examples, "seeds": repeats}
        yield case | pd.DataFrame(found).mean().round(3).to_dict()


def leaves_out(low: float, high: float) -> bool:
    """Whether an interval says that models differ; one that is missing does not."""
    return bool(low > 0 or high < 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--output", type=Path, default=Path("results/bench/comparison.md"))
    options = parser.parse_args()
    cases = pd.DataFrame([measured(name, options.studies) for name in CASES])
    over = pd.DataFrame(list(prompts(options.studies // 4)))
    text = "\n\n".join(
        [
            "How often models are said to differ, at 0.05. Where they do not, at most 0.05 is right.",
            cases.to_markdown(index=False),
            "How often 95 % intervals over prompts leave out the truth.",
            over.to_markdown(index=False),
            "How often models with several training seeds are said to differ, at 0.05.",
            pd.DataFrame(list(seeds(options.studies // 4))).to_markdown(index=False),
            "How often any two of several models that are alike are told apart, at 0.05.",
            pd.DataFrame(list(several_models(options.studies // 4))).to_markdown(index=False),
        ]
    )
    print(text)
    write_text(text + "\n", options.output)


if __name__ == "__main__":
    main()
