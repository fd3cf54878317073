"""Tables that people read, each as CSV, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from abovechance.chance.agreement import (
    agreement,
    agreement_by_prompts,
    difference,
    most_prompts,
    of_guessers,
)
from abovechance.chance.best_of import is_above
from abovechance.chance.conclusion import CONCLUSIONS, probability
from abovechance.chance.verdicts import POSITIONS
from abovechance.core.estimates import ALPHA
from abovechance.core.files import check_names, write_csv, write_text
from abovechance.core.untrusted import printable


def write(table: pd.DataFrame, stem: Path) -> None:
    """Write ``stem.csv`` with all digits, ``stem.md`` and ``stem.tex`` rounded for reading.

    Texts may come from files of strangers: in Markdown, what would be markup is escaped.
    """
    write_csv(table, stem.with_suffix(".csv"))
    shown = readable(table)
    marked = shown.map(_no_markup).to_markdown(index=False, disable_numparse=True)
    write_text(marked + "\n", stem.with_suffix(".md"))
    latex = shown.to_latex(index=False, escape=True, column_format="l" * len(shown.columns))
    write_text(latex, stem.with_suffix(".tex"))


def _no_markup(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\|`*\[\]])", r"\\\1", escaped)


def write_all(tables: Mapping[str, pd.DataFrame], outputs: Sequence[str]) -> None:
    """Write the tables of a rule, which must be those that it lists.

    Parameters
    ----------
    tables
        {name: table}.
    outputs
        The rule's output files.
    """
    paths = [Path(output) for output in outputs]
    check_names(tables, paths)
    for name, table in tables.items():
        write(table, paths[0].parent / name)


UNKNOWN = ("answer", "subtask", "suggested", "input")  # which "none" might be
STEPS = ("leaves_chance", "kinds", "needed")  # columns of whole numbers that may be missing


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The table as text: headings in words, probabilities with two digits, others with three."""
    shown = pd.DataFrame(index=table.index)
    for column in table.columns:
        values = table[column]
        if values.dtype == object:
            values = values.infer_objects()
        if column in STEPS:
            shown[column.replace("_", " ")] = ["" if pd.isna(step) else f"{step:.0f}" for step in values]
            continue
        if pd.api.types.is_float_dtype(values):
            write_one = probability if column.endswith("_tail") else _decimal
            values = values.map(lambda value, write_one=write_one: "" if pd.isna(value) else write_one(value))
        lacking = "" if column in UNKNOWN else "none"
        texts = values.where(values.notna(), lacking).astype(str)
        shown[column.replace("_", " ")] = texts.map(printable)  # texts of files may hold anything
    return _told_apart(table, shown)


