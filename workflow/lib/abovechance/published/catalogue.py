"""What a study of published predictions shows besides; see ``abovechance.shown.catalogue``."""

from __future__ import annotations

from abovechance.shown.catalogue import ShownFigure, ShownTable

TABLES = [
    ShownTable(
        "changes_count",
        "As published, and by the data",
        "The verdicts above are by the data: chance from the tasks' own choices, the "
        "examples that were evaluated, the prompts that differ. How many settings go from"
        " which verdict, by the paper's n, p and t, to which by the data:",
    ),
    ShownTable(
        "changes",
        "Verdicts that change",
        "Each setting whose verdict is another by the data.",
    ),
    ShownTable(
        "audit_summary",
        "What does not hold",
        "The audit lists each with its evidence, setting by setting: tables/audit.csv.",
    ),
    ShownTable(
        "published_heldout_by_model",
        "Held-out results, as published",
        "How well being above each baseline on validation foresees being above chance on "
        "the held-out part, from the outcomes of the released splits where they are "
        "there.",
    ),
    ShownTable("published_conventions"),
    ShownTable("published_verdicts"),
    ShownTable("published_grid"),
    ShownTable("published_heldout_by_task"),
    ShownTable("published_heldout_difference"),
    ShownTable("mended_grid"),
    ShownTable("audit"),
]

_BY_CONVENTIONS = "By the paper's conventions: all released prompts, its n, p and t. "

FIGURES = [
    ShownFigure(
        "guessers",
        "One setting's prompts beside random guessers",
        _BY_CONVENTIONS
        + (
            "How the prompts' accuracies are distributed, that of one guesser, and that of "
            "the best of as many guessers as prompts."
        ),
    ),
    ShownFigure(
        "chosen_tasks",
        "The best of ever more prompts, on some tasks",
        _BY_CONVENTIONS
        + (
            "Above: the expected accuracy of the best of as many prompts as the axis says, "
            "and both baselines. Below: how likely guessing reaches it, one guesser (dashed) "
            "or the best of them."
        ),
    ),
    ShownFigure(
        "base_and_tuned",
        "Base models and those tuned to instructions",
        _BY_CONVENTIONS + "Solid: the base model. Dotted: the one that was tuned from it.",
    ),
    ShownFigure(
        "published_agreement",
        "Which baseline foresees held-out results, as published",
        "From the outcomes of the released splits. Marks: the decision to be above. Lines: its probability.",
    ),
    ShownFigure(
        "roc_by_prompts",
        "The same for ever more prompts to choose from",
        "From the outcomes of the released splits.",
    ),
]

BASELINES = [
    ShownFigure(
        "maximum_contours",
        "The maximum random baseline",
        "The expected accuracy of the best of as many random guessers as prompts.",
    ),
    ShownFigure(
        "tail_contours",
        "How likely guessing does as well",
        "Probability that the best of as many guessers as prompts reaches an accuracy. "
        "Dashed: one guesser's expected accuracy.",
    ),
    ShownFigure(
        "suite_rise",
        "By how much the baseline rises",
        "The maximum baseline less the standard one. A dot is a task, with its nominal size and choices.",
    ),
    ShownFigure(
        "suite_tails",
        "What a normalized score is worth",
        "How likely guessing reaches a normalized score (0: one guesser, 100: perfect). A line is a task.",
    ),
]


def pair(base: str) -> ShownFigure:
    """The figure of a base model and of the one that was tuned from it."""
    return ShownFigure(
        f"pair_{base}",
        f"All results of a base model and the one tuned from it: {base}",
        _BY_CONVENTIONS + "Solid: the base model. Dotted: the one that was tuned from it.",
    )
