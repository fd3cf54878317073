"""Whether hard examples are better demonstrations than examples drawn at random (Lu et al., Table 7)."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.resampling import clusters_of_names
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.core.two_way import adjusted_means
from abovechance.pvi.pointwise import v_information
from abovechance.pvi.runs import by_example

PVI_DEMONSTRATIONS = TableSchema(
    "pvi_demonstrations",
    {
        **setting_columns(),
        "examples": Column.whole("number of examples evaluated"),
        "drawn_prompts": Column.whole("number of prompts whose demonstrations are drawn from all examples"),
        "drawn": Column.share("mean accuracy of the drawn prompts"),
        "drawn_spread": Column.number("standard deviation of accuracy over the drawn prompts"),
        "hardest_prompts": Column.whole(
            "number of prompts with hard demonstrations: for each label, the fifth of the examples with the "
            "lowest PVI"
        ),
        "hardest": Column.share("mean accuracy of the prompts with hard demonstrations"),
        "hardest_spread": Column.number(
            "standard deviation of accuracy over the prompts with hard demonstrations"
        ),
        "difference": Column.number("hardest minus drawn"),
        "low": Column.number(
            "lower end of the 95 % interval of the difference, with clusters of examples as units; it is "
            "valid for these prompts only, and missing if the difference is the same for all examples"
        ),
        "high": Column.number("upper end of the interval"),
    },
    "One row per setting.",
    file="pvi/demonstrations/<model>.parquet, tables/pvi_demonstrations",
)
SHARE = 0.2  # of each label's examples are called hardest: the paper's fifth


def hardest_of_labels(settings: Iterable[pd.DataFrame], least: int) -> set[str]:
    """Return the ids of the examples of each label with the least PVI.

    Parameters
    ----------
    settings
        The table ``pvi`` of each setting of a model and task: an example's PVI is the mean over settings of
        its means over prompts, as if it were under all of them (``two_way.adjusted_means``), since a prompt's
        own demonstrations are not.
    least
        Smallest number of each label, if there are so many.

    Returns
    -------
    set
        A fifth of each label's, rounded up, and not fewer than ``least``; of examples of the same PVI those
        that come first.
    """
    parts = []
    for setting in settings:
        values = by_example(setting, "pvi")
        label = setting.astype({"example": str, "label": str}).groupby("example")["label"].first()
        adjusted = pd.Series(adjusted_means(values.to_numpy()), values.columns)
        parts.append(pd.DataFrame({"label": label, "pvi": adjusted}))
    means = pd.concat(parts).rename_axis("example").groupby(["label", "example"], sort=True)["pvi"].mean()
    hardest: set[str] = set()
    for _, of_label in means.groupby("label", sort=False):
        ordered = of_label.sort_values(kind="stable").index.get_level_values("example")
        hardest.update(ordered[: max(least, math.ceil(SHARE * len(ordered)))])
    return hardest


def compared(random_sets: pd.DataFrame, hardest: pd.DataFrame, clusters: pd.Series[int]) -> pd.DataFrame:
    """Return the table ``pvi_demonstrations`` of one setting, without its columns.

    Parameters
    ----------
    random_sets, hardest
        The rows of the setting in the table ``predictions``, with demonstrations drawn from all examples and
        from the hardest; of the same examples.
    clusters
        By example, the same for those that belong together.

    Returns
    -------
    DataFrame
        One row with the columns of ``PVI_DEMONSTRATIONS``, without those of the setting. The interval holds
        for these prompts, so compare it with the standard deviations over prompts.
    """
    of_drawn, of_hardest = (
        table.astype({"example": str, "correct": float}).pivot_table(
            index="prompt", columns="example", values="correct"
        )
        for table in (random_sets, hardest)
    )
    differences = (of_hardest.mean(axis=0) - of_drawn.mean(axis=0)).dropna()
    estimate = v_information(differences, clusters_of_names(differences.index, clusters))
    row: dict[str, float] = {"examples": estimate.examples}
    for name, table in (("drawn", of_drawn), ("hardest", of_hardest)):
        by_prompt = table[differences.index].mean(axis=1)
        spread = by_prompt.std(ddof=1) if len(by_prompt) > 1 else np.nan
        row |= {f"{name}_prompts": len(by_prompt), name: by_prompt.mean(), f"{name}_spread": spread}
    row |= {"difference": estimate.value, "low": estimate.low, "high": estimate.high}
    return pd.DataFrame([row])
