"""How much scores vary over seeds and checkpoints of one training.

in:  EVALUATIONS
out: a table of measures, and figures of how scores develop and vary
"""

TABLES += catalogue.SERIES
OF_REPORT["series"] = table_file("series")
FIGURES += catalogue.SERIES_FIGURES


rule series:
    """What varies in a series, and how its scores develop."""
    input:
        EVALUATIONS,
    output:
        reported_tables(catalogue.SERIES, "Variance", "../../report/series.rst"),
        reported_figures(catalogue.SERIES_FIGURES, "../../report/series.rst"),
    log:
        f"{RESULTS}/logs/series.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("series.py"),
    script:
        "../../scripts/series.py"
