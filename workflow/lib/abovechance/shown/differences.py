"""Differences between two runs of a study: on another machine, with other threads, another version.

Scores of the same model and texts differ by rounding where they are computed in another order, and
predictions where two choices are as good as equal. What people want to know is whether verdicts do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.reading import read_yaml
from abovechance.core.settings import SETTING, Setting
from abovechance.core.tables import read_made_from, read_part, read_table, settings_of_parts
from abovechance.core.words import counted
from abovechance.results.imported import names_of_prompts
from abovechance.study.config_file import predictions_files

Place = tuple[Path, int]
VERDICT_COLUMNS = ("best_accuracy", "maximum_tail", "position", "better_than_chance")


def differences(first: Path, second: Path) -> pd.DataFrame:
    """Return how the results of two studies differ.

    Parameters
    ----------
    first, second
        The studies' folders.

    Returns
    -------
    DataFrame
        One row for each setting of either: ``model``, ``task``, ``shots``; how many ``prompts`` both have
        with the same texts, and how many ``other_prompts`` only one has; of the first, ``predictions``, how
        many of ``of_predictions`` differ, how many ``other_predictions`` of these prompts are of examples
        that only one has, and ``drift``, the greatest difference of a choice's log-likelihood
        in nats, missing where scores are not there; and of each study, ``best_accuracy``, ``maximum_tail``
        ``position`` and ``better_than_chance``, missing where it lacks the setting.

    Raises
    ------
    InputError
        If a folder is no study's, or a file in it is damaged.
    """
    verdicts = [_verdicts(study) for study in (first, second)]
    table = verdicts[0].merge(
        verdicts[1], on=SETTING, how="outer", suffixes=("_first", "_second"), sort=False
    )
    places = [_places(study) for study in (first, second)]
    rows = []
    for verdict in table.to_dict("records"):
        setting = Setting(*(verdict[name] for name in SETTING))
        names = ("prompts", "other_prompts", "predictions", "of_predictions", "other_predictions")
        counts = dict.fromkeys(names, 0)
        row: dict[str, Any] = {**setting._asdict(), **counts, "drift": np.nan}
        if all(setting in setting_places for setting_places in places):
            row |= _compared(setting, first, second, places[0][setting], places[1][setting])
        rows.append(row | {name: verdict[name] for name in verdict if name not in SETTING})
    return pd.DataFrame(rows)


def differ(table: pd.DataFrame) -> pd.Series[bool]:
    """(rows,) whether settings differ in position or conclusion, or a study lacks one or its predictions."""
    changed = table["of_predictions"] == 0
    for name in ("position", "better_than_chance"):
        changed |= table[f"{name}_first"].fillna("") != table[f"{name}_second"].fillna("")
    return changed


def in_words(table: pd.DataFrame) -> str:
    """Summarize ``differences`` in sentences."""
    compared = table[table["of_predictions"] > 0]
    if compared.empty:
        return "No setting has a prediction of the same prompt and example in both studies."
    lacking, changed = len(table) - len(compared), int(differ(compared).sum())
    sums = {
        name: int(compared[name].sum())
        for name in ("prompts", "other_prompts", "predictions", "of_predictions", "other_predictions")
    }
    sentences = [
        f"Both studies have {counted(len(compared), 'setting')}, with {counted(sums['prompts'], 'prompt')} "
        "in common.",
        f"Predictions that differ: {sums['predictions']} of {sums['of_predictions']}.",
    ]
    if sums["other_prompts"]:
        sentences.append(f"Not compared: {counted(sums['other_prompts'], 'prompt')} that one study lacks.")
    if sums["other_predictions"]:
        sentences.append(
            f"Not compared: {counted(sums['other_predictions'], 'prediction')} of these prompts, on examples "
            "that one study lacks."
        )
    if compared["drift"].notna().any():
        sentences.append(f"Log-likelihoods differ by at most {compared['drift'].max():.2g} nats.")
    verdicts = counted(changed, "verdict") if changed else "No verdict"
    sentences.append(f"{verdicts} {'differ' if changed > 1 else 'differs'}.")
    if lacking:
        sentences.append(
            f"{counted(lacking, 'setting')} cannot be compared: one study lacks the setting, or its prompts "
            "or examples."
        )
    return " ".join(sentences)


def _verdicts(study: Path) -> pd.DataFrame:
    path = study / "tables" / "verdicts.parquet"
    if not path.is_file():
        problem = "has no tables/verdicts.parquet" if study.is_dir() else "there is no such folder"
        raise InputError(f"{study}: {problem}; expected a study's folder, results/<study>")
    table = read_table(path)
    if missing := {*SETTING, *VERDICT_COLUMNS} - set(table.columns):
        raise InputError(f"{path}: lacks the column '{min(missing)}'; expected the workflow's own file")
    return table[[*SETTING, *VERDICT_COLUMNS]]


def _places(study: Path) -> dict[Setting, Place]:
    """Return, for each setting, the file of a study's predictions and the part of it."""
    return {
        setting: (path, number)
        for path in predictions_files(study)
        for number, setting in enumerate(settings_of_parts(path))
    }


