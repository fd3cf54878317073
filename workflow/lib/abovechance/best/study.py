"""How much of each setting's best accuracy is luck, for the verdicts of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from abovechance.best.candidates import Candidates
from abovechance.best.debiased import debiased_score
from abovechance.best.selection import selection_null
from abovechance.chance.best_prompt import SELECTED
from abovechance.core.columns import Column
from abovechance.core.resampling import clusters_of_names
from abovechance.core.settings import setting_of
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.results.response_matrix import ResponseMatrix

SELECTION = TableSchema(
    "selection",
    {**setting_columns(), **SELECTED},
    "One row per setting with at least two prompts.",
    file="selection/<model>.parquet",
)
LUCK = TableSchema(
    "luck",
    {
        **setting_columns(),
        "prompts": Column.whole("number of distinct prompts tried"),
        "examples": Column.whole("number of examples that the best prompt is evaluated on"),
        "best_accuracy": Column.share("accuracy of the best prompt"),
        **SELECTED,
    },
    "One row per setting with at least two prompts.",
)
DRAWS = 1_000  # random exchanges for each setting


def candidates_of(matrix: ResponseMatrix, shots: int, clusters: pd.Series[int] | None) -> Candidates:
    """Return the prompts of a setting as candidates, of which the best is that of the verdict.

    ``clusters`` are those of its task, if known.
    """
    scores = np.where(matrix.evaluated, matrix.correct.astype(np.float64), np.nan)
    codes = None if clusters is None else clusters_of_names(map(str, matrix.examples), clusters)
    comparable = not matrix.uneven(shots)
    return Candidates.from_scores(scores, matrix.prompts.tolist(), codes, comparable, matrix.chance)


def selected(
    settings: Iterable[pd.DataFrame], clusters: Mapping[str, pd.Series[int]], seed: int
) -> pd.DataFrame:
    """Return the table ``SELECTION``.

    Parameters
    ----------
    settings
        The predictions of one setting after another.
    clusters
        Those of ``clusters_of``, for tasks whose clusters are known.
    seed
        Decides, with the setting, exchanges and splits.
    """
    rows = []
    for predictions in settings:
        setting = setting_of(predictions)
        matrix = ResponseMatrix.from_predictions(predictions)
        if len(matrix.prompts) < 2:
            continue
        candidates = candidates_of(matrix, setting.shots, clusters.get(setting.task))
        null = selection_null(candidates, draws=DRAWS, seed=setting.seed(seed, "selection"))
        estimate = debiased_score(candidates, seed=setting.seed(seed, "halves"))
        rows.append(
            {
                **setting._asdict(),
                "expected_by_luck": null.expected,
                "selection_tail": null.p,
                "debiased_accuracy": estimate.value,
                "debiased_low": estimate.low,
                "debiased_high": estimate.high,
            }
        )
    return pd.DataFrame(rows, columns=[*SELECTION.columns])


def luck(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``LUCK`` of a table of verdicts: what luck explains of each best accuracy."""
    rows = verdicts[verdicts["expected_by_luck"].notna()]
    return rows[[*LUCK.columns]].reset_index(drop=True)
