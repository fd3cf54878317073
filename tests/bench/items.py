"""Whether item response models find what responses were made from, and what adaptive evaluation takes.

`make validation` runs it.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from abovechance.core.estimates import ALPHA
from abovechance.items.adaptive import WAYS, begin, replay
from abovechance.items.questions import better_of_two, better_than
from abovechance.items.response_theory import Items, abilities, fit

NORMAL = 1.959964
# rows, items and the share of responses that are missing
SIZES = [(30, 50, 0.0), (100, 50, 0.0), (100, 50, 0.3), (400, 50, 0.0), (2000, 50, 0.0)]
EXAMPLES = 200
BASELINE = 0.4
AWAY = [0.0, 0.02, 0.05, 0.1, 0.2]  # of the expected accuracy from the baseline
ABILITIES = np.linspace(-6, 6, 121)


def simulated(generator: np.random.Generator, rows: int, items: int, gaps: float) -> tuple[np.ndarray, ...]:
    """Discriminations, difficulties, abilities and responses."""
    a, b = generator.lognormal(0, 0.4, items), generator.normal(0, 1.2, items)
    theta = generator.normal(size=rows)
    matrix = (generator.random((rows, items)) < expit(np.outer(theta, a) - b)).astype(float)
    matrix[generator.random(matrix.shape) < gaps] = np.nan
    return a, b, theta, matrix


def recovery(rows: int, items: int, gaps: float, studies: int, prior: bool) -> dict[str, object]:
    """How near estimates are to the truth, and how often 95 % intervals hold it."""
    generator = np.random.default_rng(0)
    by_name: dict[str, list[float]] = {}
    for _ in range(studies):
        a, b, theta, matrix = simulated(generator, rows, items, gaps)
        model = fit(matrix) if prior else fit(matrix, prior=None)
        estimated = abilities(model, matrix)
        for name, true, value, error in (
            ("a", a, model.discrimination[:, 0], model.discrimination_error[:, 0]),
            ("b", b, model.difficulty, model.difficulty_error),
            ("ability", theta, estimated["ability"].to_numpy(), estimated["error"].to_numpy()),
        ):
            present = np.isfinite(error)
            away = value[present] - true[present]
            by_name.setdefault(f"{name}: r", []).append(float(np.corrcoef(value, true)[0, 1]))
            by_name.setdefault(f"{name}: RMSE", []).append(float(np.sqrt((away**2).mean())))
            by_name.setdefault(f"{name}: coverage", []).append(
                float((np.abs(away) <= NORMAL * error[present]).mean())
            )
    means = {
        name: float(np.mean(values) if "coverage" in name else np.median(values))
        for name, values in by_name.items()
    }
    return {
        f"{name}: r, RMSE, coverage": f"{means[f'{name}: r']:.3f}, {means[f'{name}: RMSE']:.3f}, "
        f"{means[f'{name}: coverage']:.0%}".replace("%", " %")
        for name in ("a", "b", "ability")
    }


def recoveries(studies: int) -> Iterator[dict[str, object]]:
    """How near estimates are to the truth, by the number of rows, and without a prior."""
    for prior in (True, False):
        for rows, items, gaps in SIZES:
            if prior or (rows >= 400 and not gaps):
                name = f"{rows}" + (f" ({gaps:.0%} missing)".replace("%", " %") if gaps else "")
                case = {"rows (50 items each)": name, "prior": "yes" if prior else "no"}
                yield case | recovery(rows, items, gaps, studies, prior)


def fitted(generator: np.random.Generator) -> Items:
    a, b = generator.lognormal(0, 0.4, (EXAMPLES, 1)), generator.normal(0.3, 1.2, EXAMPLES)
    return Items(a, b, a * 0, b * 0, 0.0, 0, True)


def decisions(studies: int) -> Iterator[dict[str, object]]:
    """Examples until it is decided whether a model is above the baseline, and how often that is wrong."""
    for name, is_known in {"true parameters": True, "wrong parameters (those of other items)": False}.items():
        cells = {f"{BASELINE + away:.2f}".lstrip("0"): _decisions(away, studies, is_known) for away in AWAY}
        for way in WAYS:
            title = f"Is the accuracy on {EXAMPLES} examples above .40? Expected accuracy:"
            yield {title: f"{way}, {name}"} | {heading: cell[way] for heading, cell in cells.items()}


def _decisions(away: float, studies: int, is_known: bool) -> dict[str, str]:
    """Return for each way the mean number of examples, and the share of wrong decisions in brackets."""
    generator = np.random.default_rng(1)
    counts: dict[str, list[tuple[int, bool]]] = {way: [] for way in WAYS}
    for run in range(studies):
        items = fitted(generator)
        ability = np.interp(BASELINE + away, items.probability(ABILITIES).mean(axis=1), ABILITIES)
        correct = (generator.random(EXAMPLES) < items.probability([[ability]])[0]).astype(float)
        believed = items if is_known else items.only(generator.permutation(EXAMPLES))
        question = better_than(BASELINE, EXAMPLES)
        truth = question.answer(correct.sum())
        for way in WAYS:
            outcome = replay(begin(question, EXAMPLES, believed, way, ALPHA, run), correct)
            counts[way].append((len(outcome.evaluated), outcome.decision != truth))
    return _cells(counts)


def _cells(counts: dict[str, list[tuple[int, bool]]]) -> dict[str, str]:
    means = {way: np.mean(rows, axis=0) for way, rows in counts.items()}
    return {way: f"{examples:.0f} ({100 * wrong:.0f} %)" for way, (examples, wrong) in means.items()}


def comparisons(studies: int) -> Iterator[dict[str, object]]:
    """The same for which of two models is better."""
    cells = {f"{away:g}".replace("0.", "."): _comparisons(away, studies) for away in AWAY}
    for way in WAYS:
        title = "Which of two models is better? Expected difference:"
        yield {title: f"{way}, true parameters"} | {heading: cell[way] for heading, cell in cells.items()}


def _comparisons(away: float, studies: int) -> dict[str, str]:
    generator = np.random.default_rng(2)
    counts: dict[str, list[tuple[int, bool]]] = {way: [] for way in WAYS}
    for run in range(studies):
        items = fitted(generator)
        places = np.interp([0.5 + away, 0.5], items.probability(ABILITIES).mean(axis=1), ABILITIES)
        correct = (generator.random((2, EXAMPLES)) < items.probability(places)).astype(float)
        truth = better_of_two().answer(float((correct[0] - correct[1]).sum()))
        for way in WAYS:
            outcome = replay(begin(better_of_two(), EXAMPLES, items, way, ALPHA, run), *correct)
            counts[way].append((len(outcome.evaluated), outcome.decision != truth))
    return _cells(counts)
