"""Which models differ, on the same examples and prompts.

in:  predictions/, and tasks/ where a study has these; of series, the last checkpoints are compared
out: if there are several models, tables of which differ
"""

COMPARED = compared_as(MODELS, STUDY.get("models", {}))
SEVERAL = len(COMPARED) > 1
TABLES += catalogue.MODELS * SEVERAL
OF_REPORT |= {"two_models": table_file("two_models")} if SEVERAL else {}


rule models:
    """Which models are better than which."""
    input:
        predictions=of_all_models(PREDICTIONS),
        tasks=TASK_TABLES,
    output:
        reported_tables(catalogue.MODELS, "Models", "../../report/models.rst"),
    log:
        f"{RESULTS}/logs/models.log",
    benchmark:
        f"{RESULTS}/benchmarks/models.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS if TASK_TABLES else [],
        compared=lambda wildcards: COMPARED,  # names may have braces
        code=code_of("models.py"),
    script:
        "../../scripts/models.py"
