"""The same model in two precisions, side by side.

in:  the verdicts and accuracy/
out: its tables
"""

TABLES += catalogue.PRECISION


rule precision_tables:
    """The same model in two precisions, side by side."""
    input:
        verdicts=VERDICTS,
        accuracy=of_all_models(ACCURACY),
    output:
        reported_tables(catalogue.PRECISION, "Precisions", "../../report/precision.rst"),
    log:
        f"{RESULTS}/logs/precision_tables.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        pairs=PRECISION_PAIRS,
        code=code_of("precision_tables.py"),
    script:
        "../../scripts/precision_tables.py"
