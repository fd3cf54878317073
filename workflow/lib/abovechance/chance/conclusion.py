"""One conclusion per setting: is its best prompt better than chance?

It combines two tests at a significance level of 0.05. The tail of the maximum random baseline compares the
best prompt with the best of as many independent guessers as prompts. The randomization test, if there is one,
also accounts for unbalanced labels, and for dependence between prompts and between examples. If several
settings are tested, p-values are adjusted for their number (Benjamini and Hochberg).

- ``yes``: all tests reject.
- ``no``: neither test rejects; or the best accuracy is at most the standard baseline; or the maximum tail
  does not reject, and the randomization test has no power.
- ``unclear``: only one test rejects; or the maximum tail rejects, and the randomization test has no power;
  or an accuracy is rounded, and the conclusion depends on the unrounded one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from abovechance.chance.multiplicity import adjusted
from abovechance.core.arrays import Floats
from abovechance.core.estimates import ALPHA
from abovechance.core.p_values import equals, probability
from abovechance.core.words import counted

CONCLUSIONS = ("yes", "no", "unclear")


def conclude(
    tail: float, position: str, prompts: int, randomization_tail: float | None = None, name: str = "p"
) -> tuple[str, str]:
    """Return one of ``CONCLUSIONS`` on whether a best prompt is better than chance, and the reason.

    Parameters
    ----------
    tail
        The maximum random baseline's.
    position
        ``below``, ``between`` or ``above`` the baselines.
    prompts
        The number of prompts that were tried.
    randomization_tail
        The randomization test's p-value; nan if it has no power, None if there is no such test.
    name
        The name of p-values in the reason.
    """
    rejects = tail <= ALPHA
    rivals = "one guesser" if prompts == 1 else f"the best of {prompts} guessers"
    value = equals(tail)
    reason = f"{name} {value} against {rivals}"
    if randomization_tail is None:
        return "yes" if rejects else "no", reason
    if math.isnan(randomization_tail):
        return "unclear" if rejects else "no", f"{reason}; the randomization test has no power"
    reason += f"; {name} = {probability(randomization_tail)} in the randomization test"
    if rejects and randomization_tail > ALPHA:
        return "unclear", f"{reason}: label frequencies alone may explain the accuracy"
    if randomization_tail <= ALPHA and not rejects:
        return "no" if position == "below" else "unclear", reason
    return "yes" if rejects else "no", reason


def with_conclusions(table: pd.DataFrame, possible_tails: Sequence[Floats] = ()) -> pd.DataFrame:
    """Return a table of verdicts with the columns ``better_than_chance`` and ``reason``.

    Parameters
    ----------
    table
        One row per setting, with its tails; of several rows, the adjusted ones count (``with_adjusted``).
    possible_tails
        Each (rows,) what ``maximum_tail`` would be for other numbers of correct examples that round to the
        accuracies.
    """
    several = "bh_tail" in table and len(table) > 1
    main = table["bh_tail" if several else "maximum_tail"].to_numpy(dtype=np.float64)
    adjusted_tails = [adjusted(tails, "bh") if several else tails for tails in possible_tails]
    names = ["randomization_bh_tail"] * several + ["randomization_tail"]
    tests = [name for name in names if name in table][:1]
    rows = []
    for place, row in enumerate(table.to_dict("records")):
        randomized = float(row[tests[0]]) if tests else None
        shared: dict[str, Any] = {"randomization_tail": randomized, "name": "adjusted p" if several else "p"}
        position, _, highest = str(row["position"]).partition(" to ")
        word, reason = conclude(main[place], highest or position, row["prompts"], **shared)
        tails = [float(end_tails[place]) for end_tails in adjusted_tails]
        if {conclude(tail, position, row["prompts"], **shared)[0] for tail in tails} - {word}:
            ends = f"between {probability(min(tails))} and {probability(max(tails))}"
            is_rounded = len({float(end_tails[place]) for end_tails in possible_tails}) > 1
            rounded = "the accuracy" if is_rounded else "another accuracy"
            word, reason = "unclear", f"{rounded} is rounded, so {shared['name']} is {ends}"
        rows.append({"better_than_chance": word, "reason": reason})
    return table.assign(**pd.DataFrame(rows, index=table.index, columns=["better_than_chance", "reason"]))


def in_words(table: pd.DataFrame, noun: str = "setting") -> list[str]:
    """Return what a table with conclusions comes to, in a few sentences.

    Parameters
    ----------
    table
        From ``with_conclusions``. Rows without a conclusion do not count. If an accuracy is rounded so that
        several positions are possible, the lowest counts.
    noun
        The noun for a row, such as setting.
    """
    judged = table[table["better_than_chance"].notna()]
    number = len(judged)
    if not number:
        return [f"There is no verdict, because no {noun} has a prompt that was evaluated."]
    yes, unclear = (int((judged["better_than_chance"] == word).sum()) for word in ("yes", "unclear"))
    position = judged["position"].str.partition(" to ")[0]
    above, below = int((position == "above").sum()), int((position == "below").sum())
    maybe = int(judged["position"].str.endswith("to above").sum())
    by_rounding = f" (in {_number(maybe)} more, it depends on rounding)" if maybe else ""
    guessed = float(judged["guessing_above"].sum())
    if number == 1:
        word = {"yes": "is better than chance", "no": "is not shown to be better than chance"}
        row = judged.iloc[0]
        conclusion = word.get(row["better_than_chance"], "is not clearly better than chance")
        return [f"The best score {conclusion} ({row['reason']})."]
    verb = "are" if yes > 1 else "is" if yes else "is shown to be"
    conclusion = f"{_number(yes).capitalize()} of the {number} {noun}s {verb} better than chance"
    sentences = [f"{conclusion}; {unclear} {_is(unclear)} unclear." if unclear else f"{conclusion}."]
    sentences.append(
        f"The best prompt is above the standard random baseline in {_number(number - below)} of them, and "
        f"above the maximum random baseline in {_number(above)}{by_rounding}. Guessing alone would be above "
        f"the maximum random baseline in about {guessed:.1f}."
    )
    low, adjusted_low = (int((judged[tail] <= ALPHA).sum()) for tail in ("maximum_tail", "bh_tail"))
    sentences.append(
        f"{_counted(low, noun)} {'has' if low == 1 else 'have'} p <= {ALPHA} without correction. After the "
        f"Benjamini-Hochberg correction for {number} comparisons, {_number(adjusted_low)} "
        f"{'has' if adjusted_low < 2 else 'have'} p <= {ALPHA}."
    )
    if "randomization_tail" in judged:
        low, adjusted_low, unknown = (
            int((judged["randomization_tail"] <= ALPHA).sum()),
            int((judged["randomization_bh_tail"] <= ALPHA).sum()),
            int(judged["randomization_tail"].isna().sum()),
        )
        sentences.append(
            "The randomization test keeps label frequencies and the dependence between prompts. In this "
            f"test, {_counted(low, noun).lower()} {'has' if low == 1 else 'have'} p <= {ALPHA} without "
            f"correction, and {_number(adjusted_low)} after correction."
        )
        if unknown:
            sentences.append(f"The randomization test has no power in {_counted(unknown, noun)}.")
    return sentences


def _counted(number: int, noun: str) -> str:
    return counted(number, noun) if number else f"No {noun}s"


def _number(number: int) -> str:
    return str(number) if number else "none"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
