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
        "The table shows Pearson's r between scores in two formulations, over all "
        "models and checkpoints, on the same examples and demonstrations. It also "
        "shows the mean score in each formulation, and the number of models that "
        "score higher in it. Checkpoints of one training are not independent, so "
        "r shows whether the scores develop together.",
    ),
    ShownTable(
        "formulation_series",
        "What does a formulation change?",
        "For each formulation, the table shows the mean over seeds at the first "
        "and the last checkpoint, the standard deviation over seeds (averaged, "
        "and at the last checkpoint), the signal-to-noise ratio, and "
        "monotonicity.",
    ),
]
FORMULATIONS_FIGURE = ShownFigure(
    "formulations",
    "Formulations of a task",
    "Each dot shows the scores of a model in two formulations. Darker blue dots are "
    "later checkpoints, and orange dots models that belong to no series. On the "
    "diagonal, both scores are equal. r is Pearson's correlation over the stated "
    "number of models.",
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
