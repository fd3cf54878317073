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
        "The table shows Pearson's r between the scores in two formulations, over "
        "all models and checkpoints. Examples and demonstrations are the same. The "
        "other columns show the mean score in each formulation, and the number of "
        "models that score higher in the first or in the second one. Checkpoints "
        "of one training run are not independent. So a high r may only mean that "
        "both scores rise during training.",
    ),
    ShownTable(
        "formulation_series",
        "How do scores vary in each formulation?",
        "For each formulation, the table shows the mean over seeds at the first "
        "and at the last checkpoint. It also shows the standard deviation over "
        "seeds (averaged over checkpoints, and at the last one), the "
        "signal-to-noise ratio, and monotonicity.",
    ),
]
FORMULATIONS_FIGURE = ShownFigure(
    "formulations",
    "Formulations of a task",
    "Each dot shows the scores of one model in two formulations. Blue dots are "
    "checkpoints of a series, and darker dots are later checkpoints. Orange dots "
    "are models outside any series. On the diagonal, both scores are equal. r is "
    "Pearson's correlation over the number of models in the panel.",
)
TABLES += FORMULATIONS
FIGURES += [FORMULATIONS_FIGURE]


rule formulations:
    """The correlation of models' scores between two formulations."""
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
