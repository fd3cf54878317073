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
from abovechance.compare.two_models import ScoreTest
from abovechance.core.estimates import bootstrap_interval, clustered_mean
from abovechance.core.files import write_text
from abovechance.core.resampling import cluster_sums

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
    generator: np.random.Generator, examples: int, size: int, similar: float, difference: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right and wrong answers of two models at 60 %, and the examples' clusters."""
    groups = np.repeat(np.arange(examples // size), size)
    shared, rows = (generator.normal(size=(2, examples // size))[:, groups] for _ in range(2))
    single = generator.normal(size=(2, examples))
    together = 0.7 * (size > 1)  # how much of what is hard is the cluster's
    common = np.sqrt(together) * shared[0] + np.sqrt(1 - together) * single[0]
    separate = np.sqrt(together) * rows + np.sqrt(1 - together) * generator.normal(size=(2, examples))
    drive = np.sqrt(similar) * common + np.sqrt(1 - similar) * separate
    bounds = stats.norm.ppf([0.6, 0.6 - difference])
    first, second = (drive < bounds[:, None]).astype(float)
    return first, second, groups


def measured(name: str, studies: int) -> dict[str, object]:
    """How often each test says that models differ, and each interval holds the truth."""
    examples, size, similar, difference = CASES[name]
    generator = np.random.default_rng(0)
    results = []
    for _ in range(studies):
        first, second, clusters = answers(generator, examples, size, similar, difference)
        pair, student = compare(first, second, clusters), clustered_mean(first - second, clusters)
        sums, _ = cluster_sums(first - second, clusters)
        ends = bootstrap_interval(first - second, clusters, 0.95, 999, method="percentile")
        results.append(
            {
                "p": pair.difference.p <= LEVEL,
                "exchanged": exchanged(sums) <= LEVEL,
                "Student": leaves_out(student.low, student.high),
                "bootstrap": leaves_out(*ends),
                "unpaired": leaves_out(pair.unpaired.low, pair.unpaired.high),
                "clusters ignored": exchanged(first - second) <= LEVEL,
            }
        )
    return {"case": name, **pd.DataFrame(results).mean().round(3).to_dict()}


def procedures() -> Iterator[dict[str, object]]:
    """How often 95 % intervals for right and wrong answers miss the difference, over all possible answers."""
    for examples in (10, 20, 50, 100, 200):
        for share in (0.02, 0.05, 0.1, 0.3):
            for lean in (0.0, 0.5):  # the difference as a part of the share of answers that differ
                yield _procedures(examples, share, lean * share)


def _procedures(examples: int, share: float, delta: float) -> dict[str, object]:
    better, worse = np.meshgrid(np.arange(examples + 1), np.arange(examples + 1), indexing="ij")
    present = better + worse <= examples
    better, worse = better[present], worse[present]
    cells = [(share + delta) / 2, (share - delta) / 2, 1 - share]
    counts = np.column_stack([better, worse, examples - better - worse])
    weight = stats.multinomial.pmf(counts, examples, cells)
    likely = weight > 1e-7
    missed = dict.fromkeys(
        ("score (Tango)", "Bonett-Price", "exact conditional", "Student", "bootstrap"), 0.0
    )
    for rows, first, second in zip(
        weight[likely], better[likely].tolist(), worse[likely].tolist(), strict=True
    ):
        for name, (low, high) in _intervals(first, second, examples).items():
            missed[name] += rows * (not low - 1e-9 <= delta <= high + 1e-9)
    case = {"examples": examples, "answers that differ": share, "difference": delta}
    return case | {name: round(float(value), 3) for name, value in missed.items()}


def _intervals(better: int, worse: int, examples: int) -> dict[str, tuple[float, float]]:
    """95 % intervals of the difference of two proportions of the same examples."""
    z, mean = stats.norm.isf(0.025), (better - worse) / examples
    first, second = (better + 1) / (examples + 2), (worse + 1) / (examples + 2)
    reach = z * np.sqrt((first + second - (first - second) ** 2) / (examples + 2))
    differ = better + worse
    share = stats.binomtest(better, differ).proportion_ci() if differ else (0.0, 1.0)
    conditional = [(2 * end - 1) * differ / examples for end in share]
    values = np.repeat([1.0, -1.0, 0.0], [better, worse, examples - differ])
    error = values.std(ddof=1) / np.sqrt(examples)
    student = stats.t.isf(0.025, examples - 1) * error
    sample = np.random.default_rng(0).multinomial(
        examples, [better / examples, worse / examples, 1 - differ / examples], 1000
    )
    low, high = np.quantile((sample[:, 0] - sample[:, 1]) / examples, [0.025, 0.975])
    return {
        "score (Tango)": ScoreTest(better, worse, examples).interval(0.95),
        "Bonett-Price": (first - second - reach, first - second + reach),
        "exact conditional": (conditional[0], conditional[1]),
        "Student": (mean - student, mean + student),
        "bootstrap": (float(low), float(high)),
    }


def best(studies: int) -> Iterator[dict[str, object]]:
    """How often the interval of best prompts misses the difference of the truly best ones."""
    for counts in ((20, 1), (20, 20), (3, 3)):
        for spread in (0.0, 0.03, 0.1):
            for examples in (50, 200):
                generator = np.random.default_rng(0)
                missed, none, width = [], [], []
                for _ in range(studies):
                    number = max(counts)
                    truth = np.clip(0.6 + spread * generator.normal(size=(2, number)), 0.02, 0.98)
                    for model, count in enumerate(counts):
                        if count == 1:
                            truth[model] = np.where(np.arange(number) == 0, 0.6, 0.3)
                    hard = generator.normal(size=examples)
                    drive = np.sqrt(0.6) * hard + np.sqrt(0.4) * generator.normal(size=(2, number, examples))
                    scores = (drive < stats.norm.ppf(truth)[:, :, None]).astype(float)
                    estimates, gap = over_prompts(*scores).best, truth[0].max() - truth[1].max()
                    missed.append(not estimates.low <= gap <= estimates.high)
                    none.append(leaves_out(estimates.low, estimates.high))
                    width.append(estimates.high - estimates.low)
                case = {"prompts": f"{counts[0]} and {counts[1]}", "spread": spread, "examples": examples}
                yield case | {"misses": np.mean(missed), "excludes 0": np.mean(none), "width": np.mean(width)}


def prompts(studies: int) -> Iterator[dict[str, object]]:
    """How often intervals over prompts leave out the truth, of two models that like other prompts."""
    for count in (2, 3, 5, 8, 24):
        generator = np.random.default_rng(0)
        missed = []
        for _ in range(studies):
            rows, hard = generator.normal(0, 0.4, (2, count, 1)), generator.normal(size=200)
            scores = (rows + hard + generator.normal(0, 0.5, (2, count, 200)) > 0).astype(float)
            pair = over_prompts(*scores)
            missed.append([leaves_out(value.low, value.high) for value in (pair.mean, pair.population)])
        mean, population = np.mean(missed, axis=0).round(3)
        yield {"prompts": count, "these prompts alone": mean, "prompts like these": population}


def seeds(studies: int) -> Iterator[dict[str, object]]:
    """How often two models with several training seeds are said to differ; a seed moves scores by 4 %."""
    for counts in ((2, 2), (3, 3), (5, 5), (10, 5), (5, 1)):
        for difference in (0.0, 0.08):
            generator = np.random.default_rng(0)
            bounds = stats.norm.ppf([0.6, 0.6 - difference]) * np.sqrt(2)
            results = []
            for _ in range(studies):
                hard = generator.normal(size=200)
                models = []
                for count, bound in zip(counts, bounds, strict=True):
                    of_seed = generator.normal(0, 0.15, (count, 1))
                    drive = hard + of_seed + generator.normal(size=(count, 200))
                    models.append((drive < bound).astype(float))
                means = [model.mean(axis=0) for model in models]
                ranked = pairs(trained(models, draws=400), ["first", "second"])
                results.append(
                    {
                        "over seeds": over_seeds(*models).difference.p <= LEVEL,
                        "ranks' intervals": leaves_out(ranked["low"][0], ranked["high"][0]),
                        "exchanged, these trainings alone": compare(*means).difference.p <= LEVEL,
                    }
                )
            case = {"seeds": f"{counts[0]} and {counts[1]}", "true difference": difference}
            yield case | pd.DataFrame(results).mean().round(3).to_dict()


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
        results = []
        for _ in range(studies):
            hard = generator.normal(size=examples)
            of_seed = generator.normal(0, 0.15 * (repeats > 1), (count, repeats, 1))
            drive = hard + of_seed + generator.normal(size=(count, repeats, examples))
            table = pairs(trained([*(drive < 0.36).astype(float)], draws=1000), [*"abcdef"[:count]])
            results.append(
                {
                    "intervals (ranks, groups)": (table["low"] > 0).any(),
                    "Holm": (table["holm"] <= LEVEL).any(),
                }
            )
        case = {"models": count, "examples": examples, "seeds": repeats}
        yield case | pd.DataFrame(results).mean().round(3).to_dict()


SIZES = {
    "20 of 2": [2] * 20,
    "two of each size from 1 to 10": [*range(1, 11)] * 2,
    "95 of 1, 5 of 20": [1] * 95 + [20] * 5,
    "30 of 3, one of 30": [3] * 30 + [30],
    "15 of 4, one of 40": [4] * 15 + [40],
    "18 of 2, two of 30": [2] * 18 + [30] * 2,
    "19 of 1, one of 40": [1] * 19 + [40],
}


def unequal_clusters(studies: int) -> Iterator[dict[str, object]]:
    """How often models that are alike are said to differ, if clusters have other sizes."""
    for name, sizes in SIZES.items():
        row: dict[str, object] = {"sizes of clusters": name}
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        for similar in (0, 0.3, 0.5):
            generator, result = np.random.default_rng(0), []
            for _ in range(studies):
                common = generator.normal(size=(2, len(sizes)))[:, clusters] * np.sqrt(similar)
                drive = common + generator.normal(size=(2, len(clusters))) * np.sqrt(1 - similar)
                first, second = (drive < 0.25).astype(float)
                sums = np.bincount(clusters, first - second - (first - second).mean())
                error = np.sqrt(len(sizes) / (len(sizes) - 1) * (sums**2).sum()) / len(clusters)
                plain = stats.t.isf(0.025, len(sizes) - 1) * error
                differs = abs((first - second).mean()) > plain
                result.append((compare(first, second, clusters).difference.p <= LEVEL, differs))
            rows, plain_share = np.mean(result, axis=0).round(3)
            row |= {f"p, correlation {similar}": rows, f"clusters - 1, correlation {similar}": plain_share}
        yield row


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
            "How often models that are alike are said to differ, with clusters of unequal size.",
            pd.DataFrame(list(unequal_clusters(options.studies // 4))).to_markdown(index=False),
            "How often 95 % intervals over prompts leave out the truth.",
            over.to_markdown(index=False),
            "How often 95 % intervals for two models under one prompt miss the difference (exact).",
            pd.DataFrame(list(procedures())).to_markdown(index=False),
            "How often the 95 % interval of best prompts misses the difference of the truly best ones.",
            pd.DataFrame(list(best(options.studies // 5))).to_markdown(index=False),
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
