"""Other tools' results, in place of scores.

in:  a file that `abovechance import` wrote
out: predictions.parquet and accuracy.parquet
"""


rule imported:
    """The predictions, and their accuracies."""
    input:
        predictions=str(Path(IMPORTED).expanduser()),
    output:
        predictions=PREDICTIONS,
        accuracy=ACCURACY,
    log:
        f"{RESULTS}/logs/imported.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code_of("imported.py"),
    script:
        "../scripts/imported.py"
