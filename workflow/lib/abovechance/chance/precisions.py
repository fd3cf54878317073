"""The verdicts on the same model in two precisions, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.tables import TableSchema

_PAIR = {
    "first": Column.text("model in the higher precision"),
    "second": Column.text("the same model in the lower precision"),
}
PRECISION_SETTINGS = TableSchema(
    "precision_settings",
    {
        **_PAIR,
        "task": Column.text("name of the task"),
        "shots": Column.whole("number of demonstrations in a prompt"),
        "best_accuracy_first": Column.share("best accuracy in the higher precision"),
        "position_first": Column.text("position relative to the baselines in the higher precision"),
        "best_accuracy_second": Column.share("best accuracy in the lower precision"),
        "position_second": Column.text("position relative to the baselines in the lower precision"),
        "mean_change": Column.number(
            "accuracy in the lower precision minus accuracy in the higher precision, averaged over prompts"
        ),
        "correlation": Column.number(
            "correlation over prompts between the accuracies in the two precisions; missing if all prompts "
            "have equal accuracy in one precision"
        ),
    },
    "One row per pair of precisions, task and number of shots.",
)
PRECISION_SUMMARY = TableSchema(
    "precision_summary",
    {
        **_PAIR,
        "shots": Column.whole("number of demonstrations in a prompt"),
        "settings": Column.whole("number of settings"),
        "above_standard_first": Column.whole("settings above the standard baseline in the higher precision"),
        "between_first": Column.whole("settings between the two baselines in the higher precision"),
        "above_standard_second": Column.whole("settings above the standard baseline in the lower precision"),
        "between_second": Column.whole("settings between the two baselines in the lower precision"),
        "same_verdict": Column.whole("settings with the same position in both precisions"),
        "mean_change_of_best": Column.number(
            "best accuracy in the lower precision minus best accuracy in the higher precision, averaged over "
            "settings"
        ),
    },
    "One row per pair of precisions and number of shots.",
)


def precision_settings(
    verdicts: pd.DataFrame, accuracy: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """Return two precisions of the same model side by side, one row per pair, task and number of shots.

    Parameters
    ----------
    verdicts, accuracy
        The tables of these names.
    pairs
        Two names of each model: that of the higher precision, then that of the lower.

    """
    keys = ["task", "shots"]
    parts = []
    for pair in pairs:
        judged = verdicts[verdicts["position"].notna()]
        of_pair = [judged[judged["model"] == model] for model in pair]
        first, second = (table[[*keys, "best_accuracy", "position"]] for table in of_pair)
        merged = first.merge(second, on=keys, suffixes=("_first", "_second"))
        by_precision = [
            accuracy.loc[accuracy["model"] == model, [*keys, "prompt", "accuracy"]] for model in pair
        ]
        both_scores = by_precision[0].merge(
            by_precision[1], on=[*keys, "prompt"], suffixes=("_first", "_second")
        )
        part = merged.merge(_moved(both_scores, keys), on=keys)
        part.insert(0, "second", pair[1])
        part.insert(0, "first", pair[0])
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _moved(pairs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return how accuracies change from one precision to the other, by these keys."""
    rows = []
    for key, group in pairs.groupby(keys, sort=False):
        first, second = group["accuracy_first"], group["accuracy_second"]
        change = second.mean() - first.mean()
        moved = {"mean_change": change, "correlation": _correlation(first, second)}
        rows.append(dict(zip(keys, key, strict=True)) | moved)
    return pd.DataFrame(rows, columns=[*keys, "mean_change", "correlation"])


def _correlation(first: pd.Series, second: pd.Series) -> float:
    """Pearson's correlation; nan where one does not vary."""
    return float(first.corr(second)) if first.std() > 0 and second.std() > 0 else float("nan")


def precision_summary(settings: pd.DataFrame) -> pd.DataFrame:
    """Return how verdicts differ between two precisions, one row per pair and number of shots.

    Parameters
    ----------
    settings
        From ``precision_settings``.
    """
    rows = []
    for key, group in settings.groupby(["first", "second", "shots"], sort=False):
        row = dict(zip(("first", "second", "shots"), key, strict=True)) | {"settings": len(group)}
        for side in ("first", "second"):
            verdict = group[f"position_{side}"]
            row[f"above_standard_{side}"] = int((verdict != "below").sum())
            row[f"between_{side}"] = int((verdict == "between").sum())
        row["same_verdict"] = int((group["position_first"] == group["position_second"]).sum())
        row["mean_change_of_best"] = (group["best_accuracy_second"] - group["best_accuracy_first"]).mean()
        rows.append(row)
    return pd.DataFrame(rows, columns=[*PRECISION_SUMMARY.columns])
