"""What PVI says of each example: which are hard, and which are likely to have a wrong label."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from abovechance.core.settings import SETTING, by_setting
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.information.consistency import correlation

PVI_EXAMPLES = TableSchema(
    "pvi_examples",
    {
        **setting_columns(),
        "example": pa.string(),
        "label": pa.string(),
        "prompts": pa.int64(),
        "pvi": pa.float64(),
        "correct": pa.float64(),
        "margin": pa.float64(),
        "against": pa.float64(),
        "rival": pa.string(),
    },
)


def of_setting(pvi: pd.DataFrame) -> pd.DataFrame:
    """The table ``pvi_examples`` of one setting, without its columns.

    Parameters
    ----------
    pvi
        The rows of the setting in the table ``pvi``.

    Returns
    -------
    DataFrame
        One row an example: ``example``; ``label``; ``prompts`` that it was evaluated under; the mean
        ``pvi``; the share of ``correct`` predictions; ``margin``, by how many bits the input speaks more
        for the likeliest other answer than for the label, mean over prompts; ``against``, in which share of
        prompts it does; ``rival``, that other answer, the one of most prompts.
    """
    own = pvi.assign(
        example=pvi["example"].astype(str),
        label=pvi["label"].astype(str),
        rival=pvi["rival"].astype(object),
        margin=pvi["rival_pvi"] - pvi["pvi"],
    )
    own["against"] = (own["margin"] > 0).where(own["margin"].notna()).astype(float)
    grouped = own.groupby("example", sort=False)
    return grouped.agg(
        label=("label", "first"),
        prompts=("prompt", "size"),
        pvi=("pvi", "mean"),
        correct=("correct", "mean"),
        margin=("margin", "mean"),
        against=("against", "mean"),
        rival=("rival", _most_common),
    ).reset_index()


def _most_common(values: pd.Series) -> str | None:
    """The value of most rows, the first one of as many."""
    counted = values.value_counts(sort=False)
    return None if counted.empty else str(counted.index[int(counted.to_numpy().argmax())])


def hardest(examples: pd.DataFrame, inputs: pd.DataFrame, most: int = 5) -> pd.DataFrame:
    """The examples of each label that tell the models least (Lu et al., Tables 6, 8 and 17 to 19).

    Parameters
    ----------
    examples
        The table ``pvi_examples`` of all models.
    inputs
        ``task``, ``example`` and ``input``, what is asked.
    most
        Of each label.

    Returns
    -------
    DataFrame
        ``task``; ``label``; ``pvi``, the mean over settings; ``correct``, the share of predictions that are;
        ``example``; ``input``. By task and label, the hardest first.
    """
    table = _over_settings(examples).sort_values("pvi", kind="stable")
    table = table.groupby(["task", "label"], sort=False).head(most)
    table = table.merge(inputs, on=["task", "example"], how="left")
    order = table.sort_values(["task", "label", "pvi"], kind="stable", ignore_index=True)
    return order[["task", "label", "pvi", "correct", "example", "input"]]


def mislabelled(examples: pd.DataFrame, inputs: pd.DataFrame) -> pd.DataFrame:
    """Examples by how much speaks against their labels, the most likely to be wrong first.

    The input of a mislabelled example speaks for another answer than its label, whatever model reads it.
    PVI is taken in place of the answers' probabilities, since models like some answers whatever they read:
    that is taken away with the null-target prompt. The more models and exemplar sets there are, and the
    better the models, the more the list is worth.

    Parameters
    ----------
    examples, inputs
        See ``hardest``.

    Returns
    -------
    DataFrame
        ``task``; ``example``; ``label``; ``suggested``, the other answer that the input speaks for;
        ``margin`` in bits, the mean over settings; ``against``, the share of settings and prompts in which
        it speaks more for another answer; ``of_label``, the share of all examples of this label that are
        listed: where it is high, models like the other answer, and nothing is said of the example;
        ``settings``; ``input``. Only those of a margin above 0.
    """
    table = _over_settings(examples)
    against = (table["margin"] > 0).groupby([table["task"], table["label"]]).transform("mean")
    table = table.assign(of_label=against)
    table = table[table["margin"] > 0].sort_values("margin", ascending=False, kind="stable")
    table = table.rename(columns={"rival": "suggested"}).merge(inputs, on=["task", "example"], how="left")
    columns = ["task", "example", "label", "suggested", "margin", "against", "of_label", "settings", "input"]
    return table[columns].reset_index(drop=True)


def _over_settings(examples: pd.DataFrame) -> pd.DataFrame:
    """Means over all settings of a task, each setting once."""
    names = [name for name in SETTING if name != "task"]
    settings = examples[names].astype(str).agg("/".join, axis=1)
    grouped = examples.assign(setting=settings).groupby(["task", "example"], sort=False, observed=True)
    return grouped.agg(
        label=("label", "first"),
        pvi=("pvi", "mean"),
        correct=("correct", "mean"),
        margin=("margin", "mean"),
        against=("against", "mean"),
        rival=("rival", _most_common),
        settings=("setting", "nunique"),
    ).reset_index()


def of_models(examples: pd.DataFrame) -> pd.DataFrame:
    """(examples x models) the mean PVI of each task's examples for each model, ``task`` and ``example`` in
    the index.

    Those of the most shots, where all models have them.
    """
    most = examples.groupby("task", observed=True)["shots"].transform("max")
    own = examples[examples["shots"] == most]
    return own.pivot_table(
        index=["task", "example"], columns="model", values="pvi", sort=False, observed=True
    )


def by_agreement(examples: pd.DataFrame, inputs: pd.DataFrame) -> pd.DataFrame:
    """Whether examples on which annotators disagree are hard (Lu et al., Tables 4, 5 and 16, Figure 5).

    Parameters
    ----------
    examples
        The table ``pvi_examples`` of all models.
    inputs
        ``task``, ``example``, ``cluster`` and ``annotations``, a list, or nothing where it is not known.

    Returns
    -------
    DataFrame
        One row for each setting of a task with annotations: its columns; ``annotated``, how many examples
        are; ``r``, Pearson's, of the variation ratio and PVI, with its interval from ``low`` to ``high``
        and ``p``; the mean PVI where all annotators ``agree``, and where they ``disagree``.
    """
    known = inputs[inputs["annotations"].notna()]
    known = known.assign(variation=[variation_ratio([*own]) for own in known["annotations"]])
    table = examples.merge(known[["task", "example", "cluster", "variation"]], on=["task", "example"])
    rows = []
    for setting, own in by_setting(table):
        r = correlation(own["variation"], own["pvi"], own["cluster"])
        split = own.groupby(own["variation"] > 0)["pvi"].mean()
        found = {"annotated": len(own), "r": r.r, "low": r.low, "high": r.high, "p": r.p}
        found |= {"agree": split.get(False, np.nan), "disagree": split.get(True, np.nan)}
        rows.append(setting._asdict() | found)
    columns = [*SETTING, "annotated", "r", "low", "high", "p", "agree", "disagree"]
    return pd.DataFrame(rows, columns=columns)


def variation_ratio(annotations: list[str]) -> float:
    """The share of annotators who did not answer what most did, in [0, 1): 0 where all agree."""
    _, counts = np.unique(np.asarray(annotations, dtype=object).astype(str), return_counts=True)
    return float(1 - counts.max() / counts.sum())
