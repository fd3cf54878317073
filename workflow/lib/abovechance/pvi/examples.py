"""PVI of examples: which are hard, and which probably have a wrong label."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.settings import SETTING, by_setting, with_most_shots
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.core.two_way import adjusted_means
from abovechance.pvi.consistency import correlation

FEW_PER_LABEL = 3  # examples of a label on average; with fewer, labels are an example's own
PVI_EXAMPLES = TableSchema(
    "pvi_examples",
    {
        **setting_columns(),
        "example": Column.text("id of the example"),
        "label": Column.text("the correct choices, with ' / ' between them"),
        "prompts": Column.whole("number of prompts that are evaluated on the example"),
        "pvi": Column.number(
            "mean PVI over all prompts; a least-squares adjustment accounts for prompts that are not "
            "evaluated on the example",
            "bits",
        ),
        "correct": Column.share("share of correct predictions"),
        "margin": Column.number(
            "PVI of the wrong choice that the input favours most, minus PVI of the label; mean over prompts",
            "bits",
        ),
        "against_share": Column.share(
            "share of prompts in which the input favours a wrong choice over the label (margin above 0)"
        ),
        "rival": Column.text("wrong choice that is most often the rival in the table pvi, over prompts"),
    },
    "One row per setting and example.",
    file="pvi/examples/<model>.parquet",
)
HARDEST = TableSchema(
    "pvi_hardest",
    {
        "task": Column.text("name of the task"),
        "label": PVI_EXAMPLES.columns["label"],
        "pvi": Column.number("mean PVI over settings", "bits"),
        "correct": Column.share("share of correct predictions"),
        "example": Column.text("id of the example"),
        "input": Column.text("the input text", lacking=""),
    },
    "One row per example. The table lists the five hardest examples of each label. If labels have fewer "
    "than three examples on average, it lists the five hardest examples of the task.",
)
MISLABELLED = TableSchema(
    "pvi_mislabelled",
    {
        "task": Column.text("name of the task"),
        "example": Column.text("id of the example"),
        "label": PVI_EXAMPLES.columns["label"],
        "suggested": Column.text(
            "wrong choice that is most often the rival in pvi/examples, over settings",
            lacking="",
        ),
        "margin": Column.number(
            "PVI of the wrong choice that the input favours most, minus PVI of the label; mean over settings",
            "bits",
        ),
        "beyond": Column.number(
            "margin minus the median margin of all examples with this label, or of the task if it has fewer "
            "than three examples per label",
            "bits",
        ),
        "against_share": Column.share("share of prompts with a margin above 0, averaged over settings"),
        "label_share": Column.share(
            "among all examples with this label, the share with a margin above 0; among all examples of the "
            "task if it has fewer than three per label. If the share is high, models favour a wrong choice "
            "for this label in general, and its examples are less suspicious"
        ),
        "settings": Column.whole("number of settings"),
        "input": Column.text("the input text", lacking=""),
    },
    "One row per example with a margin above 0. Rows are in descending order of the column beyond, so the "
    "most suspicious labels come first.",
)
ANNOTATIONS = TableSchema(
    "pvi_annotations",
    {
        **setting_columns(),
        "annotated": Column.whole("number of examples with answers of several annotators"),
        "r": Column.number(
            "Pearson's correlation between the mean PVI of an example and the variation ratio of its "
            "annotators' answers"
        ),
        "low": Column.number("lower end of the 95 % interval of r"),
        "high": Column.number("upper end of the interval"),
        "p": Column.number("p-value of r = 0"),
        "agree": Column.number("mean PVI of examples on which annotators agree", "bits"),
        "disagree": Column.number("mean PVI of examples on which annotators disagree", "bits"),
    },
    "One row per setting.",
)


def summarize_examples(pvi: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``pvi_examples`` of one setting, without its columns.

    Parameters
    ----------
    pvi
        The rows of the setting in the table ``pvi``.

    Returns
    -------
    DataFrame
        One row per example, with the columns of ``PVI_EXAMPLES``, without those of the setting.
    """
    examples = pvi.assign(
        example=pvi["example"].astype(str),
        label=pvi["label"].astype(str),
        rival=pvi["rival"].astype(object),
        margin=pvi["rival_pvi"] - pvi["pvi"],
    )
    examples["against_share"] = (examples["margin"] > 0).where(examples["margin"].notna()).astype(float)
    summary = _by_example(examples, "prompt", "prompts")
    return summary.reset_index()[[name for name in PVI_EXAMPLES.columns if name not in SETTING]]


def _by_example(table: pd.DataFrame, row: str, number: str) -> pd.DataFrame:
    """Return one row per example: means over prompts or settings (``row``) and their ``number``.

    The means of ``pvi`` and ``margin`` are adjusted for missing ones (``adjusted_means``).
    """
    grouped = table.groupby("example", sort=False)
    summary = grouped[["correct", "against_share"]].mean()
    summary["label"] = grouped["label"].first()
    summary["rival"] = grouped["rival"].agg(_most_common)
    summary[number] = grouped[row].nunique()
    for name in ("pvi", "margin"):
        wide = table.pivot_table(index=row, columns="example", values=name, sort=False, dropna=False)
        summary[name] = pd.Series(adjusted_means(wide.to_numpy(dtype=float)), wide.columns)
    return summary


