"""How far up the ladder of guessers the best prompt of a setting gets.

A guesser that draws its answers is compared as the paper does: the tail is the probability that the best of
as many guessers as prompts does at least as well. Other guessers always give the same answers. There, the
prompts are compared with the guesser on each example: the differences keep or change their signs together, at
random, and the largest sum over all prompts is taken (``best.selection.sign_flips``). Both pay for the number
of prompts. Uniform guessing is tested first. If the best prompt beats it, the others are tested, with tails
that are adjusted for their number (Holm). Guessers that are no better than uniform guessing are left out. The
best prompt climbs the ladder up to the first guesser that it does not beat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from abovechance.best.selection import sign_flips
from abovechance.chance.best_prompt import CLIMBED
from abovechance.chance.multiplicity import adjusted
from abovechance.chance.verdicts import Verdict, ranked
from abovechance.core.arrays import Floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.core.settings import SETTING, Setting, by_setting, setting_of
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.ladder.guessers import UNIFORM, Guesser, Situation, all_guessers
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.results.response_matrix import ResponseMatrix

LADDER = TableSchema(
    "ladder",
    {
        **setting_columns(),
        "guesser": Column.text("name of the guesser"),
        "best_accuracy": Column.share("accuracy of the best prompt"),
        "guesser_accuracy": Column.share("expected accuracy of the guesser on the best prompt's examples"),
        "guesser_tail": Column.tail(
            "p-value of the hypothesis that no prompt is better than the guesser, for the best prompt; "
            "adjusted for the number of prompts"
        ),
        "guesser_holm_tail": Column.tail(
            "guesser_tail, also adjusted for the number of guessers (Holm). Uniform guessing is tested "
            "first, so its tail is not adjusted"
        ),
        "beaten": Column.flag(
            "whether guesser_holm_tail is at most 0.05, for this guesser and for uniform guessing"
        ),
    },
    "One row per setting and guesser, the weakest guesser first. Guessers that are not defined for a task, "
    "or not better than uniform guessing there, are left out.",
    file="ladder/<model>.parquet, tables/ladder",
)
DRAWS = 10_000  # random signs


def climb(
    predictions: pd.DataFrame,
    task: pd.DataFrame,
    demonstrations: Mapping[int, Sequence[str]] | None = None,
    null_predictions: pd.DataFrame | None = None,
    seed: int = 0,
    guessers: Sequence[Guesser] | None = None,
) -> pd.DataFrame:
    """Compare the best prompt of one setting with all guessers: the table ``ladder``.

    Parameters
    ----------
    predictions
        The setting's rows of the table ``predictions``.
    task
        The table ``tasks`` of its task.
    demonstrations
        {prompt: labels of its demonstrations}, if they are known.
    null_predictions
        The predictions of the same prompts without the questions, if there are some: ``prompt``, ``example``
        and ``correct``.
    seed
        Decides the random signs.
    guessers
        All installed ones unless given.

    Raises
    ------
    InputError
        If the task lacks an example.
    """
    setting = setting_of(predictions)
    matrix = ResponseMatrix.from_predictions(predictions)
    rows = task.set_index(task["example"].astype(str))
    if missing := [example for example in matrix.examples if example not in rows.index]:
        raise InputError(f"task '{setting.task}' has no example '{missing[0]}', which predictions have")
    if demonstrations is not None and (lost := {*matrix.prompts.tolist()} - {*demonstrations}):
        raise InputError(f"demonstrations lack the prompt {min(lost)}, which predictions have")
    situation = Situation(
        rows.loc[[*matrix.examples]].reset_index(drop=True),
        None if demonstrations is None else [demonstrations[int(prompt)] for prompt in matrix.prompts],
        None if null_predictions is None else _null_scores(null_predictions, matrix),
    )
    ordered = ranked(accuracy_by_prompt(predictions))
    verdict = Verdict.from_prompts(ordered)
    best = int(np.flatnonzero(matrix.prompts == ordered["prompt"].iloc[0])[0])
    table = []
    for guesser in all_guessers() if guessers is None else guessers:
        scores = matrix.chance if guesser is UNIFORM else guesser.scores(situation)
        if scores is None:
            continue
        if guesser is not UNIFORM:
            scores = _checked(scores, guesser, matrix)
        if guesser.draws:
            accuracy, tail = _of_draws(guesser, predictions, ordered, matrix, scores)
        else:
            differences = np.where(matrix.evaluated, matrix.correct - scores, 0.0)
            clusters = pd.factorize(situation.task["cluster"])[0]
            tail = float(sign_flips(differences, clusters, DRAWS, setting.seed(seed, guesser.name))[best])
            of_best = scores if scores.ndim == 1 else scores[best]
            accuracy = float(of_best[matrix.evaluated[best]].mean())
        table.append((guesser.name, verdict.accuracy, accuracy, tail))
    result = pd.DataFrame(table, columns=["guesser", "best_accuracy", "guesser_accuracy", "guesser_tail"])
    uniform = result.loc[result["guesser"] == UNIFORM.name, "guesser_accuracy"].max()
    worse = (result["guesser_accuracy"] <= uniform + 1e-9) & (result["guesser"] != UNIFORM.name)
    result = result[~worse].sort_values("guesser_accuracy", kind="stable", ignore_index=True)
    is_uniform = (result["guesser"] == UNIFORM.name).to_numpy()
    tails = result["guesser_tail"].to_numpy(dtype=float)
    holm_tails = tails.copy()
    holm_tails[~is_uniform] = adjusted(tails[~is_uniform], "holm")
    # the others are only tested if uniform guessing is beaten
    beaten = (holm_tails <= ALPHA) & (tails[is_uniform] <= ALPHA).all()
    return setting.label(result.assign(guesser_holm_tail=holm_tails, beaten=beaten))


def _checked(scores: Floats, guesser: Guesser, matrix: ResponseMatrix) -> Floats:
    """Return a guesser's probabilities as numbers; InputError if they cannot be."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape not in (matrix.correct.shape[1:], matrix.correct.shape):
        raise InputError(
            f"guesser '{guesser.name}': returned the shape {values.shape}; expected one number for each "
            f"of the {matrix.correct.shape[1]} examples"
        )
    if not ((values >= 0) & (values <= 1 + 1e-9)).all():
        raise InputError(f"guesser '{guesser.name}': expected probabilities from 0 to 1")
    return values


def _null_scores(null_predictions: pd.DataFrame, matrix: ResponseMatrix) -> Floats:
    """(prompts, examples) whether a prompt without the question is correct; 0 where it is not evaluated."""
    table = null_predictions.assign(example=null_predictions["example"].astype(str))
    correct = table.pivot(index="prompt", columns="example", values="correct")
    return correct.reindex(index=matrix.prompts, columns=matrix.examples).to_numpy(dtype=float, na_value=0.0)


def _of_draws(
    guesser: Guesser, predictions: pd.DataFrame, ordered: pd.DataFrame, matrix: ResponseMatrix, scores: Floats
) -> tuple[float, float]:
    """Return the expected accuracy of a guesser that draws, and the tail of the best of all prompts."""
    if guesser is not UNIFORM:
        chance = predictions["example"].astype(str).map(dict(zip(matrix.examples, scores, strict=True)))
        of_guesser = accuracy_by_prompt(predictions.assign(chance=chance.to_numpy(dtype=float)))
        ordered = of_guesser.set_index("prompt").loc[ordered["prompt"]].reset_index()
    verdict = Verdict.from_prompts(ordered)
    return verdict.standard_baseline, verdict.maximum_tail


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
