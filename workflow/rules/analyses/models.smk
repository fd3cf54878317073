"""Which models differ, on the same examples and prompts.

in:  predictions/, and tasks/ where a study has these; of series, the last checkpoints are compared
out: answers/ of each model, and where there are several, tables of which differ
"""

ANSWERS = f"{RESULTS}/answers/{{model_file}}.parquet"
KEPT += of_all_models(ANSWERS)
COMPARED = compared_as(MODELS, STUDY.get("models", {}))
SEVERAL = len(COMPARED) > 1
TABLES += catalogue.MODELS * SEVERAL


rule answers:
    """How many of its prompts get each example right."""
    input:
        PREDICTIONS,
    output:
        ANSWERS,
    log:
        f"{RESULTS}/logs/answers/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/answers/{{model_file}}.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("answers.py"),
    script:
        "../../scripts/answers.py"


rule models:
    """Which models are better than which."""
    input:
        answers=of_all_models(ANSWERS),
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
