"""How far up the ladder of guessers the best prompt of a setting gets.

A guesser that draws its answers is compared as the paper does: the tail is the probability that the best of
as many guessers as prompts does at least as well. Other guessers always give the same answers. There, the
prompts are compared with the guesser on each example: the differences keep or change their signs together, at
random, and the largest sum over all prompts is taken (``best.selection.sign_flips``). If the guesser cannot
decide between choices, its answer is drawn. If examples form clusters, all guessers but the uniform one are
compared in this way. Both pay for the number of prompts. Uniform guessing is tested first. If the best prompt
beats it, the others are tested, with tails that are adjusted for their number (Holm). Guessers that are no
better than uniform guessing are left out. The best prompt climbs the ladder up to the first guesser that it
does not beat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from abovechance.best.selection import sign_flips
from abovechance.chance.multiplicity import adjusted
from abovechance.chance.verdicts import Verdict, ranked
from abovechance.core.arrays import Floats, Ints, floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.core.resampling import numbered
from abovechance.core.settings import setting_of
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
        All installed ones unless given. Uniform guessing is always the first rung.

    Raises
    ------
    InputError
        If the task lacks an example, or has one twice.
    """
    setting, matrix = setting_of(predictions), ResponseMatrix.from_predictions(predictions)
    situation = _situation(matrix, task, demonstrations, null_predictions)
    ordered = ranked(accuracy_by_prompt(predictions))
    verdict = Verdict.from_prompts(ordered)
    best = int(np.flatnonzero(matrix.prompts == ordered["prompt"].iloc[0])[0])
    clusters, number = numbered(len(situation.task), situation.task["cluster"])
    is_clustered = number < len(situation.task)
    rows = [(UNIFORM.name, verdict.accuracy, verdict.standard_baseline, verdict.maximum_tail)]
    for guesser in all_guessers() if guessers is None else guessers:
        scores = None if guesser is UNIFORM else _scores(guesser, situation, matrix)
        if scores is None:
            continue
        if guesser.draws and not is_clustered:
            accuracy, tail = _of_draws(predictions, ordered, matrix, scores)
        else:
            tail = _of_answers(matrix, scores, clusters, setting.seed(seed, guesser.name))[best]
            of_best = scores if scores.ndim == 1 else scores[best]
            accuracy = float(of_best[matrix.evaluated[best]].mean())
        if accuracy > verdict.standard_baseline + 1e-9:
            rows.append((guesser.name, verdict.accuracy, accuracy, tail))
    names = ["guesser", "best_accuracy", "guesser_accuracy", "guesser_tail"]
    ladder = pd.DataFrame(rows, columns=names).sort_values(
        "guesser_accuracy", kind="stable", ignore_index=True
    )
    # uniform guessing is the first rung; the others are only tested if it is beaten
    tails = ladder["guesser_tail"].to_numpy(dtype=float)
    holm_tails = np.append(tails[:1], adjusted(tails[1:], "holm"))
    beaten = (holm_tails <= ALPHA) & (tails[0] <= ALPHA)
    return setting.label(ladder.assign(guesser_holm_tail=holm_tails, beaten=beaten))


def _situation(
    matrix: ResponseMatrix,
    task: pd.DataFrame,
    demonstrations: Mapping[int, Sequence[str]] | None,
    null_predictions: pd.DataFrame | None,
) -> Situation:
    """Return what guessers know; InputError if the task or the demonstrations lack something."""
    rows = task.set_index(task["example"].astype(str))
    if twice := rows.index[rows.index.duplicated()].tolist():
        raise InputError(f"the task has the example '{twice[0]}' twice; expected one row for each")
    if missing := [example for example in matrix.examples if example not in rows.index]:
        raise InputError(f"the task has no example '{missing[0]}', which predictions have")
    if demonstrations is not None and (lost := {*matrix.prompts.tolist()} - {*demonstrations}):
        raise InputError(f"demonstrations lack the prompt {min(lost)}, which predictions have")
    return Situation(
        rows.loc[[*matrix.examples]].reset_index(drop=True),
        None if demonstrations is None else [demonstrations[int(prompt)] for prompt in matrix.prompts],
        None if null_predictions is None else _null_scores(null_predictions, matrix),
    )


def _scores(guesser: Guesser, situation: Situation, matrix: ResponseMatrix) -> Floats | None:
    """Return a guesser's probabilities, None if it has none here; InputError if they cannot be."""
    try:
        scores = guesser.scores(situation)
        values = None if scores is None else floats(scores)
    except Exception as error:  # users write guessers too
        raise InputError(f"guesser '{guesser.name}': failed with {type(error).__name__}: {error}") from error
    if values is None:
        return None
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


def _of_answers(matrix: ResponseMatrix, scores: Floats, clusters: Ints, seed: int) -> list[float]:
    """(prompts,) the tails of prompts against a guesser that gives the same answers each time.

    Its answers are drawn where it cannot decide.
    """
    differences = np.where(matrix.evaluated, matrix.correct - scores, 0.0)

    def noise(generator: np.random.Generator) -> Floats:
        answers = generator.random(scores.shape[-1]) < scores
        deviations: Floats = np.where(matrix.evaluated, scores - answers, 0.0)
        return deviations

    is_open = bool(((scores > 1e-9) & (scores < 1 - 1e-9)).any())
    return sign_flips(differences, clusters, DRAWS, seed, noise if is_open else None).tolist()


def _of_draws(
    predictions: pd.DataFrame, ordered: pd.DataFrame, matrix: ResponseMatrix, scores: Floats
) -> tuple[float, float]:
    """Return the expected accuracy of a guesser that draws, and the tail of the best of all prompts."""
    row_of, column_of = (
        dict(zip(names, range(len(names)), strict=True)) for names in (matrix.prompts, matrix.examples)
    )
    places = predictions["prompt"].map(row_of), predictions["example"].astype(str).map(column_of)
    chance = np.broadcast_to(scores, matrix.correct.shape)[places]
    of_guesser = accuracy_by_prompt(predictions.assign(chance=chance))
    verdict = Verdict.from_prompts(of_guesser.set_index("prompt").loc[ordered["prompt"]].reset_index())
    return verdict.standard_baseline, verdict.maximum_tail
