"""How much scores vary over seeds and checkpoints of one training.

in:  predictions/, likelihoods/ and tasks/
out: series_scores/ of each model, a table of measures and a figure of how scores develop
"""

SERIES_SCORES = f"{RESULTS}/series_scores/{{model_file}}.parquet"
KEPT += of_all_models(SERIES_SCORES)
TABLES += catalogue.SERIES
FIGURES += [catalogue.SERIES_CURVES]


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


rule series:
    """What varies in a series, and how its scores develop."""
    input:
        of_all_models(SERIES_SCORES),
    output:
        reported_tables(catalogue.SERIES, "Variance", "../../report/series.rst"),
        reported_figures([catalogue.SERIES_CURVES], "../../report/series.rst"),
    log:
        f"{RESULTS}/logs/series.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        series=members(STUDY["models"]),
        code=code_of("series.py"),
    script:
        "../../scripts/series.py"
