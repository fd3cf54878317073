"""Whether several formulations of a task agree, over models, and what varies less.

needs: formulations
after: series
in:  series_scores/ of each model, and EVALUATIONS
out: tables of both, and a figure
"""

FORMULATIONS = [
    ShownTable(
        "formulations",
        "Do formulations of a task agree?",
        "Pearson's r, over all models and checkpoints, of scores on the same examples behind the same "
        "demonstrations in two formulations; the mean of each; and how many models score higher in each. "
        "Models of one training are no independent ones, so r says how the two develop together.",
    ),
    ShownTable(
        "formulation_series",
        "What does a formulation change?",
        "The mean over seeds at the first and at the last checkpoint, the standard deviation over seeds "
        "(averaged over checkpoints, and at the last one), the signal-to-noise ratio and monotonicity of "
        "each formulation.",
    ),
]
FORMULATIONS_FIGURE = ShownFigure(
    "formulations",
    "Formulations of a task",
    "Each dot is a model, with its score in the one formulation and in the other; darker blue are later "
    "checkpoints, orange models of no series. The line: where both are the same. r is Pearson's, of so many "
    "models.",
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
