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
        "The table shows the difference of mean accuracies on the same examples "
        "and prompts, with the better model first. It has the 95 % confidence "
        "interval, the p-value, and the p-value adjusted for the number of tasks. "
        "The column 'about' states the scope of the inference. 'detectable' is the "
        "smallest true difference that the test finds with a probability of 80 %. "
        "'needed' is the number of examples with which the test finds a difference "
        "of the observed size with the same probability.",
        hidden=("conclusion",),
    ),
    ShownTable(
        "models",
        "Which models differ?",
        "The table shows mean accuracies on the same examples and prompts, with "
        "equal weights of tasks. The column 'about' states the scope of the "
        "inference. The true rank of a model is between 'rank low' and 'rank "
        "high', with simultaneous 95 % confidence for all models. Models that "
        "share a letter in 'groups' do not differ significantly. 'best' is the "
        "share of bootstrap samples in which the model is the best. Single tasks "
        "are in tables/model_ranks.csv. All pairs are in tables/model_pairs.csv.",
    ),
    ShownTable(
        "not_compared",
        "On which tasks can models not be compared?",
        "Models are compared on the examples that all of them have. The table shows "
        "the tasks and numbers of shots with fewer than two such examples. They are "
        "not in the other tables of this part.",
    ),
    ShownTable("model_ranks"),
    ShownTable("model_pairs"),
]
TABLES += MODEL_TABLES


rule models:
    """The comparison of all models."""
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
