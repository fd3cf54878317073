"""Each setting's best prompt beside both baselines.

in:  accuracy/, and what other analyses add to verdicts
out: verdicts.csv and its tables
"""

VERDICTS = f"{RESULTS}/verdicts.csv"
TABLES += catalogue.VERDICTS
KEPT += [*BESIDE_VERDICTS.values(), VERDICTS]
OF_REPORT["verdicts"] = VERDICTS


rule verdicts:
    """Each setting's best prompt beside both baselines."""
    input:
        **BESIDE_VERDICTS,
        accuracy=of_all_models(ACCURACY),
    output:
        report(
            VERDICTS,
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


rule verdict_tables:
    """The verdicts, and how many there are of each."""
    input:
        verdicts=VERDICTS,
    output:
        reported_tables(catalogue.VERDICTS, "Verdicts", "../../report/verdicts.rst"),
    log:
        f"{RESULTS}/logs/verdict_tables.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("verdict_tables.py"),
    script:
        "../../scripts/verdict_tables.py"
