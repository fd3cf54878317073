"""The columns of verdicts about the best prompt that later packages compute: ``best`` and ``ladder``."""

from __future__ import annotations

from abovechance.core.columns import Column

SELECTED = {
    "expected_by_luck": Column.share(
        "expected accuracy of the best prompt if all prompts are equally good; their answers to the same "
        "example may still depend on each other"
    ),
    "selection_tail": Column.tail(
        "p-value of the hypothesis that no prompt is better than another; not adjusted for the number of "
        "settings"
    ),
    "debiased_accuracy": Column.share(
        "estimate of the best prompt's true accuracy, corrected for the choice: the best prompt of one half "
        "of the examples is evaluated on the other half, in many random splits"
    ),
    "debiased_low": Column.share(
        "lower end of the 95 % interval of the best prompt's true accuracy, corrected for the choice"
    ),
    "debiased_high": Column.share("upper end of this interval"),
}
CLIMBED = {
    "beaten_guesser": Column.text(
        "the strongest simple guesser that the best prompt beats, together with all weaker ones (table "
        "ladder). The tests are adjusted for the number of prompts and of guessers"
    ),
    "unbeaten_guesser": Column.text(
        "the weakest simple guesser that the best prompt is not shown to beat; missing if it beats all"
    ),
}
