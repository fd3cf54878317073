"""Response matrices of results: a row for each model, shots and prompt, a column for each example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.items.classical import ITEMS, item_statistics, reliability, rest_scores
from abovechance.items.features import EXAMPLE_FEATURES, associations
from abovechance.items.splits import ROWS_HELD_OUT, at_random, rest_and_best

FEWEST = 5  # rows, of which a correlation is said
ROW = ["model", "shots", "prompt"]
KNOWN = {name: EXAMPLE_FEATURES.columns[name] for name in ("answer", "subtask", "length", "choices")}
SHORT = {
    "models": Column.whole("number of models"),
    "rows": Column.whole("number of rows: combinations of model, number of shots and prompt"),
    "items": Column.whole("number of items (examples)"),
    "difficulty": Column.number("mean score over all rows and items; higher is easier"),
    "alpha": Column.number("Cronbach's alpha"),
    "constant": Column.whole("number of items on which all rows have the same score"),
    "negative": Column.whole(
        "number of items with negative corrected discrimination: better rows have lower scores on them"
    ),
    "discrimination": Column.number("mean corrected discrimination of items that are not constant"),
    "balanced": Column.number(
        "mean corrected discrimination if all gold labels have equal weight in the score on the other items"
    ),
    "halves": Column.number(
        "correlation over items between discrimination in one random half of the rows and in the other half"
    ),
    "best_and_rest": Column.number(
        "correlation over items between discrimination in the best fifth of the rows and in the other rows"
    ),
    "by_answer": Column.number(
        "share of the variance in corrected discrimination explained by the gold label (epsilon squared)"
    ),
}
LISTED = {
    "task": Column.text("name of the task"),
    "example": Column.text("id of the example"),
    **ITEMS,
    "balanced": Column.number(
        "like corrected, but all gold labels have equal weight in the score on the other items"
    ),
    "half": Column.number("like corrected, but computed on a random half of the rows"),
    "other_half": Column.number("like corrected, but computed on the other half of the rows"),
    "rest": Column.number("like corrected, but computed on the rows outside the best fifth"),
    "best": Column.number("like corrected, but computed on the best fifth of the rows"),
    **KNOWN,
}


class Matrix(NamedTuple):
    """The responses to one task.

    Attributes
    ----------
    task
        Which.
    rows
        ``model``, ``shots`` and ``prompt`` of each row.
    examples
        (items,) ids.
    scores
        (rows, items) missing where a row is not evaluated on an example.
    """

    task: str
    rows: pd.DataFrame
    examples: list[str]
    scores: Floats


def matrices(table: pd.DataFrame) -> Iterator[Matrix]:
    """Yield the response matrix of each task.

    Parameters
    ----------
    table
        ``model``, ``task``, ``shots``, ``prompt``, ``example`` and ``score``, a row for each.

    Raises
    ------
    InputError
        If an example stands twice for a model, number of shots and prompt, or one of these or its score is
        missing.
    """
    if (bare := table[[*ROW, "task", "example", "score"]].isna()).any(axis=None):
        row, column = np.argwhere(bare.to_numpy())[0]
        raise InputError(f"row {row + 1} of the responses has no '{bare.columns[column]}'")
    for task, rows in table.groupby("task", sort=False, observed=True):
        responses = rows.astype({"model": str, "prompt": str, "example": str, "score": float})
        if (twice := responses.duplicated([*ROW, "example"])).any():
            row = responses[twice].iloc[0]
            raise InputError(
                f"{task}: example '{row['example']}' stands twice for '{row['model']}', {row['shots']}-shot, "
                f"prompt {row['prompt']}; expected once"
            )
        # in one order, whatever the source's
        wide = responses.pivot_table(index=ROW, columns="example", values="score")
        yield Matrix(
            str(task), wide.index.to_frame(index=False), [*map(str, wide.columns)], wide.to_numpy(dtype=float)
        )


def items_of(matrix: Matrix, features: pd.DataFrame | None = None, seed: int = 0) -> pd.DataFrame:
    """The items of a task, the least discriminating first: the table ``item_list`` without a fitted model.

    Parameters
    ----------
    features
        The table ``features.EXAMPLE_FEATURES``, if features are known.

    Returns
    -------
    DataFrame
        The columns of ``LISTED``. ``balanced`` is missing of an item that is alone with its answer.
    """
    items = item_statistics(matrix.scores).assign(task=matrix.task, example=matrix.examples)
    halves: tuple[Sequence[int], ...] = ((), ())
    if len(matrix.scores) >= 2 * FEWEST:
        halves = tuple(map(list, at_random(len(matrix.scores), 0.5, seed)))
    for name, places in zip(("half", "other_half"), halves, strict=True):
        of_half = matrix.scores[[*places]]
        has_enough = np.isfinite(of_half).sum(axis=0) >= FEWEST
        items[name] = np.where(has_enough, discrimination(of_half), np.nan)
    items["rest"], items["best"] = in_the_best(matrix.scores)
    features_known = pd.DataFrame(columns=["example", *KNOWN]) if features is None else features
    items = items.merge(
        features_known[["example", *KNOWN]].astype({"example": str}), on="example", how="left"
    )
    items["balanced"] = np.nan
    answers = items["answer"].dropna()
    if answers.nunique() > 1 and answers.duplicated().any():
        of_answered = matrix.scores[:, answers.index]
        has_score = np.isfinite(of_answered).any(axis=1)
        balanced = item_statistics(of_answered[has_score], answers)["corrected"]
        items.loc[answers.index, "balanced"] = balanced.to_numpy()
    return items[[*LISTED]].sort_values(["constant", "corrected"], kind="stable", ignore_index=True)


def discrimination(scores: Floats) -> Floats:
    """(items,) corrected, of rows in which items may be missing; nan where it is constant there."""
    mask = np.isfinite(scores)
    correlations = np.full(scores.shape[1], np.nan)
    known_items = mask.any(axis=0)
    if known_items.any():
        item_scores = scores[:, known_items]
        statistics = item_statistics(item_scores[np.isfinite(item_scores).any(axis=1)])
        correlations[known_items] = np.where(statistics["constant"], np.nan, statistics["corrected"])
    return correlations


def in_the_best(scores: Floats) -> tuple[Floats, Floats]:
    """(items,) corrected discrimination in the rows that are not among the best fifth, and in these.

    Rows with equal scores on the rest are in the same part, so that part can be a little more or less.
    The best are those by the rest of the items: were they chosen by the item too, rows that have it wrong
    would have to be better on the rest to be among them, and all items would look worse than they are.
    """
    shares = np.full((2, scores.shape[1]), np.nan)
    if scores.shape[1] < 2:
        return shares[0], shares[1]
    rest_score = rest_scores(scores)
    for item in range(scores.shape[1]):
        rows = np.flatnonzero(np.isfinite(scores[:, item]) & np.isfinite(rest_score[:, item]))
        parts = rest_and_best(rest_score[rows, item], round(len(rows) * ROWS_HELD_OUT))
        for part, places in enumerate(rows[chosen] for chosen in parts):
            x, y = scores[places, item], rest_score[places, item]
            if len(places) >= FEWEST and np.ptp(x) > 0 and np.ptp(y) > 1e-12:
                shares[part, item] = np.corrcoef(x, y)[0, 1]
    return shares[0], shares[1]


def in_short(matrix: Matrix, listed: pd.DataFrame) -> dict[str, object]:
    """Summarize the items of a task: one row of a table.

    Parameters
    ----------
    listed
        The result of ``items_of``.

    Returns
    -------
    dict
        ``task``; how many ``models``, ``rows`` and ``items``; the mean ``difficulty``; Cronbach's ``alpha``;
        how many items are ``constant``, and how many of the others ``negative``, more often right in rows
        that are worse on the rest (half of them, if they had nothing to do with it); their mean corrected
        ``discrimination``, and the mean ``balanced`` one; Pearson's r of discrimination between random
        ``halves`` of the rows, and between the best fifth and the rest (``best_and_rest``); the share of its
        variance that is between right answers (``by_answer``: where that is large, rows differ in which
        answer they like, more than in how much they know).
    """
    varied = listed[~listed["constant"]]
    by_answer = associations(listed[["constant", "corrected", "answer"]])["share"]
    return {
        "task": matrix.task,
        "models": matrix.rows["model"].nunique(),
        "rows": matrix.scores.shape[0],
        "items": matrix.scores.shape[1],
        "difficulty": float(np.nanmean(matrix.scores)),
        "alpha": reliability(matrix.scores),
        "constant": int(listed["constant"].sum()),
        "negative": int((varied["corrected"] < 0).sum()),
        "discrimination": _mean(varied["corrected"]),
        "balanced": _mean(varied["balanced"]),
        "halves": _correlation(varied["half"], varied["other_half"]),
        "best_and_rest": _correlation(varied["rest"], varied["best"]),
        "by_answer": _mean(by_answer),
    }


def _mean(values: pd.Series[float]) -> float:
    return float(values.mean()) if len(values) else np.nan


def _correlation(first: pd.Series[float], second: pd.Series[float]) -> float:
    """Pearson's r of the items that have both."""
    paired = first.notna() & second.notna()
    if paired.sum() < 3 or min(np.ptp(side[paired]) for side in (first, second)) < 1e-9:
        return np.nan
    return float(np.corrcoef(first[paired], second[paired])[0, 1])
