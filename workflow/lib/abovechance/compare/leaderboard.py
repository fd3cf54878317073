"""Leaderboards: accuracies of models without their answers, which can be compared unpaired only."""

from __future__ import annotations

from itertools import combinations, product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.chance.random_baseline import MOST_EXAMPLES
from abovechance.chance.rounding import Correct, completed_digits, completion_note, decimals
from abovechance.compare.samples import DRAWS, Difference, Sample, of_pairs
from abovechance.core.arrays import Floats, check_same_order, floats
from abovechance.core.csv_table import SHARE, CsvTable, whole_number
from abovechance.core.errors import InputError
from abovechance.core.estimates import Spread
from abovechance.core.reading import heading
from abovechance.core.untrusted import printable
from abovechance.core.words import counted

NEEDED = ("model", "accuracy", "n")
FEW_ANSWERS = 20  # correct or wrong answers


def is_leaderboard(path: Path) -> bool:
    """Return whether a file is a CSV whose heading has ``model``, ``accuracy`` and ``n``."""
    return path.is_file() and path.suffix == ".csv" and {*NEEDED} <= set(heading(path))


def read_leaderboard(path: Path) -> pd.DataFrame:
    """A leaderboard, a CSV with the columns ``model``, ``accuracy``, ``n``, and ``task`` if it has several.

    Returns
    -------
    DataFrame
        ``model``, ``task``, ``accuracy`` in [0, 1], ``n`` examples, ``lowest`` and ``highest`` number of
        correct answers that round to the accuracy, and a ``note`` if there is none, else an empty text. Other
        columns are left out.

    Raises
    ------
    InputError
        With row and column of what is wrong, or where a model stands twice in a task.
    """
    csv = CsvTable.read(path)
    texts = csv.texts
    accuracies, sizes = csv.values("accuracy", SHARE), csv.values("n", whole_number(1, MOST_EXAMPLES))
    written = [decimals(text) for text in texts["accuracy"]]
    groups = texts.reindex(columns=["task", "source"], fill_value="").itertuples(index=False)
    digits = completed_digits(accuracies, sizes, written, list(groups))
    rows = []
    for place, row, accuracy, examples, number in zip(
        texts.index, texts.to_dict("records"), accuracies, sizes, digits, strict=True
    ):
        task = printable(row["task"].strip() if "task" in texts else path.stem)
        model = printable(row["model"].strip())
        note = ""
        try:
            correct = Correct.from_accuracy(row["accuracy"], examples, number)
        except ValueError as error:
            raise InputError(f"{path}, row {place}: {error}") from None
        if not correct.exact:
            numbers = counted(correct.nearest, "correct answer")
            if correct.lowest < correct.highest:
                numbers = f"{correct.lowest} or {numbers}"
            note = (
                f"{path}, row {place}: no number of correct answers out of {examples} gives '{model}' an "
                f"accuracy of {row['accuracy'].strip()}; {numbers} assumed"
            )
        rows.append(
            {"model": model, "task": task, "accuracy": accuracy, "n": examples}
            | {"lowest": correct.lowest, "highest": correct.highest, "note": note}
        )
    table = pd.DataFrame(rows, index=texts.index)
    if note := completion_note(accuracies, sizes, written, digits):
        table.loc[table.index[0], "note"] = "; ".join(filter(None, [table["note"].iloc[0], note]))
    twice = table.duplicated(["model", "task"]).to_numpy()
    if twice.any():
        place = int(twice.argmax())
        raise InputError(
            f"{path}, row {texts.index[place]}: '{rows[place]['model']}' occurs twice for the task "
            f"'{rows[place]['task']}'; expected one row"
        )
    return table.reset_index(drop=True)


