"""Which models differ, on the same examples and prompts.

needs: predictions, several models
after: agreement
question: Which models differ?
in:  predictions/, and tasks/ where a study has these; of series, the last checkpoints are compared
out: if there are several models, tables of which differ
"""

MODEL_TABLES = [
    ShownTable(
        "two_models",
        "Is one model better than the other?",
        "The difference of mean accuracies on the same examples and prompts, the better model first, with "
        "its 95 % interval and p-value, also adjusted for the number of tasks. The column about states what "
        "this holds for. Detectable: the smallest true difference that is found with a probability of 80 %. "
        "Needed: the number of examples that would find a difference of this size.",
        hidden=("conclusion",),
    ),
    ShownTable(
        "models",
        "Which models differ?",
        "Mean accuracy over prompts and tasks, each task counted alike, on the same examples and prompts. "
        "The column about states what this holds for. The true rank is between rank low and rank high, with "
        "95 % confidence for all models at once. Models that share a letter (groups) cannot be "
        "distinguished. Best: the share of draws in which the model is the best. Task by task: "
        "tables/model_ranks.csv; every pair with its difference, interval and tests: tables/model_pairs.csv.",
    ),
    ShownTable("model_ranks"),
    ShownTable("model_pairs"),
]
TABLES += MODEL_TABLES


rule models:
    """Which models are better than which."""
    input:
        predictions=of_all_models(PREDICTIONS),
        tasks=TASK_TABLES,
    output:
        reported_tables(MODEL_TABLES, "Models", "../../report/models.rst"),
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
