"""Whether several formulations of a task agree, over models, and what varies less.

in:  series_scores/ of each model, and EVALUATIONS
out: tables of both, and a figure
"""

TABLES += catalogue.FORMULATIONS
FIGURES += [catalogue.FORMULATIONS_FIGURE]


rule formulations:
    """How models' scores in one formulation go with those in another."""
    input:
        scores=of_all_models(SERIES_SCORES),
        evaluations=EVALUATIONS,
    output:
        reported_tables(
            catalogue.FORMULATIONS, "Variance", "../../report/formulations.rst"
        ),
        reported_figures(
            [catalogue.FORMULATIONS_FIGURE], "../../report/formulations.rst"
        ),
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
