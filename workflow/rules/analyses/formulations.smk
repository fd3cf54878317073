"""Whether several formulations of a task agree, over models, and what varies less.

needs: formulations
after: series
question: Do the formulations of a task agree?
in:  series_scores/ of each model, and EVALUATIONS
out: tables of both, and a figure
"""

FORMULATIONS = [
    ShownTable(
        "formulations",
        "Do formulations of a task agree?",
        "Pearson's r between scores in two formulations, over all models and "
        "checkpoints, on the same examples and demonstrations; the mean of each; and "
        "the number of models that score higher in each. Checkpoints of one training "
        "are not independent, so r shows how the two develop together.",
    ),
    ShownTable(
        "formulation_series",
        "What does a formulation change?",
        "For each formulation: the mean over seeds at the first and the last "
        "checkpoint, the standard deviation over seeds (averaged, and at the last "
        "checkpoint), the signal-to-noise ratio, and monotonicity.",
    ),
]
FORMULATIONS_FIGURE = ShownFigure(
    "formulations",
    "Formulations of a task",
    "Each dot is a model: its score in one formulation and in the other. Darker blue: "
    "later checkpoints. Orange: models of no series. On the line, both are equal. r is "
    "Pearson's, over the stated number of models.",
)
TABLES += FORMULATIONS
FIGURES += [FORMULATIONS_FIGURE]


rule formulations:
    """How models' scores in one formulation go with those in another."""
    input:
        scores=of_all_models(SERIES_SCORES),
        evaluations=EVALUATIONS,
    output:
        reported_tables(FORMULATIONS, "Variance", "../../report/formulations.rst"),
        reported_figures([FORMULATIONS_FIGURE], "../../report/formulations.rst"),
    log:
        f"{RESULTS}/logs/formulations.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        formulations=formulations(STUDY["tasks"]),
        series=members(STUDY["models"]),
        code=code_of("formulations.py"),
    script:
        "../../scripts/formulations.py"
