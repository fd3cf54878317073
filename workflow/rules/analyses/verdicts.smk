"""Each setting's best prompt beside both baselines.

needs: predictions
question: Is the best score better than chance?
in:  accuracy/, and what other analyses add to verdicts
out: verdicts.csv, and tables of verdicts
"""

VERDICTS = table_file("verdicts")
VERDICT_TABLES = [ShownTable("verdicts"), ShownTable("verdict_counts")]
TABLES += VERDICT_TABLES
KEPT += [*BESIDE_VERDICTS.values(), f"{RESULTS}/verdicts.csv"]
OF_REPORT["verdicts"] = VERDICTS


rule verdicts:
    """Each setting's best prompt beside both baselines."""
    input:
        **BESIDE_VERDICTS,
        accuracy=of_all_models(ACCURACY),
    output:
        reported_tables(VERDICT_TABLES, "Verdicts", "../../report/verdicts.rst"),
        report(
            f"{RESULTS}/verdicts.csv",
            caption="../../report/verdicts.rst",
            category="Verdicts",
            labels={"table": "all digits and columns"},
        ),
    log:
        f"{RESULTS}/logs/verdicts.log",
    benchmark:
        f"{RESULTS}/benchmarks/verdicts.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("verdicts.py"),
    script:
        "../../scripts/verdicts.py"