def unpaired(
    accuracies: ArrayLike,
    examples: ArrayLike,
    draws: int = DRAWS,
    seed: int = 0,
    correct_range: ArrayLike | None = None,
) -> Sample:
    """Compare models by their accuracies only, as if each model had answered different examples.

    Intervals and p-values add one correct and one wrong answer to each model (Agresti and Caffo, 2000). The
    p-value is at least that of the score test, which is larger for large differences on few examples, and an
    interval contains 0 unless the p-value is small enough. If accuracies are rounded, both hold for all
    numbers of correct answers that round to them: the p-value is that of the smallest difference, and the
    interval contains those of all differences.

    Parameters
    ----------
    accuracies
        (models,) in [0, 1].
    examples
        (models,) or one number, on how many.
    correct_range
        (models, 2) the lowest and the highest number of correct answers that round to each accuracy; the
        nearest number without it.
    """
    check_same_order(accuracies, examples)
    values, count = floats(accuracies), floats(examples)
    count = np.broadcast_to(count, values.shape)
    if not ((values >= 0) & (values <= 1)).all() or not (count >= 1).all():
        raise InputError("expected accuracies in [0, 1], and at least 1 example for each")
    nearest = np.floor(values * count + 0.5)
    limits = np.stack([nearest, nearest], axis=1) if correct_range is None else np.asarray(correct_range)
    # that all of a few were right does not say that all are
    correct = np.random.default_rng([seed, 2]).integers(limits[:, 0], limits[:, 1] + 1, (draws, len(values)))
    sampled = np.random.default_rng(seed).beta(correct + 1, count - correct + 1)
    centre, variance = _centre(nearest, count)
    ends = [_ends(int(low), int(high), int(size)) for (low, high), size in zip(limits, count, strict=True)]

    def compared(first: int, second: int) -> Difference:
        sizes = float(count[first]), float(count[second])
        ahead = nearest[first] / sizes[0] >= nearest[second] / sizes[1]
        closest = float(limits[first, 0 if ahead else 1]), float(limits[second, 1 if ahead else 0])
        shares = closest[0] / sizes[0], closest[1] / sizes[1]
        p = _tail(closest, sizes) if (shares[0] > shares[1]) == ahead and shares[0] != shares[1] else 1.0
        spread = Spread((float(variance[first] + variance[second]),), (np.inf,))
        value, middle = float(values[first] - values[second]), float(centre[first] - centre[second])
        possible: tuple[tuple[float, float], ...] = ()
        if len(ends[first]) + len(ends[second]) > 2:
            possible = tuple((a - b, v + w) for (a, v), (b, w) in product(ends[first], ends[second]))
        return Difference(value, middle, spread, p, limit=1.0, possible=possible)

    return Sample(
        values,
        sampled,
        of_pairs(compared, len(values)),
        np.zeros((len(values), 0)),
        np.zeros(0),
        largest=_largest_of_counts(centre, count, draws, seed),
    )


def _tail(correct: tuple[float, float], sizes: tuple[float, float]) -> float:
    """Return the p-value if so many answers of two models are correct."""
    (first, first_variance), (second, second_variance) = (
        _centre(number, size) for number, size in zip(correct, sizes, strict=True)
    )
    p = Spread((first_variance + second_variance,), (np.inf,)).p(first - second)
    pooled = sum(correct) / sum(sizes)
    if_equal = pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1])
    if if_equal <= 0:
        return 1.0
    difference = abs(correct[0] / sizes[0] - correct[1] / sizes[1])
    return max(p, float(2 * stats.norm.sf(difference / sqrt(if_equal))))


def _centre(correct: Any, size: Any) -> tuple[Any, Any]:
    """Return a score with one more correct and one more wrong answer, and its variance."""
    centre = (correct + 1) / (size + 2)
    return centre, centre * (1 - centre) / (size + 2)


def _ends(lowest: int, highest: int, size: int) -> list[tuple[float, float]]:
    """Return the scores and variances of the numbers of correct answers that can be an end of an interval.

    The ends of an interval follow the number of correct answers, but if almost none or almost all are
    correct.
    """
    numbers = {lowest, highest, *range(lowest, min(highest, FEW_ANSWERS) + 1)}
    numbers |= {*range(max(lowest, size - FEW_ANSWERS), highest + 1)}
    return [_centre(number, size) for number in sorted(numbers)]


def _largest_of_counts(centre: Floats, count: Floats, draws: int, seed: int) -> Floats:
    """(draws,) see ``Sample.largest``: numbers of correct answers are drawn, errors computed from them."""
    generator = np.random.default_rng([seed, 1])
    correct = generator.binomial(count.astype(np.int64), centre, (draws, len(centre)))
    drawn_centre, variance = _centre(correct, count)
    deviations = drawn_centre - (count * centre + 1) / (count + 2)
    result = np.zeros(draws)
    for first, second in combinations(range(len(centre)), 2):
        error = np.sqrt(variance[:, first] + variance[:, second])
        np.maximum(result, np.abs(deviations[:, first] - deviations[:, second]) / error, out=result)
    return result