def _told_apart(table: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """``shown`` with more digits of baselines that would look like the accuracy and are not equal to it."""
    accuracy = next((name for name in ("accuracy", "best_accuracy") if name in table), None)
    for name in ("standard_baseline", "maximum_baseline") if accuracy else ():
        if name not in table:
            continue
        heading = name.replace("_", " ")
        written = zip(table[accuracy], table[name], shown[heading], strict=True)
        shown[heading] = [
            _apart(value, own) if abs(own - value) < 0.001 and _differ(own, value) else text
            for own, value, text in written
        ]
    return shown


def _differ(one: float, other: float) -> bool:
    return bool(is_above(one, other) or is_above(other, one))


def _apart(value: float, other: float) -> str:
    """A number with three decimals, or more until it is written in another way than the other one."""
    return next(text for digits in range(3, 18) if (text := f"{value:.{digits}f}") != f"{other:.{digits}f}")


def _decimal(value: float) -> str:
    """A number with three decimals, and more if these would show 0 or 1 and it is neither."""
    if 0.9995 <= value < 1:
        shown = (f"{value:.{digits}f}" for digits in range(4, 18))
        return next(text for text in shown if not text.startswith("1"))
    return f"{value + 0.0:.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:.1e}"


def verdict_counts(verdicts: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """How many settings are below, between and above the baselines, by group and in total.

    Also for how many the conclusion is yes, no or unclear; how many are above the standard baseline, and the
    share of these that are not above the maximum one: what the standard baseline alone would have misled
    about. How many guessing alone would put above the maximum baseline; and for how many guessing does as
    well with a probability of at most 0.05, as it is and adjusted for all settings (Benjamini and Hochberg).
    Where the verdicts say what was left out, how many settings have no verdict, all their prompts being left
    out.
    """
    groups = [(key, group) for key, group in verdicts.groupby(by, observed=True, sort=False)]
    groups.append((("total", *[""] * (len(by) - 1)), verdicts))
    return pd.DataFrame(dict(zip(by, key, strict=True)) | _count(group) for key, group in groups)


def _count(group: pd.DataFrame) -> dict[str, object]:
    counts = {position: int((group["position"] == position).sum()) for position in POSITIONS}
    above_standard = counts["between"] + counts["above"]
    share = counts["between"] / above_standard if above_standard else float("nan")
    return {
        "settings": len(group),
        **({"left_out": int(group["position"].isna().sum())} if "left_out" in group else {}),
        **{
            f"better_than_chance_{word}": int((group["better_than_chance"] == word).sum())
            for word in CONCLUSIONS
        },
        **counts,
        "above_standard": above_standard,
        "share_between": share,
        "above_by_guessing": float(group["guessing_above"].sum()),
        "tail_at_most_0.05": int((group["maximum_tail"] <= ALPHA).sum()),
        "adjusted_at_most_0.05": int((group["bh_tail"] <= ALPHA).sum()),
    }


def precision_settings(
    verdicts: pd.DataFrame, accuracy: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """Two precisions of the same model side by side, one row per pair, task and number of shots.

    Parameters
    ----------
    verdicts, accuracy
        The tables of these names.
    pairs
        Two names of each model: that of the higher precision, then that of the lower.

    Returns
    -------
    DataFrame
        The best accuracies and verdicts of both, the ``mean_change`` of the prompts' accuracies
        from the first to the second, and their ``correlation`` over prompts.
    """
    keys = ["task", "shots"]
    parts = []
    for pair in pairs:
        judged = verdicts[verdicts["position"].notna()]
        of_pair = [judged[judged["model"] == model] for model in pair]
        first, second = (table[[*keys, "best_accuracy", "position"]] for table in of_pair)
        both = first.merge(second, on=keys, suffixes=("_first", "_second"))
        same = [accuracy.loc[accuracy["model"] == model, [*keys, "prompt", "accuracy"]] for model in pair]
        each = same[0].merge(same[1], on=[*keys, "prompt"], suffixes=("_first", "_second"))
        part = both.merge(_moved(each, keys), on=keys)
        part.insert(0, "second", pair[1])
        part.insert(0, "first", pair[0])
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _moved(each: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """How accuracies change from one precision to the other, by these keys."""
    rows = []
    for key, group in each.groupby(keys, sort=False):
        first, second = group["accuracy_first"], group["accuracy_second"]
        change = second.mean() - first.mean()
        moved = {"mean_change": change, "correlation": _correlation(first, second)}
        rows.append(dict(zip(keys, key, strict=True)) | moved)
    return pd.DataFrame(rows, columns=[*keys, "mean_change", "correlation"])


def _correlation(first: pd.Series, second: pd.Series) -> float:
    """Pearson's correlation; nan where one does not vary."""
    return float(first.corr(second)) if first.std() > 0 and second.std() > 0 else float("nan")


def precision_summary(settings: pd.DataFrame) -> pd.DataFrame:
    """How verdicts differ between two precisions, one row per pair and number of shots.

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
    return pd.DataFrame(rows, columns=_SUMMARY)


_SUMMARY = [
    *("first", "second", "shots", "settings", "above_standard_first", "between_first"),
    *("above_standard_second", "between_second", "same_verdict", "mean_change_of_best"),
]


def heldout_tables(outcomes: pd.DataFrame, guessers: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Agreement of validation with held-out test: by model, by task and in total.

    Parameters
    ----------
    outcomes
        The table ``outcomes``.
    guessers
        The table ``guessers``.
    """
    most, guessed = most_prompts(outcomes), most_prompts(guessers)
    by_prompts = _beside_guessers(agreement_by_prompts(outcomes), guessers, "asked")
    by = {
        f"heldout_by_{name}": _beside_guessers(agreement(most, [name]), guessed, name)
        for name in ("model", "task")
    }
    return {"heldout_by_prompts": by_prompts, **by, "heldout_difference": difference(most)}


def _beside_guessers(found: pd.DataFrame, guessers: pd.DataFrame, by: str) -> pd.DataFrame:
    """Agreement with what guessers have of it."""
    names, keys = ["accuracy", "auroc", "tail_auroc"], [by, "predictor"]
    beside = of_guessers(guessers, [by])[[*keys, *names]]
    beside = beside.rename(columns={name: f"guessers_{name}" for name in names})
    return found.merge(beside, on=keys, how="left")