def _most_common(values: pd.Series) -> str | None:
    """Return the value of most rows, the first one of as many."""
    counted = values.value_counts(sort=False)
    return None if counted.empty else str(counted.index[int(counted.to_numpy().argmax())])


def inputs_of(tasks: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """What is asked in each example: ``task``, ``example``, ``input``, ``cluster`` and ``annotations`` of the
    tables ``tasks``, by the tasks' names."""
    columns = ["example", "input", "cluster", "annotations"]
    return pd.concat([table[columns].assign(task=name) for name, table in tasks.items()], ignore_index=True)


def hardest(examples: pd.DataFrame, inputs: pd.DataFrame, most_rows: int = 5) -> pd.DataFrame:
    """Return the examples of each label that tell the models least (Lu et al., Tables 6, 8 and 17 to 19).

    Parameters
    ----------
    examples
        The table ``pvi_examples`` of all models.
    inputs
        ``task``, ``example`` and ``input``, what is asked.
    most_rows
        Number of rows of each label, or of the task if examples have labels of their own.

    Returns
    -------
    DataFrame
        The table ``pvi_hardest``, by task and label, the hardest first.
    """
    table = _over_settings(examples).sort_values("pvi", kind="stable")
    table = table.groupby(["task", "kind"], sort=False).head(most_rows)
    table = table.merge(inputs, on=["task", "example"], how="left")
    order = table.sort_values(["task", "kind", "pvi"], kind="stable", ignore_index=True)
    return order[[*HARDEST.columns]]


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
        The table ``pvi_mislabelled``, ordered by ``beyond``: an answer that the inputs of all examples of a
        label favour says nothing about one of them.
    """
    table = _over_settings(examples)
    kinds = [table["task"], table["kind"]]
    against = (table["margin"] > 0).astype(float).groupby(kinds).transform("mean")
    beyond = table["margin"] - table["margin"].groupby(kinds).transform("median")
    table = table.assign(label_share=against, beyond=beyond)
    table = table[table["margin"] > 0].sort_values("beyond", ascending=False, kind="stable")
    table = table.rename(columns={"rival": "suggested"}).merge(inputs, on=["task", "example"], how="left")
    return table[[*MISLABELLED.columns]].reset_index(drop=True)


def _over_settings(examples: pd.DataFrame) -> pd.DataFrame:
    """Means over all settings of a task; ``kind`` is the label where examples share these."""
    parts = []
    for task, rows in examples.groupby("task", sort=False, observed=True):
        settings = rows["model"].astype(str) + "/" + rows["shots"].astype(str)
        rows = rows.assign(setting=settings)
        summary = _by_example(rows, "setting", "settings")
        # labels that are an example's own say nothing of others
        shared = len(summary) >= FEW_PER_LABEL * summary["label"].nunique()
        parts.append(
            summary.reset_index().assign(task=task, kind=summary["label"].to_numpy() if shared else "")
        )
    columns = ["task", "example", "label", "kind", "pvi", "correct", "margin"]
    columns += ["against_share", "rival", "settings"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def of_models(examples: pd.DataFrame) -> pd.DataFrame:
    """(examples x models) the mean PVI of each task's examples for each model, ``task`` and ``example`` in
    the index.

    Those of the most shots, where all models have them.
    """
    return with_most_shots(examples).pivot_table(
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
        The table ``pvi_annotations``, for settings of tasks with annotations.
    """
    rows = []
    for setting, setting_rows in by_setting(annotated(examples, inputs)):
        r = correlation(setting_rows["variation"], setting_rows["pvi"], setting_rows["cluster"])
        split = setting_rows.groupby(setting_rows["variation"] > 0)["pvi"].mean()
        row = {"annotated": len(setting_rows), "r": r.r, "low": r.low, "high": r.high, "p": r.p}
        row |= {"agree": split.get(False, np.nan), "disagree": split.get(True, np.nan)}
        rows.append(setting._asdict() | row)
    return pd.DataFrame(rows, columns=[*ANNOTATIONS.columns])


def annotated(examples: pd.DataFrame, inputs: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``examples`` that several annotators answered, with ``cluster`` and ``variation`` ratio."""
    several = inputs["annotations"].map(
        lambda labels: labels is not None and not np.isscalar(labels) and len(labels) > 1
    )
    annotated_inputs = inputs[several.astype(bool)]
    annotated_inputs = annotated_inputs.assign(
        variation=[variation_ratio([*labels]) for labels in annotated_inputs["annotations"]]
    )
    return examples.merge(
        annotated_inputs[["task", "example", "cluster", "variation"]], on=["task", "example"]
    )


def variation_ratio(annotations: list[str]) -> float:
    """Return the share of annotators who did not answer what most did, in [0, 1): 0 where all agree."""
    _, counts = np.unique(np.asarray(annotations, dtype=object).astype(str), return_counts=True)
    return float(1 - counts.max() / counts.sum())
