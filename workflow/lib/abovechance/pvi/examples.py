"""What PVI says of each example: which are hard, and which are likely to have a wrong label."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa

from abovechance.core.settings import SETTING, by_setting
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.core.two_way import adjusted_means
from abovechance.pvi.consistency import correlation

FEW = 3  # examples of a label on average; with fewer, labels are an example's own
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
        ``pvi``, see ``two_way.adjusted_means``; the share of ``correct`` predictions; ``margin``, by how many
        bits the input speaks more for the likeliest other answer than for the label, mean over prompts;
        ``against``, in which share of prompts it does; ``rival``, that other answer, the one of most prompts.
    """
    own = pvi.assign(
        example=pvi["example"].astype(str),
        label=pvi["label"].astype(str),
        rival=pvi["rival"].astype(object),
        margin=pvi["rival_pvi"] - pvi["pvi"],
    )
    own["against"] = (own["margin"] > 0).where(own["margin"].notna()).astype(float)
    found = own.groupby("example", sort=False).agg(
        label=("label", "first"),
        prompts=("prompt", "size"),
        correct=("correct", "mean"),
        against=("against", "mean"),
        rival=("rival", _most_common),
    )
    for name in ("pvi", "margin"):
        found[name] = _adjusted(own, "prompt", name)
    return found.reset_index()[[name for name in PVI_EXAMPLES.columns if name not in SETTING]]


def _adjusted(table: pd.DataFrame, row: str, name: str) -> pd.Series[float]:
    """By example, the mean of a column over prompts or settings as if each had every example."""
    wide = table.pivot_table(index=row, columns="example", values=name, sort=False, dropna=False)
    return pd.Series(adjusted_means(wide.to_numpy(dtype=float)), wide.columns)


def _most_common(values: pd.Series) -> str | None:
    """The value of most rows, the first one of as many."""
    counted = values.value_counts(sort=False)
    return None if counted.empty else str(counted.index[int(counted.to_numpy().argmax())])


def inputs_of(tasks: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """What is asked in each example: ``task``, ``example``, ``input``, ``cluster`` and ``annotations`` of the
    tables ``tasks``, by the tasks' names."""
    columns = ["example", "input", "cluster", "annotations"]
    return pd.concat([table[columns].assign(task=name) for name, table in tasks.items()], ignore_index=True)


def hardest(examples: pd.DataFrame, inputs: pd.DataFrame, most: int = 5) -> pd.DataFrame:
    """The examples of each label that tell the models least (Lu et al., Tables 6, 8 and 17 to 19).

    Parameters
    ----------
    examples
        The table ``pvi_examples`` of all models.
    inputs
        ``task``, ``example`` and ``input``, what is asked.
    most
        Of each label, or of the task where examples have labels of their own.

    Returns
    -------
    DataFrame
        ``task``; ``label``; ``pvi``, the mean over settings; ``correct``, the share of predictions that are;
        ``example``; ``input``. By task and label, the hardest first.
    """
    table = _over_settings(examples).sort_values("pvi", kind="stable")
    table = table.groupby(["task", "kind"], sort=False).head(most)
    table = table.merge(inputs, on=["task", "example"], how="left")
    order = table.sort_values(["task", "kind", "pvi"], kind="stable", ignore_index=True)
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
        ``margin`` in bits, the mean over settings; ``beyond``, by how much that is more than the median of
        the examples of the same label, by which they are ordered: what makes the other answer likelier for
        all of them is not the example's; ``against``, the share of settings and prompts in which
        it speaks more for another answer; ``of_label``, the share of all examples of this label (of the
        task, where examples have labels of their own) that are listed: where it is high, models like the
        other answer, and nothing is said of the example; ``settings``; ``input``. Only those of a margin
        above 0.
    """
    table = _over_settings(examples)
    kinds = [table["task"], table["kind"]]
    against = (table["margin"] > 0).astype(float).groupby(kinds).transform("mean")
    beyond = table["margin"] - table["margin"].groupby(kinds).transform("median")
    table = table.assign(of_label=against, beyond=beyond)
    table = table[table["margin"] > 0].sort_values("beyond", ascending=False, kind="stable")
    table = table.rename(columns={"rival": "suggested"}).merge(inputs, on=["task", "example"], how="left")
    columns = [
        "task",
        "example",
        "label",
        "suggested",
        "margin",
        "beyond",
        "against",
        "of_label",
        "settings",
        "input",
    ]
    return table[columns].reset_index(drop=True)


def _over_settings(examples: pd.DataFrame) -> pd.DataFrame:
    """Means over all settings of a task; ``kind`` is the label where examples share these."""
    parts = []
    for task, own in examples.groupby("task", sort=False, observed=True):
        settings = own["model"].astype(str) + "/" + own["shots"].astype(str)
        own = own.assign(setting=settings)
        found = own.groupby("example", sort=False).agg(
            label=("label", "first"),
            correct=("correct", "mean"),
            against=("against", "mean"),
            rival=("rival", _most_common),
            settings=("setting", "nunique"),
        )
        for name in ("pvi", "margin"):
            found[name] = _adjusted(own, "setting", name)
        # labels that are an example's own say nothing of others
        shared = len(found) >= FEW * found["label"].nunique()
        parts.append(found.reset_index().assign(task=task, kind=found["label"].to_numpy() if shared else ""))
    columns = ["task", "example", "label", "kind", "pvi", "correct", "margin", "against", "rival", "settings"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


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
    rows = []
    for setting, own in by_setting(annotated(examples, inputs)):
        r = correlation(own["variation"], own["pvi"], own["cluster"])
        split = own.groupby(own["variation"] > 0)["pvi"].mean()
        found = {"annotated": len(own), "r": r.r, "low": r.low, "high": r.high, "p": r.p}
        found |= {"agree": split.get(False, np.nan), "disagree": split.get(True, np.nan)}
        rows.append(setting._asdict() | found)
    columns = [*SETTING, "annotated", "r", "low", "high", "p", "agree", "disagree"]
    return pd.DataFrame(rows, columns=columns)


def annotated(examples: pd.DataFrame, inputs: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``examples`` that several annotators answered, with ``cluster`` and ``variation`` ratio."""
    several = inputs["annotations"].map(lambda own: own is not None and not np.isscalar(own) and len(own) > 1)
    known = inputs[several.astype(bool)]
    known = known.assign(variation=[variation_ratio([*own]) for own in known["annotations"]])
    return examples.merge(known[["task", "example", "cluster", "variation"]], on=["task", "example"])


def variation_ratio(annotations: list[str]) -> float:
    """The share of annotators who did not answer what most did, in [0, 1): 0 where all agree."""
    _, counts = np.unique(np.asarray(annotations, dtype=object).astype(str), return_counts=True)
    return float(1 - counts.max() / counts.sum())
