"""PVI of prompts (exemplar sets): one row per prompt, and summaries of tasks and models.

Rows come from a study's table ``pvi``, or from a file of results like the one that the paper's authors
released.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats
from abovechance.core.columns import Column
from abovechance.core.settings import SETTING
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.core.two_way import adjusted_means
from abovechance.pvi.exemplar_sets import one_way
from abovechance.pvi.tails import SHARES, accuracy_of_tails, tails_of_labels

ENDS = [f"{end}_{part}" for part in ("fifth", "half") for end in ("lowest", "highest")]
OTHERS = [f"other_{name}" for name in ENDS]
ACCURACY_OF_ENDS = {
    **{
        name: Column.share("accuracy on the {1} of the examples with the {0} PVI".format(*name.split("_")))
        for name in ENDS
    },
    **{
        name: Column.share(
            f"like '{own_end}', but selected within each label, by mean PVI under the other prompts"
        )
        for own_end, name in zip(ENDS, OTHERS, strict=True)
    },
}
PVI_PROMPTS = TableSchema(
    "pvi_prompts",
    {
        **setting_columns(),
        "prompt": Column.text("number of the prompt, from 0"),
        "examples": Column.whole("number of examples"),
        "accuracy": Column.share("share of correct predictions"),
        "information": Column.number("mean PVI", "bits"),
        "pvi_correct": Column.number("mean PVI of correct predictions", "bits"),
        "pvi_wrong": Column.number("mean PVI of wrong predictions", "bits"),
        **ACCURACY_OF_ENDS,
    },
    "One row per prompt.",
    file="pvi/prompts/<model>.parquet",
)

TAILS = TableSchema(
    "pvi_tails",
    {
        **setting_columns(),
        "sets": Column.whole(
            "number of prompts (exemplar sets); the columns below are means over these prompts"
        ),
        "accuracy": Column.share("share of correct predictions"),
        **ACCURACY_OF_ENDS,
    },
    "One row per setting.",
)
ANOVA = TableSchema(
    "pvi_anova",
    {
        "model": Column.text("name of the model"),
        "task": Column.text("name of the task"),
        "sets": Column.whole("number of exemplar sets, which are the groups of the analysis of variance"),
        "numbers": Column.whole(
            "number of values; each value is the mean PVI of correct predictions for one exemplar set and "
            "number of shots"
        ),
        "f": Column.number("F statistic"),
        "between": Column.number("numerator degrees of freedom of F (between sets)"),
        "within": Column.number("denominator degrees of freedom of F (within sets)"),
        "p": Column.number("p-value; missing with fewer than two numbers of shots"),
    },
    "One row per model and task. Only prompts with demonstrations are used. The table requires "
    "'demonstrations: balanced'.",
)


def summarize_prompts(pvi: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``pvi_prompts`` of one setting, without its columns.

    Parameters
    ----------
    pvi
        The rows of the setting in the table ``pvi``.

    Returns
    -------
    DataFrame
        One row per prompt.
    """
    values, correct = by_example(pvi, "pvi"), by_example(pvi, "correct")
    by_label = pvi.astype({"example": str, "label": str}).groupby("example")["label"].first()
    labels = by_label.reindex(values.columns).to_numpy()
    rows = []
    for place, prompt in enumerate(values.index):
        mask = np.isfinite(values.iloc[place].to_numpy())
        prompt_values, prompt_correct = (
            values.iloc[place].to_numpy()[mask],
            correct.iloc[place].to_numpy()[mask] == 1,
        )
        others_pvi, own_labels = others_mean(values.to_numpy(), place)[mask], labels[mask]
        ends = [end for share in SHARES for end in accuracy_of_tails(prompt_values, prompt_correct, share)]
        rows.append(
            {
                "prompt": str(prompt),
                "examples": int(mask.sum()),
                "accuracy": float(prompt_correct.mean()),
                "information": float(prompt_values.mean()),
                "pvi_correct": _mean(prompt_values[prompt_correct]),
                "pvi_wrong": _mean(prompt_values[~prompt_correct]),
                **dict(zip(ENDS, ends, strict=True)),
                **dict(zip(OTHERS, _ends_of_labels(others_pvi, prompt_correct, own_labels), strict=True)),
            }
        )
    return pd.DataFrame(rows)


def by_example(pvi: pd.DataFrame, column: str) -> pd.DataFrame:
    """(prompts, examples) a column of one setting; missing where a prompt is not evaluated on an example."""
    values = pvi.assign(example=pvi["example"].astype(str), **{column: pvi[column].astype(float)})
    return values.pivot_table(index="prompt", columns="example", values=column, sort=False)


def others_mean(values: Floats, place: int) -> Floats:
    """(examples,) the mean over all prompts but one; missing where no other has a value."""
    return adjusted_means(np.delete(values, place, axis=0))


def _ends_of_labels(values: Floats, correct: np.ndarray, labels: np.ndarray) -> Iterable[float]:
    """Accuracies of the ends of each label, by ``SHARES``, of the examples that have a value."""
    mask = np.isfinite(values)
    if not mask.any():
        return [np.nan] * len(ENDS)
    flat = (values[mask], correct[mask], labels[mask])
    return [end for share in SHARES for end in tails_of_labels(*flat, share)]


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else np.nan


def tails(prompts: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of the examples of lowest and highest PVI, mean over exemplar sets (Lu et al., Tables 1 and
    14).

    Parameters
    ----------
    prompts
        The table ``pvi_prompts``.

    Returns
    -------
    DataFrame
        The table ``pvi_tails``.
    """
    grouped = prompts.groupby(SETTING, sort=False, observed=True)
    columns, sets = grouped[["accuracy", *ENDS, *OTHERS]], grouped.size()
    means = columns.mean().where(columns.count().eq(sets, axis=0))  # of all sets, or missing
    return means.assign(sets=sets).reset_index()[[*TAILS.columns]]


def anova(prompts: pd.DataFrame, nested: bool = True) -> pd.DataFrame:
    """Return whether exemplar sets differ in the mean PVI of right predictions (Lu et al., Tables 3 and 15).

    A group for each exemplar set, and in it a number for each number of shots: see ``exemplar_sets.one_way``
    for why that none is found says little.

    Parameters
    ----------
    prompts
        The table ``pvi_prompts``.
    nested
        Whether a prompt of more shots begins with the prompt of fewer that has its number. Else there are no
        sets, and the table has no rows.

    Returns
    -------
    DataFrame
        The table ``pvi_anova``.
    """
    rows = []
    with_shots = prompts[(prompts["shots"] > 0) & nested]  # without demonstrations there is no set
    for (model, task), setting_rows in with_shots.groupby(["model", "task"], sort=False, observed=True):
        groups = [
            group.to_numpy(dtype=float)
            for _, group in setting_rows.groupby("prompt", sort=False)["pvi_correct"]
        ]
        numbers = sum(int(np.isfinite(group).sum()) for group in groups)
        rows.append(
            {"model": model, "task": task, "sets": len(groups), "numbers": numbers}
            | one_way(groups)._asdict()
        )
    return pd.DataFrame(rows, columns=[*ANOVA.columns])
