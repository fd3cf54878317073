"""Scores, discrete and continuous, with errors: what analyses of series and of formulations take.

needs: scores, series or formulations
after: pvi
in:  predictions/, likelihoods/ and tasks/
out: series_scores/ of each model, and EVALUATIONS, those of series by seed and checkpoint
"""

SERIES_SCORES = f"{RESULTS}/series_scores/{{model_file}}.parquet"
EVALUATIONS = f"{RESULTS}/evaluations.parquet"
KEPT += [*of_all_models(SERIES_SCORES), EVALUATIONS]


rule series_scores:
    """A model's scores, discrete and continuous, with standard errors."""
    input:
        predictions=PREDICTIONS,
        likelihoods=LIKELIHOODS,
        tasks=TASK_TABLES,
    output:
        SERIES_SCORES,
    log:
        f"{RESULTS}/logs/series_scores/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/series_scores/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        code=code_of("series_scores.py"),
    script:
        "../../scripts/series_scores.py"


rule series_evaluations:
    """The scores of all series, by seed and checkpoint."""
    input:
        of_all_models(SERIES_SCORES),
    output:
        EVALUATIONS,
    log:
        f"{RESULTS}/logs/series_evaluations.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        series=members(STUDY["models"]),
        code=code_of("series_evaluations.py"),
    script:
        "../../scripts/series_evaluations.py"
