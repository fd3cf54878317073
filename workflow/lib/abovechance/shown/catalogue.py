"""What a study shows: every table and figure by name, with what the report says of it.

The workflow's rules make what is listed, the report shows it in the order of the lists, and a job that
writes other names than these is an error. Light, since each job of a study reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

from abovechance.core.files import file_name

TABLE_SUFFIXES = ("csv", "md", "tex")
FIGURE_SUFFIXES = ("pdf", "png", "csv")


@dataclass(frozen=True)
class ShownTable:
    """A table: its file's name, and where it is a section of the report, its heading and text."""

    name: str
    title: str = ""
    text: str = ""


@dataclass(frozen=True)
class ShownFigure:
    """A figure: its files' name, its heading and its caption."""

    name: str
    title: str
    caption: str


VERDICTS = [ShownTable("verdicts"), ShownTable("verdict_counts")]
LEFT_OUT = [
    ShownTable(
        "left_out",
        "Prompts that were left out",
        "Prompts longer than the model's context: how many of the prompts that were drawn, and the tokens of "
        "the longest. They are not among the prompts tried; a setting of which all were left out has no "
        "verdict.",
    )
]
HELDOUT = [
    *(ShownTable(f"heldout_by_{by}") for by in ("prompts", "model", "task")),
    ShownTable(
        "heldout_difference",
        "Which baseline foresees held-out results better",
        "Of choices from the most prompts: the share of decisions that were right (accuracy), and the areas "
        "under the ROC curve of the decision and of the tail probability as a score. Splits of one setting, "
        "and settings of one task, are not independent, so the 95 % interval of the difference is from "
        "resampling tasks; with fewer than five tasks there is none.",
    ),
]
PRECISION = [
    ShownTable(
        "precision_summary",
        "The same model in two precisions",
        "How many settings are above the standard baseline, and how many of these between the two "
        "baselines, in the first and in the second precision, and how many verdicts are the same. Task by "
        "task: tables/precision_settings.csv.",
    ),
    ShownTable("precision_settings"),
]
SPREAD = ShownFigure(
    "spread",
    "The spread of prompts",
    "Each small dot is a prompt; the large one is the best. Dashed: the standard random baseline. Solid: the "
    "maximum random baseline, the mean of what the best of as many guessers reaches. A best prompt under it "
    "is what luck alone gives; one above it may be, too. Stars say that as many guessers seldom do as well: "
    "* with a probability of at most 0.05, ** of at most 0.01; a ring, that they do more often. Where a "
    "panel has more than 60 settings, only best prompts are shown, in their order.",
)
AGREEMENT = ShownFigure(
    "agreement",
    "Which baseline foresees held-out results",
    "Does being above a baseline on the validation split foresee that the chosen prompt is above the "
    "standard baseline on the held-out test split? Marks: the decision to be above. Coloured lines: "
    "its tail probability as a score. Dotted lines and hollow marks: the same of random guessers in place of "
    "prompts. What a validation part has, the test part lacks, so guessers who do well on one do badly on "
    "the other: they, and not the thin diagonal, are the reference.",
)


def expected_maximum(model: str) -> ShownFigure:
    """The figure of one model's expected best accuracies."""
    return ShownFigure(
        f"expected_maximum_{file_name(model)}",
        f"The best of ever more prompts: {model}",
        "Above: the expected accuracy of the best of as many prompts as the axis says (coloured), and "
        "both baselines. Below: the probability that guessing reaches it, for one guesser (dashed) and "
        "for the best of as many guessers (solid); the thin line marks 0.05.",
    )
