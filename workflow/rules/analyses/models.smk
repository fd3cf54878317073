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
        "The difference of mean accuracies on the same examples and prompts, the "
        "better model first, with its 95 % interval and p-value, also adjusted "
        "for the number of tasks. The column about states the scope of the "
        "inference. Detectable is the smallest true difference that the test "
        "finds with a probability of 80 %. Needed is the number of examples at "
        "which the test would find a difference of this size.",
        hidden=("conclusion",),
    ),
    ShownTable(
        "models",
        "Which models differ?",
        "Mean accuracy over prompts and tasks on the same examples and prompts, "
        "with equal weights of tasks. The column about states the scope of the "
        "inference. The true rank is between rank low and rank high, with "
        "simultaneous 95 % confidence for all models. Models that share a letter "
        "(groups) do not differ significantly. Best is the share of bootstrap "
        "samples in which the model is the best. Single tasks are in "
        "tables/model_ranks.csv, and all pairs in tables/model_pairs.csv.",
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
