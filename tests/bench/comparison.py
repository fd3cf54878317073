"""How often comparisons of two models are wrong, and how often they find true differences."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

from abovechance.compare import compare, exchanged, over_prompts, over_seeds, pairs, trained
from abovechance.compare.samples import Sample, prompted
from abovechance.compare.two_models import ScoreTest, difference_test
from abovechance.core.estimates import bootstrap_interval
from abovechance.core.resampling import cluster_sums

LEVEL = 0.05
# name: examples, their number in a cluster, how similarly hard they are for both models, the true difference
CASES = {
    "10 examples, correlated": (10, 1, 0.8, 0.0),
    "30 examples, correlated": (30, 1, 0.8, 0.0),
    "200 examples, correlated": (200, 1, 0.8, 0.0),
    "200 examples, both models give the same answer to nearly every example": (200, 1, 0.98, 0.0),
    "200 examples, independent": (200, 1, 0.0, 0.0),
    "200 examples in 40 clusters": (200, 5, 0.5, 0.0),
    "power: 200 examples, correlated, one model 8 points better": (200, 1, 0.8, 0.08),
    "power: 200 examples, independent, one model 8 points better": (200, 1, 0.0, 0.08),
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


def of_tests(studies: int) -> Iterator[dict[str, object]]:
    """How often each test says that models differ, and each interval excludes 0."""
    for name, (examples, size, similar, difference) in CASES.items():
        generator = np.random.default_rng(0)
        results = []
        for _ in range(studies):
            first, second, clusters = answers(generator, examples, size, similar, difference)
            pair, sums = compare(first, second, clusters), cluster_sums(first - second, clusters)[0]
            ends = bootstrap_interval(first - second, clusters, 0.95, 999, method="percentile")
            results.append(
                {
                    "`p`": pair.difference.p <= LEVEL,
                    "exact permutation test": exchanged(sums) <= LEVEL,
                    "bootstrap interval excludes 0": leaves_out(*ends),
                    "unpaired interval excludes 0": leaves_out(pair.unpaired.low, pair.unpaired.high),
                    "exact permutation test without clusters": exchanged(first - second) <= LEVEL
                    if size > 1
                    else np.nan,
                }
            )
        yield {"": name, **pd.DataFrame(results).mean()}


def intervals(_: int) -> Iterator[dict[str, object]]:
    """How often 95 % intervals for right and wrong answers miss the difference, over all possible answers."""
    for examples in (10, 20, 50, 100, 200):
        for share in (0.02, 0.05, 0.1, 0.3):
            for lean in (0.0, 0.5):  # the difference as a part of the share of answers that differ
                yield _missed(examples, share, lean * share)


def _missed(examples: int, share: float, delta: float) -> dict[str, object]:
    better, worse = np.meshgrid(np.arange(examples + 1), np.arange(examples + 1), indexing="ij")
    present = better + worse <= examples
    better, worse = better[present], worse[present]
    cells = [(share + delta) / 2, (share - delta) / 2, 1 - share]
    counts = np.column_stack([better, worse, examples - better - worse])
    weight = stats.multinomial.pmf(counts, examples, cells)
    likely = weight > 1e-7
    names = ("score (Tango)", "Bonett-Price", "exact conditional", "Student", "bootstrap")
    missed = dict.fromkeys(names, 0.0)
    for rows, first, second in zip(
        weight[likely], better[likely].tolist(), worse[likely].tolist(), strict=True
    ):
        for name, (low, high) in _intervals(first, second, examples).items():
            missed[name] += rows * (not low - 1e-9 <= delta <= high + 1e-9)
    return {"examples": examples, "differ": f"{share:g}", "difference": f"{delta:g}"} | missed


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


def best_prompts(studies: int) -> Iterator[dict[str, object]]:
    """How often the interval of best prompts misses the difference of the truly best ones."""
    for counts in ((20, 1), (20, 20)):
        for spread in (0.0, 0.03, 0.1):
            case = {"prompts": f"{counts[0]} and {counts[1]}", "spread": f"{spread:g}"}
            yield case | {
                f"{examples} examples": _best(counts, spread, examples, studies) for examples in (50, 200)
            }


def _best(counts: tuple[int, int], spread: float, examples: int, studies: int) -> float:
    generator, number = np.random.default_rng(0), max(counts)
    missed = []
    for _ in range(studies):
        truth = np.clip(0.6 + spread * generator.normal(size=(2, number)), 0.02, 0.98)
        for model, count in enumerate(counts):
            if count == 1:
                truth[model] = np.where(np.arange(number) == 0, 0.6, 0.3)
        hard = generator.normal(size=examples)
        drive = np.sqrt(0.6) * hard + np.sqrt(0.4) * generator.normal(size=(2, number, examples))
        scores = (drive < stats.norm.ppf(truth)[:, :, None]).astype(float)
        estimates, gap = over_prompts(*scores).best, truth[0].max() - truth[1].max()
        missed.append(not estimates.low <= gap <= estimates.high)
    return float(np.mean(missed))


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
        mean, population = np.mean(missed, axis=0)
        yield {
            "prompts": count,
            "interval for these prompts (`mean`)": mean,
            "interval for prompts like these (`population`)": population,
        }


def seeds(studies: int) -> Iterator[dict[str, object]]:
    """How often two models with several training seeds are said to differ; a seed moves scores by 4 %."""
    ways = ("`over_seeds`", "intervals for ranks", "p-value that ignores the variance over seeds")
    for counts in ((2, 2), (3, 3), (5, 5), (10, 5), (2, 10), (5, 1)):
        equal, better = (_seeds(counts, difference, studies) for difference in (0.0, 0.08))
        row: dict[str, object] = {"seeds": f"{counts[0]} and {counts[1]}"}
        for place, name in enumerate(ways):
            row[f"{name}, true difference 0"] = equal[place]
            if place < 2:
                row[f"{name}, 8 points"] = better[place]
        yield row


def _seeds(counts: tuple[int, int], difference: float, studies: int) -> np.ndarray:
    """Return how often three tests find a difference: over seeds, by ranks, and of means."""
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
        ranked = pairs(trained(models, draws=400), ["first", "second"])
        means = [model.mean(axis=0) for model in models]
        results.append(
            [
                over_seeds(*models).difference.p <= LEVEL,
                leaves_out(ranked["low"][0], ranked["high"][0]),
                compare(*means).difference.p <= LEVEL,
            ]
        )
    return np.mean(results, axis=0)


# models, examples, and the repeats of each model; how far the scores of the first vary over seeds
SEVERAL = [
    *((3, 10, "1 seed", 1), (6, 20, "1 seed", 1), (6, 200, "1 seed", 1)),
    *((3, 200, "2 seeds", 1), (6, 200, "3 seeds", 1), (6, 200, "5 seeds", 1)),
    *((6, 200, "2 seeds; those of one model vary six times as much", 6), (6, 100, "5 prompts", 1)),
    (6, 200, "5 prompts", 1),
]


def several_models(studies: int) -> Iterator[dict[str, object]]:
    """How often any two of several equally good models are said to differ."""
    for models, examples, repeats, factor in SEVERAL:
        generator = np.random.default_rng(0)
        results = []
        for _ in range(studies):
            scores = _equal(generator, models, examples, repeats, factor)
            is_of_prompts = repeats.endswith("prompts")
            sample: Sample = (prompted if is_of_prompts else trained)(scores, draws=1000)
            table = pairs(sample, [*"abcdef"[:models]])
            results.append([(table["low"] > 0).any(), (table["holm"] <= LEVEL).any()])
        intervals, holm = np.mean(results, axis=0)
        yield {
            "models": models,
            "examples": examples,
            "seeds or prompts per model": repeats,
            "simultaneous intervals (for ranks and groups)": intervals,
            "p-values with Holm's correction": holm,
        }


def _equal(
    generator: np.random.Generator, models: int, examples: int, repeats: str, factor: float
) -> np.ndarray:
    """(models, seeds or prompts, examples) answers of equally good models."""
    count = int(repeats.split()[0])
    hard = generator.normal(size=examples)
    scale = np.full((models, 1, 1), 0.15 * (count > 1))
    scale[0] *= factor
    of_repeat = generator.normal(size=(models, count, 1)) * scale
    drive = hard + of_repeat + generator.normal(size=(models, count, examples))
    return (drive < 0.36).astype(float)


SIZES = {
    "20 clusters of 2 examples": [2] * 20,
    "20 clusters, two of each size from 1 to 10": [*range(1, 11)] * 2,
    "95 clusters of 1 example, 5 of 20": [1] * 95 + [20] * 5,
    "30 clusters of 3 examples, one of 30": [3] * 30 + [30],
    "15 clusters of 4 examples, one of 40": [4] * 15 + [40],
    "18 clusters of 2 examples and 2 clusters of 30 examples": [2] * 18 + [30] * 2,
    "19 clusters of 1 example, one of 40": [1] * 19 + [40],
}


def unequal_clusters(studies: int) -> Iterator[dict[str, object]]:
    """How often equally good models are said to differ, if clusters have different sizes."""
    for name, sizes in SIZES.items():
        row: dict[str, object] = {"clusters (number and size)": name}
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
            rows, plain_share = np.mean(result, axis=0)
            row[f"correlation {similar}"] = f"{rows:.3f} ({plain_share:.3f})"
        yield row


# clusters that differ, all in one direction: few, and more; and a mix of directions
DIFFERING = {"3 %": (0.03, 0.0), "10 %": (0.1, 0.0), "10 % and 2 %": (0.1, 0.02), "20 % and 20 %": (0.2, 0.2)}


def intervals_in_clusters(studies: int) -> Iterator[dict[str, object]]:
    """How often 95 % intervals miss the difference, if models differ on whole clusters of any size."""
    sizes_of = {
        "60 clusters of 5 examples": [5] * 60,
        "180 clusters of 1 example, 20 of 5": [1] * 180 + [5] * 20,
        "180 clusters of 1 example, 20 of 15": [1] * 180 + [15] * 20,
        "200 clusters, log-normal": [
            max(1, int(np.exp(x))) for x in 1 + stats.norm.ppf(np.arange(0.5, 200) / 200)
        ],
    }
    for name, sizes in sizes_of.items():
        clusters, generator = np.repeat(np.arange(len(sizes)), sizes), np.random.default_rng(0)
        row: dict[str, object] = {"clusters (number and size)": name}
        for differ, (better, worse) in DIFFERING.items():
            result = []
            for _ in range(studies):
                signs = generator.choice([1, -1, 0], p=[better, worse, 1 - better - worse], size=len(sizes))
                by_example = np.repeat(signs, sizes)
                mean, test = difference_test((by_example > 0) * 1.0, (by_example < 0) * 1.0, clusters)
                if test.varies:
                    low, high = test.interval(1 - LEVEL)
                    truth = better - worse
                    result.append((not low <= truth <= high, not mean.low <= truth <= mean.high))
            missed, by_student = np.mean(result, axis=0)
            row[f"differ: {differ}"] = f"{missed:.3f} ({by_student:.3f})"
        yield row


def leaves_out(low: float, high: float) -> bool:
    """Whether an interval says that models differ; one that is missing does not."""
    return bool(low > 0 or high < 0)
