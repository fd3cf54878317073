"""How much inputs tell models about answers: which examples are hard.

in:  scores/, null_scores/, tasks/ and predictions/
out: pvi/ of each model, tables and figures of it
"""

PVI = f"{RESULTS}/pvi/{{model_file}}.parquet"


rule pvi:
    """The pointwise V-usable information of every example under every prompt of a model."""
    input:
        tasks=TASK_TABLES,
        scores=scores_of,
        null_scores=null_scores_of,
        predictions=PREDICTIONS,
    output:
        PVI,
    log:
        f"{RESULTS}/logs/pvi/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pvi/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=settings_of,
        tasks=TASKS,
        over=STUDY["pvi"]["over"],
        code=code_of("pvi.py"),
    script:
        "../../scripts/pvi.py"


KEPT += of_all_models(PVI)
