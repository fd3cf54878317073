"""The ladders of all settings of a study, their columns in verdicts, and counts for each guesser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd

from abovechance.chance.best_prompt import CLIMBED
from abovechance.core.columns import Column
from abovechance.core.settings import SETTING, Setting, by_setting, setting_of
from abovechance.core.tables import TableSchema
from abovechance.ladder.climbing import LADDER, climb
from abovechance.ladder.guessers import UNIFORM, all_guessers


def ladders(
    settings: Iterable[pd.DataFrame],
    tasks: Mapping[str, pd.DataFrame],
    prompts: Mapping[tuple[str, int], pd.DataFrame],
    seed: int,
    null_predictions: Callable[[Setting], pd.DataFrame | None] = lambda _: None,
) -> pd.DataFrame:
    """Return the table ``ladder`` of several settings.

    Parameters
    ----------
    settings
        The predictions of one setting after another.
    tasks
        {task: its table ``tasks``}.
    prompts
        {(task, shots): the table ``prompts``}, as far as it is known.
    null_predictions
        Returns the argument of this name of ``climb`` for a setting.
    """
    tables = []
    for predictions in settings:
        setting = setting_of(predictions)
        task = tasks[setting.task]
        if not {*predictions["example"].astype(str)} <= {*task["example"].astype(str)}:
            continue  # results of other tools need not have the choices
        table = prompts.get((setting.task, setting.shots))
        demonstrations = None if table is None else labels_of_prompts(table, task)
        tables.append(climb(predictions, task, demonstrations, null_predictions(setting), seed))
    return LADDER.together(tables)


def labels_of_prompts(prompts: pd.DataFrame, task: pd.DataFrame) -> dict[int, list[str]]:
    """{prompt: the labels of its demonstrations, the first correct choice of each}."""
    labels = {
        example: choices[[*flags].index(True)]
        for example, choices, flags in zip(
            task["example"], map(list, task["choices"]), task["correct"], strict=True
        )
    }
    return {
        int(prompt): [labels[example] for example in demonstrations]
        for prompt, demonstrations in zip(prompts["prompt"], prompts["demonstrations"], strict=True)
    }


def for_verdicts(ladder: pd.DataFrame) -> pd.DataFrame:
    """Return the columns ``CLIMBED`` of verdicts: one row per setting."""
    rows = []
    for setting, guessers in by_setting(ladder):
        names = guessers["guesser"].tolist()
        rungs = int(np.logical_and.accumulate(guessers["beaten"].to_numpy(dtype=bool)).sum())
        rows.append(
            {
                **setting._asdict(),
                "beaten_guesser": names[rungs - 1] if rungs else None,
                "unbeaten_guesser": names[rungs] if rungs < len(names) else None,
            }
        )
    return pd.DataFrame(rows, columns=[*SETTING, *CLIMBED])


LADDER_GUESSERS = TableSchema(
    "ladder_guessers",
    {
        "guesser": Column.text("name of the guesser"),
        "guesses": Column.text("what the guesser does"),
        "settings": Column.whole("number of settings in which the guesser is better than uniform guessing"),
        "guesser_accuracy": Column.share("mean accuracy of the guesser in these settings"),
        "uniform_accuracy": Column.share("mean accuracy of uniform guessing in the same settings"),
        "beaten": Column.whole("number of settings in which the best prompt beats the guesser"),
        "better": Column.whole("number of these settings that are better than chance"),
        "better_beaten": Column.whole(
            "number of settings that are better than chance and in which the best prompt beats the guesser"
        ),
        "above": Column.whole("number of these settings above both baselines (not a test)"),
        "above_beaten": Column.whole(
            "number of settings above both baselines in which the best prompt beats the guesser"
        ),
    },
    "One row per guesser, uniform guessing first, then by how far a guesser is above it on average.",
)


def guesser_counts(ladder: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return in how many settings each guesser is beaten: the table ``ladder_guessers``.

    Parameters
    ----------
    ladder, verdicts
        The tables ``ladder`` and ``verdicts`` of all settings.
    """
    judged = verdicts[[*SETTING, "better_than_chance", "position"]]
    table = ladder.merge(judged, on=SETTING, how="left")
    uniform = table.loc[table["guesser"] == UNIFORM.name, [*SETTING, "guesser_accuracy"]]
    table = table.merge(
        uniform.rename(columns={"guesser_accuracy": "uniform_accuracy"}), on=SETTING, how="left"
    )
    captions = {guesser.name: guesser.caption for guesser in all_guessers()}
    rows = []
    for name, group in table.groupby("guesser", sort=False, observed=True):
        better, above = group["better_than_chance"] == "yes", group["position"] == "above"
        beaten = group["beaten"].astype(bool)
        rows.append(
            {
                "guesser": name,
                "guesses": captions.get(str(name), ""),
                "settings": len(group),
                "guesser_accuracy": float(group["guesser_accuracy"].mean()),
                "uniform_accuracy": float(group["uniform_accuracy"].mean()),
                "beaten": int(beaten.sum()),
                "better": int(better.sum()),
                "better_beaten": int((better & beaten).sum()),
                "above": int(above.sum()),
                "above_beaten": int((above & beaten).sum()),
            }
        )
    counts = pd.DataFrame(rows, columns=[*LADDER_GUESSERS.columns])
    lead = counts["guesser_accuracy"] - counts["uniform_accuracy"]
    return counts.iloc[np.argsort(lead.to_numpy(dtype=float), kind="stable")].reset_index(drop=True)
