"""Whether item response models find what responses were made from, and what adaptive evaluation takes.

python -m tests.bench.items                 # of make bench-baselines
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from threadpoolctl import threadpool_limits

from abovechance.core.estimates import ALPHA
from abovechance.core.files import write_text
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
    columns = {name: float(np.median(values)) for name, values in by_name.items() if "coverage" not in name}
    columns |= {name: float(np.mean(values)) for name, values in by_name.items() if "coverage" in name}
    return {"rows": rows, "items": items, "missing": f"{gaps:.0%}", "prior": "yes" if prior else "no"} | {
        name: columns[name] for name in by_name
    }


def fitted(generator: np.random.Generator) -> Items:
    a, b = generator.lognormal(0, 0.4, (EXAMPLES, 1)), generator.normal(0.3, 1.2, EXAMPLES)
    return Items(a, b, a * 0, b * 0, 0.0, 0, True)


def decisions(away: float, studies: int, is_known: bool) -> Iterator[dict[str, object]]:
    """Examples until it is decided whether a model is above the baseline, and how often that is wrong.

    Parameters
    ----------
    is_known
        Whether the items have the parameters that are believed, or those of other items.
    """
    generator = np.random.default_rng(1)
    counts: dict[str, list[tuple[int, bool, bool]]] = {way: [] for way in WAYS}
    for run in range(studies):
        items = fitted(generator)
        ability = np.interp(BASELINE + away, items.probability(ABILITIES).mean(axis=1), ABILITIES)
        correct = (generator.random(EXAMPLES) < items.probability([[ability]])[0]).astype(float)
        believed = items if is_known else items.only(generator.permutation(EXAMPLES))
        question = better_than(BASELINE, EXAMPLES)
        truth = question.answer(correct.sum())
        for way in WAYS:
            outcome = replay(begin(question, EXAMPLES, believed, way, ALPHA, run), correct)
            counts[way].append(
                (len(outcome.evaluated), outcome.decision != truth, outcome.decision == "above")
            )
    for way, rows in counts.items():
        examples, wrong, above = np.array(rows, dtype=float).T
        yield {
            "expected accuracy": f"{BASELINE + away:.2f}",
            "items": "as believed" if is_known else "others",
            "way": way,
            "examples": examples.mean(),
            "above": above.mean(),
            "wrong": wrong.mean(),
        }


def comparisons(away: float, studies: int) -> Iterator[dict[str, object]]:
    """The same of two models, on items with the parameters that are believed."""
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
    for way, rows in counts.items():
        examples, wrong = np.array(rows, dtype=float).T
        yield {
            "expected difference": f"{away:.2f}",
            "way": way,
            "examples": examples.mean(),
            "wrong": wrong.mean(),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200, help="simulated studies of each kind")
    parser.add_argument("--output", type=Path, default=Path("results/bench/items.md"))
    command = parser.parse_args()
    few = max(2, command.studies // 10)
    with threadpool_limits(1):
        tables = {
            f"Recovery, {few} studies each: medians of r and RMSE, mean coverage of 95 % intervals": [
                *(recovery(*size, few, prior=True) for size in SIZES),
                *(recovery(*size, few, prior=False) for size in SIZES if size[0] >= 400),
            ],
            f"Is a model above {BASELINE:g} on {EXAMPLES} examples? {command.studies} studies each": [
                row
                for is_known in (True, False)
                for away in AWAY
                for row in decisions(away, command.studies, is_known)
            ],
            f"Which of two models is better on {EXAMPLES} examples? {command.studies} studies each": [
                row for away in AWAY for row in comparisons(away, command.studies)
            ],
        }
    text = "\n\n".join(
        f"## {title}\n\n{pd.DataFrame(rows).to_markdown(index=False, floatfmt='.3f')}"
        for title, rows in tables.items()
    )
    write_text(text + "\n", command.output)
    print(text)


if __name__ == "__main__":
    main()
