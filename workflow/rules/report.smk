"""What people open first.

in:  all tables and figures of the study, and what the analyses say the report reads besides
out: report.html and the resolved config.yaml
"""


rule resolved_config:
    """Write the config with its defaults, when all results are there, and delete those of an earlier one."""
    input:
        KEPT,
        table_files(TABLES),
        figure_files(FIGURES),
    output:
        f"{RESULTS}/config.yaml",
    log:
        f"{RESULTS}/logs/config.log",
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        config=STUDY,
        recorded=check_recorded_config,
        results=all_results,
        inputs=lambda wildcards, output: [str(file) for file in INPUTS],
        code=code_of("resolved_config.py"),
    script:
        "../scripts/resolved_config.py"


rule report:
    """Write the report as one self-contained HTML file."""
    input:
        **OF_REPORT,
        config=rules.resolved_config.output,
        tables=table_files(TABLES, ["parquet"]),
        figures=figure_files(FIGURES, ["png"]),
        numbers=figure_files(FIGURES, ["csv"]),
    output:
        report(
            f"{RESULTS}/report.html",
            caption="../report/report.rst",
            category="Report",
            labels={"report": "verdicts, figures, and how to read them"},
        ),
    log:
        f"{RESULTS}/logs/report.log",
    benchmark:
        f"{RESULTS}/benchmarks/report.tsv"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        study=STUDY["study"],
        questions=QUESTIONS,
        code=code_of("report.py"),
    script:
        "../scripts/report.py"
