"""The guessers that each best prompt beats, as a table and a figure.

needs: tasks or release or choices
after: verdicts, heldout, spread
question: Is the best score better than chance?
in:  ladder/ of all models
out: tables/ladder, tables/ladder_guessers and figures/ladder
"""

LADDER_TABLES = [
    ShownTable(
        "ladder_guessers",
        "Which simple guessers do the best prompts beat?",
        "A score above uniform guessing can still come from an artifact of the task. Each "
        "guesser uses one artifact. The best prompt of a setting beats a guesser if it is "
        "significantly better, after adjustment for the number of prompts and of guessers. "
        "'better beaten' counts only settings that are better than chance. Guessers that "
        "are no better than uniform guessing in a setting are left out there.",
        hidden=("above", "above_beaten"),
    ),
    ShownTable("ladder"),
]
LADDER_FIGURE = ShownFigure(
    "ladder",
    "The ladder of guessers, by setting",
    "Each row is a setting. Marks are the accuracies of simple guessers, filled if the "
    "best prompt beats them. The bar ends at the accuracy of the best prompt.",
)
TABLES += LADDER_TABLES
FIGURES += [LADDER_FIGURE]


rule ladder_tables:
    """Tables and a figure of the guessers that each best prompt beats."""
    input:
        ladder=of_all_models(LADDER),
        verdicts=VERDICTS,
    output:
        tables=reported_tables(LADDER_TABLES, "Verdicts", "../../report/ladder.rst"),
        figure=reported_figures([LADDER_FIGURE], "../../report/ladder.rst"),
    log:
        f"{RESULTS}/logs/ladder_tables.log",
    benchmark:
        f"{RESULTS}/benchmarks/ladder_tables.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("ladder_tables.py"),
    script:
        "../../scripts/ladder_tables.py"
