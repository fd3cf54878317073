"""The columns of verdicts about luck in the choice of the best prompt; ``best`` computes them."""

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
