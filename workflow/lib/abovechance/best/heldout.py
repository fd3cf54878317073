"""Does the debiased accuracy of the chosen prompt predict its accuracy on held-out examples?"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import hypot, inf, sqrt

import numpy as np
import pandas as pd

from abovechance.best.candidates import Candidates
from abovechance.best.debiased import debiased_score
from abovechance.best.study import candidates_of
from abovechance.core.arrays import Bools, Ints
from abovechance.core.columns import Column
from abovechance.core.estimates import CONFIDENCE
from abovechance.core.resampling import of_share
from abovechance.core.settings import Setting, setting_of
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.results.response_matrix import ResponseMatrix

DEBIASED = TableSchema(
    "debiased",
    {
        **setting_columns(),
        "split": Column.whole("number of the split, from 0"),
        "requested_prompts": Column.whole("requested number of prompts to choose from"),
        "prompts": Column.whole("actual number of prompts to choose from"),
        "validation_examples": Column.whole(
            "number of validation examples on which the chosen prompt is evaluated"
        ),
        "validation_accuracy": Column.share("accuracy of the chosen prompt on the validation split"),
        "debiased_accuracy": Column.share("estimate of its true accuracy from the validation split"),
        "debiased_low": Column.share("lower end of the 95 % interval, from the validation split"),
        "debiased_high": Column.share("upper end of this interval"),
        "test_examples": Column.whole("number of test examples on which the chosen prompt is evaluated"),
        "test_accuracy": Column.share("accuracy of the chosen prompt on the test split"),
    },
    "One row per setting, split and number of prompts.",
    file="heldout/debiased/<model>.parquet",
)
HELDOUT_DEBIASED = TableSchema(
    "heldout_debiased",
    {
        "requested_prompts": Column.whole("requested number of prompts to choose from"),
        "validation_examples": Column.text(
            "number of validation examples: 'all', or the settings with up to 50, 51 to 100 or above 100"
        ),
        "outcomes": Column.whole("number of outcomes: one per setting and split"),
        "validation_error": Column.number("mean of validation accuracy minus test accuracy"),
        "debiased_error": Column.number("mean of debiased accuracy minus test accuracy"),
        "validation_distance": Column.number(
            "root mean square over settings of the mean error of the validation accuracy in a setting"
        ),
        "debiased_distance": Column.number("the same for the debiased accuracy"),
        "coverage": Column.share(
            "share of outcomes whose test accuracy is inside the interval, after widening the interval by "
            "the sampling error of the test accuracy"
        ),
    },
    "One row per number of prompts and, if settings differ in this respect, number of validation examples. "
    "Only settings with as many prompts are used.",
)
SPLITS = 20  # held-out splits; each has many splits into halves inside
HALVES = 50
SIZES = [0, 50, 100, inf]  # numbers of validation examples


def heldout_estimates(
    settings: Iterable[pd.DataFrame],
    clusters: Mapping[str, pd.Series[int]],
    seed: int,
    validation: float,
    prompt_counts: Sequence[int],
) -> pd.DataFrame:
    """Return the table ``DEBIASED``: estimates from validation examples, and what the test examples show.

    Parameters
    ----------
    settings, clusters, seed
        See ``selected``. Whole clusters of examples are in one part of a split.
    validation
        Share of the clusters of examples in the validation part, rounded down.
    prompt_counts
        Numbers of prompts to choose from, above 1; they are drawn anew for each split.
    """
    tables = []
    for predictions in settings:
        setting = setting_of(predictions)
        matrix = ResponseMatrix.from_predictions(predictions)
        if len(matrix.prompts) > 1:
            candidates = candidates_of(matrix, setting.shots, clusters.get(setting.task))
            rows = _heldout(candidates, setting, seed, validation, prompt_counts)
            tables.append(setting.label(pd.DataFrame(rows, columns=[*DEBIASED.columns][3:])))
    return DEBIASED.together(tables)


def _heldout(
    candidates: Candidates, setting: Setting, seed: int, validation: float, prompt_counts: Sequence[int]
) -> list[dict[str, float]]:
    generator = np.random.default_rng(setting.seed(seed, "debiased"))
    groups = np.unique(candidates.clusters)
    rows = []
    for split in range(SPLITS):
        chosen = generator.permutation(groups)[: of_share(len(groups), validation)]
        order = generator.permutation(len(candidates.names))
        in_validation = np.isin(candidates.clusters, chosen)
        for requested in sorted({count for count in prompt_counts if count > 1}):
            prompts = np.sort(order[:requested])
            usable = candidates.evaluated[np.ix_(prompts, in_validation)].any(axis=1)
            usable &= candidates.evaluated[np.ix_(prompts, ~in_validation)].any(axis=1)
            if usable.sum() > 1:
                row = _split(candidates, prompts[usable], in_validation, setting.seed(seed, "halves"))
                rows.append({"split": split, "requested_prompts": requested, **row})
    return rows


def _split(candidates: Candidates, prompts: Ints, in_validation: Bools, seed: int) -> dict[str, float]:
    """Return the estimate from the validation examples, and the chosen prompt's test accuracy."""
    on_validation = candidates.on(in_validation, prompts)
    estimate = debiased_score(on_validation, splits=HALVES, seed=seed)
    test = candidates.scores[prompts[on_validation.chosen], ~in_validation]
    return {
        "prompts": len(prompts),
        "validation_examples": int(on_validation.examples[on_validation.chosen]),
        "validation_accuracy": estimate.observed,
        "debiased_accuracy": estimate.value,
        "debiased_low": estimate.low,
        "debiased_high": estimate.high,
        "test_examples": int((~np.isnan(test)).sum()),
        "test_accuracy": float(np.nanmean(test)),
    }


