"""The PVI of every example under every prompt of a study, from its stored scores."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.pvi.pointwise import ROUNDING, any_of, bits, over_choices, to_decimals
from abovechance.results.predictions import with_truth

PVI = TableSchema(
    "pvi",
    {
        **setting_columns(many=True),
        "prompt": Column.whole("number of the prompt, from 0"),
        "example": Column.category("id of the example"),
        "label": Column.category("the correct choices, with ' / ' between them"),
        "null_bits": Column.number("-log2 of the answer's probability without the input", "bits"),
        "bits": Column.number("-log2 of the answer's probability with the input", "bits"),
        "pvi": Column.number("pointwise V-usable information: null_bits minus bits", "bits"),
        "rival": Column.category("the wrong choice that the input favours most"),
        "rival_pvi": Column.number("PVI of the choice in rival", "bits"),
        "correct": Column.flag("whether the prediction is correct; false for ties"),
        "tie": Column.flag("whether a correct and a wrong choice share the highest score"),
    },
    "One row per prompt and example.",
    file="pvi/<model>.parquet",
)
VOCABULARY, CHOICES = "vocabulary", "choices"  # of what answers' probabilities are


def of_scores(
    scores: pd.DataFrame,
    null_scores: pd.DataFrame,
    task: pd.DataFrame,
    predictions: pd.DataFrame,
    over: str = VOCABULARY,
) -> pd.DataFrame:
    """Return the table ``pvi`` of one scored setting, without the setting's columns.

    An answer's probability is that of its tokens after the prompt, of the whole vocabulary as in the paper,
    or, ``over`` the choices, given that the answer is one of them. Where several choices are correct, the
    answer is any of them.

    Parameters
    ----------
    scores, null_scores
        The tables ``scores`` of the setting, and of its null-target prompts.
    task
        The table ``tasks`` of its task.
    predictions
        The table ``predictions`` of the setting.

    Returns
    -------
    DataFrame
        (prompts x examples,) the columns of the table ``pvi``, without those of the setting.

    Raises
    ------
    InputError
        If the null-target prompts lack a score, or the probabilities of correct choices add up to more than
        1.
    """
    table = with_truth(scores, task).merge(
        null_scores[[*ROW, "logprob"]], on=ROW, how="left", suffixes=("", "_null"), validate="one_to_one"
    )
    if (lacking := table["logprob_null"].isna()).any():
        prompt, example, choice = table.loc[lacking, ROW].iloc[0]
        raise InputError(
            f"null-target prompt {prompt} has no score of example '{example}', choice {choice}; expected "
            "scores of both prompts of the same study"
        )
    examples = _by_example(table, over)
    labels, every = labels_of(task).to_dict(), dict(zip(task["example"], task["labels"], strict=True))
    examples["label"] = [labels[example] for example in examples["example"]]
    examples["rival"] = [
        None if number < 0 else every[example][number]
        for example, number in zip(examples["example"], examples["rival"], strict=True)
    ]
    return examples.merge(
        predictions[["prompt", "example", "correct", "tie"]], on=["prompt", "example"], how="left"
    )


def labels_of(task: pd.DataFrame) -> pd.Series[str]:
    """Return the correct choice of each example; several are separated by a slash."""
    columns = (task[name] for name in ("labels", "correct"))
    labels = [
        " / ".join(np.asarray(choices)[np.asarray(correct)])
        for choices, correct in zip(*columns, strict=True)
    ]
    return pd.Series(labels, task["example"].astype(str).to_numpy())


def of_likelihoods(likelihoods: pd.DataFrame, null: pd.DataFrame, over: str = VOCABULARY) -> pd.DataFrame:
    """Return the same from the log-likelihoods of another tool's run with inputs, and of one without.

    Parameters
    ----------
    likelihoods, null
        The tables ``likelihoods`` of both runs, of one prompt each: ``example``, ``choice``, ``right`` and
        ``logprob``. What is right is taken from the first.

    Returns
    -------
    DataFrame
        (examples,) the columns of the table ``pvi`` but for those of the setting, the label and
        ``correct``; the rival by its number.

    Raises
    ------
    InputError
        If the runs are not of the same examples, choices and labels, or an answer is impossible in both, or
        the probabilities of correct choices add up to more than 1.
    """
    keys = ["example", "choice"]
    if {"characters", "bytes", "right"} <= {*likelihoods} & {*null}:
        _check_same(likelihoods, null, keys)
    first, second = (table.assign(example=table["example"].astype(str)) for table in (likelihoods, null))
    merged = first.merge(
        second[[*keys, "logprob"]], on=keys, how="outer", suffixes=("", "_null"), indicator=True
    )
    if (alone := merged["_merge"] != "both").any():
        row = merged[alone].iloc[0]
        has = "with inputs" if row["_merge"] == "left_only" else "without inputs"
        raise InputError(
            f"example '{row['example']}', choice {row['choice']} is in the run {has} alone; expected "
            "two runs of the same examples"
        )
    measured = _by_example(merged.assign(prompt=0), over)
    if (never := measured["pvi"].isna()).any():
        example = measured.loc[never, "example"].iloc[0]
        raise InputError(f"example '{example}': its answer is impossible with the input and without")
    return measured


def _check_same(likelihoods: pd.DataFrame, null: pd.DataFrame, keys: list[str]) -> None:
    """Raise InputError where a choice is correct in one run alone, or has another length."""
    merged = likelihoods.astype({"example": str}).merge(
        null.astype({"example": str}), on=keys, suffixes=("", "_null"), validate="one_to_one"
    )
    for name, noun in (("right", "correct"), ("characters", "characters"), ("bytes", "bytes")):
        values, null_values = merged[name], merged[f"{name}_null"]
        if (differs := values.notna() & null_values.notna() & (values != null_values)).any():
            row = merged[differs].iloc[0]
            problem = "is correct in one run and wrong in the other"
            raise InputError(
                f"example '{row['example']}', choice {row['choice']}: "
                + (
                    problem
                    if name == "right"
                    else f"has {row[name]:g} {noun} in one run, {row[f'{name}_null']:g} in the other"
                )
                + "; expected two runs of the same examples, choices and labels"
            )


def _by_example(table: pd.DataFrame, over: str) -> pd.DataFrame:
    """Return one row for each prompt and example, from one for each of its choices."""
    table = table.sort_values(ROW, kind="stable", ignore_index=True)
    changed = (table[["prompt", "example"]] != table[["prompt", "example"]].shift()).any(axis=1)
    starts = np.flatnonzero(changed.to_numpy())
    result = table.loc[starts, ["prompt", "example"]].reset_index(drop=True)
    null, logprobs = (table[name].to_numpy(dtype=float) for name in ("logprob_null", "logprob"))
    correct = table["right"].to_numpy(dtype=bool)
    for words, values in (("with", logprobs), ("without", null)):
        _check_possible(
            np.maximum.reduceat(values, starts), result["example"], "most likely choice has", words
        )
        if over == VOCABULARY:
            answers = any_of(values, starts, correct)
            _check_possible(answers, result["example"], "correct choices have", words)
    return result.assign(**_measured(null, logprobs, correct, starts, over))


def _check_possible(answers: Floats, examples: pd.Series, subject: str, words: str) -> None:
    """Raise InputError if some of an example's choices have log-likelihoods that no texts can have."""
    if (impossible := answers > ROUNDING).any():
        place = int(impossible.argmax())
        raise InputError(
            f"example '{examples.iloc[place]}': its {subject} the probability "
            f"{np.exp(answers[place]):.4g} {words} the input; expected at most 1, from the "
            "log-likelihoods of texts"
        )