def _compared(
    setting: Setting, first: Path, second: Path, first_place: Place, second_place: Place
) -> dict[str, Any]:
    """Return the counts of a setting that both studies have."""
    name = Path(setting.model, setting.task, f"{setting.shots}-shot.parquet")
    scores = [_scores_of(study) / name for study in (first, second)]
    tables = [read_part(*place) for place in (first_place, second_place)]
    if scores[0].is_file() != scores[1].is_file():
        lacks = scores[int(scores[0].is_file())]
        raise InputError(
            f"{lacks}: file not found. Scores identify prompts, so either both studies must have scores, or "
            "neither"
        )
    names = [names_of_prompts(path).get(setting.words, []) for path, _ in (first_place, second_place)]
    numbers = [_numbers(*study) for study in zip(scores, tables, names, strict=True)]
    # {prompt of the second: the same one of the first}
    same_prompts = {numbers[1][key]: number for key, number in numbers[0].items() if key in numbers[1]}
    pairs = _joined(tables[0], tables[1], same_prompts, ["example"])
    sizes = [
        int(table["prompt"].isin(numbers).sum())
        for table, numbers in zip(tables, (list(same_prompts.values()), list(same_prompts)), strict=True)
    ]
    unequal = (pairs["predicted"] != pairs["predicted_other"]) | (pairs["correct"] != pairs["correct_other"])
    drift = np.nan
    if same_prompts and all(path.is_file() for path in scores):
        joined = _joined(read_table(scores[0]), read_table(scores[1]), same_prompts, ["example", "choice"])
        drift = float((joined["logprob"] - joined["logprob_other"]).abs().max())
    return {
        "prompts": len(same_prompts),
        "other_prompts": len(set(numbers[0]) ^ set(numbers[1])),
        "predictions": int(unequal.sum()),
        "of_predictions": len(pairs),
        "other_predictions": sum(sizes) - 2 * len(pairs),
        "drift": drift,
    }


def _scores_of(study: Path) -> Path:
    """Return the folder of a study's scores: its own, or those that it started from."""
    config = study / "config.yaml"
    if (study / "scores").is_dir() or not config.is_file():
        return study / "scores"
    if (stored := read_yaml(config).get("stored")) is None:
        return study / "scores"
    # relative to the folder of the study's results/<study>, not to the current one
    homes = [study.absolute().parents[1], study.resolve().parents[1]]  # results may be a link
    places = [home / str(stored) / "scores" for home in homes]
    scores = next((place for place in places if place.is_dir()), None)
    if scores is None:
        raise InputError(
            f"{config}: key 'stored': {places[0]} does not exist; expected the scores that the study starts "
            "from, because they identify its prompts"
        )
    return scores


def _numbers(scores: Path, predictions: pd.DataFrame, names: Sequence[str]) -> dict[object, int]:
    """{what identifies a prompt: its number}: a digest of its texts; without scores, its name or number."""
    if not scores.is_file():
        name_of = dict(enumerate(names))
        return {name_of.get(number, number): number for number in predictions["prompt"].unique().tolist()}
    return {entry["key"]: number for number, entry in enumerate(read_made_from(scores)["prompts"])}


def _joined(
    first: pd.DataFrame, second: pd.DataFrame, numbers: dict[int, int], on: list[str]
) -> pd.DataFrame:
    """Rows of both, of the same prompts, side by side."""
    second = second[second["prompt"].isin(list(numbers))]
    second = second.assign(prompt=second["prompt"].map(numbers))
    return first.merge(second, on=["prompt", *on], suffixes=("", "_other"))
