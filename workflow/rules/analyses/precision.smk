"""The same model in two precisions, side by side.

needs: precisions
after: expected_maximum
question: Does a lower precision change the results?
in:  the verdicts and accuracy/
out: its tables
"""

PRECISION = [
    ShownTable(
        "precision_summary",
        "The same model in two precisions",
        "For each of the two precisions, 'above standard' is the number of "
        "settings above the standard baseline. 'between' is the number of these "
        "settings that are not above the maximum baseline. 'same verdict' is the "
        "number of settings with the same verdict in both precisions. 'mean change "
        "of best' is the mean change of the best accuracy, lower minus higher "
        "precision. Single settings are in tables/precision_settings.csv.",
    ),
    ShownTable("precision_settings"),
]
TABLES += PRECISION


rule precision_tables:
    """The same model in two precisions, side by side."""
    input:
        verdicts=VERDICTS,
        accuracy=of_all_models(ACCURACY),
    output:
        reported_tables(PRECISION, "Precisions", "../../report/precision.rst"),
    log:
        f"{RESULTS}/logs/precision_tables.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        pairs=precision_pairs(STUDY["models"]),
        code=code_of("precision_tables.py"),
    script:
        "../../scripts/precision_tables.py"