ROW = ["prompt", "example", "choice"]


def _measured(
    null: Floats, logprob: Floats, correct: Bools, starts: Ints, over: str
) -> dict[str, np.ndarray]:
    """Return the numbers of each example from those of its choices, one example's after another's."""
    if over == CHOICES:
        null, logprob = over_choices(null, starts), over_choices(logprob, starts)
    null_bits, own_bits = (bits(any_of(logprobs, starts, correct)) for logprobs in (null, logprob))
    with np.errstate(invalid="ignore"):  # what is impossible either way
        gains, pvi = to_decimals((logprob - null) / np.log(2)), to_decimals(null_bits - own_bits)
    gains = np.where(correct | np.isnan(gains), -np.inf, gains)
    largest_gains = np.maximum.reduceat(gains, starts)
    sizes = np.diff(starts, append=len(gains))
    places = np.where(gains == np.repeat(largest_gains, sizes), np.arange(len(gains)), len(gains))
    rival = np.where(np.isfinite(largest_gains), np.minimum.reduceat(places, starts) - starts, -1)
    return {
        "null_bits": null_bits,
        "bits": own_bits,
        "pvi": pvi,
        "rival": rival,
        "rival_pvi": np.where(np.isfinite(largest_gains), largest_gains, np.nan),
    }