def calibration(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``HELDOUT_DEBIASED`` of the table ``DEBIASED``."""
    table = table[(table["prompts"] == table["requested_prompts"]) & table["debiased_accuracy"].notna()]
    rows = []
    for requested, sizes, group in _groups(table):
        errors = {
            name: group[f"{name}_accuracy"] - group["test_accuracy"] for name in ("validation", "debiased")
        }
        of_setting = [group["model"], group["task"], group["shots"]]
        distance = {
            name: sqrt(float((error.groupby(of_setting, observed=True).mean() ** 2).mean()))
            for name, error in errors.items()
        }
        rows.append(
            {
                "requested_prompts": requested,
                "validation_examples": sizes,
                "outcomes": len(group),
                **{f"{name}_error": float(error.mean()) for name, error in errors.items()},
                **{f"{name}_distance": value for name, value in distance.items()},
                "coverage": float(np.mean([_covers(row) for row in group.to_dict("records")])),
            }
        )
    return pd.DataFrame(rows, columns=[*HELDOUT_DEBIASED.columns])


def _groups(table: pd.DataFrame) -> Iterator[tuple[Hashable, str, pd.DataFrame]]:
    """Yield numbers of prompts, of validation examples, and the outcomes with these numbers."""
    sizes = pd.cut(table["validation_examples"], SIZES, labels=["up to 50", "51 to 100", "above 100"])
    for requested, group in table.groupby("requested_prompts"):
        yield requested, "all", group
        by_size = [*group.groupby(sizes.loc[group.index], observed=True)]
        if len(by_size) > 1:
            for label, part in by_size:
                yield requested, str(label), part


def _covers(row: Mapping[Hashable, float]) -> bool:
    """Return whether a test accuracy is inside the interval, widened by its own sampling error."""
    from scipy.special import ndtri  # slow to import

    truth = row["debiased_accuracy"]
    reach = float(ndtri((1 + CONFIDENCE) / 2)) * sqrt(truth * (1 - truth) / row["test_examples"])
    low = truth - hypot(truth - row["debiased_low"], reach)
    high = truth + hypot(row["debiased_high"] - truth, reach)
    return low - 1e-12 <= row["test_accuracy"] <= high + 1e-12
