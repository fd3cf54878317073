"""Continuous scores of multiple choice, from log-likelihoods (Madaan et al., 2024, Section 2)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.core.arrays import floats
from abovechance.core.errors import InputError
from abovechance.pvi.pointwise import any_of, over_choices

NEEDED = ("example", "choice", "logprob", "right")


def continuous(table: pd.DataFrame) -> pd.DataFrame:
    """Return continuous scores of the answers of each example, in addition to the choice.

    Parameters
    ----------
    table
        A row for each choice of each example: ``example``; ``choice``; ``logprob``, its log-likelihood in
        nats; ``right``, whether it is correct; as far as they are known ``tokens`` and ``bytes``, its length.

    Returns
    -------
    DataFrame
        One row an example: ``example``; the probabilities of the ``correct`` answers and of the ``predicted``
        one (that of the highest), given that the answer is one of the choices; ``nll``, the negative
        log-likelihood of the correct answer in nats, and ``nll_token`` and ``nll_byte``, the same divided by
        its length. Of several correct answers, each of the three is the lowest.
    """
    if lacks := [name for name in NEEDED if name not in table]:
        raise InputError(f"the table lacks the column '{lacks[0]}'; expected {', '.join(NEEDED)}")
    if (missing := table[["example", "choice"]].isna()).any(axis=None):
        place = int(missing.any(axis=1).to_numpy().argmax())
        column = missing.columns[missing.iloc[place]][0]
        raise InputError(f"row {place} has no {column}; expected its name or number in each row")
    if (twice := table.duplicated(["example", "choice"])).any():
        row = table[twice].iloc[0]
        raise InputError(
            f"choice {row['choice']} of example '{row['example']}' stands twice; expected once, of one prompt"
        )
    if not table["right"].isin([True, False]).all():
        raise InputError("the column 'right' has other values than true and false")
    if not (table["logprob"] <= 1e-6).all():  # above 0 by rounding, at most
        row = table[~(table["logprob"] <= 1e-6)].iloc[0]
        raise InputError(
            f"choice {row['choice']} of example '{row['example']}': logprob is {row['logprob']:g}; expected "
            "a number up to 0"
        )
    rows = table.sort_values(["example", "choice"], kind="stable", ignore_index=True)
    starts = np.flatnonzero(np.diff(pd.factorize(rows["example"])[0], prepend=-1))
    logprobs, correct = rows["logprob"].to_numpy(dtype=float), rows["right"].to_numpy(dtype=bool)
    if not np.logical_or.reduceat(correct, starts).all():
        place = starts[np.logical_or.reduceat(correct, starts).argmin()]
        raise InputError(f"example '{rows['example'].iloc[place]}' has no correct choice; expected one")
    over_choices_logprobs = over_choices(logprobs, starts)
    nll = np.minimum.reduceat(np.where(correct, -logprobs, np.inf), starts)
    scores = pd.DataFrame(
        {
            "example": rows["example"].to_numpy()[starts],
            "correct": np.exp(any_of(over_choices_logprobs, starts, correct)),
            "predicted": np.exp(np.maximum.reduceat(over_choices_logprobs, starts)),
            "nll": nll,
        }
    )
    for length in ("tokens", "bytes"):
        if length in rows:
            lengths = floats(rows[length])
            if (empty := correct & (lengths <= 0)).any():
                example = rows["example"][empty].iloc[0]
                raise InputError(f"a correct choice of example '{example}' has 0 {length}; expected more")
            by_length = np.full(len(rows), np.inf)
            by_length[correct] = -logprobs[correct] / lengths[correct]
            scores[f"nll_{length[:-1]}"] = np.minimum.reduceat(by_length, starts)
    return scores
