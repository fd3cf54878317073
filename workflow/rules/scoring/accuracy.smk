"""From stored scores to predictions.

in:  SCORED, the folder of a study with tasks/, evaluation_sets/, prompts/ and scores/
out: predictions/ and accuracy/ of each model, where it is asked for likelihoods/
"""

TASK_TABLES = expand(f"{SCORED}/tasks/{{task}}.parquet", task=TASKS)
GUESSED_TASKS, PROMPTS_OF_SETTINGS = TASK_TABLES, prompts_of_settings
EVALUATION_SETS = expand(f"{SCORED}/evaluation_sets/{{task}}.parquet", task=TASKS)
FEATURES = [f"{RESULTS}/example_features.parquet"]
SCORES = {kind: scores_files(kind, SETTINGS) for kind in KINDS}


rule accuracy:
    """The predictions of each prompt of a model, and their accuracy."""
    input:
        tasks=TASK_TABLES,
        evaluation_sets=EVALUATION_SETS,
        prompts=prompts_of_settings,
        scores=scores_of(DRAWN),
    output:
        predictions=PREDICTIONS,
        accuracy=ACCURACY,
    log:
        f"{RESULTS}/logs/accuracy/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/accuracy/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=settings_of,
        tasks=TASKS,
        normalization=STUDY["normalization"],
        state=lambda wildcards: stored_state(),
        code=code_of("accuracy.py"),
    script:
        "../../scripts/accuracy.py"


rule example_features:
    """Features of the examples of each task."""
    input:
        tasks=TASK_TABLES,
    output:
        FEATURES,
    log:
        f"{RESULTS}/logs/example_features.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        state=lambda wildcards: stored_state(),
        code=code_of("example_features.py"),
    script:
        "../../scripts/example_features.py"


rule scored_likelihoods:
    """The log-likelihoods of all choices under a model as one table."""
    input:
        tasks=TASK_TABLES,
        evaluation_sets=EVALUATION_SETS,
        prompts=prompts_of_settings,
        scores=scores_of(DRAWN),
    output:
        LIKELIHOODS,
    log:
        f"{RESULTS}/logs/likelihoods/{{model_file}}.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=settings_of,
        tasks=TASKS,
        state=lambda wildcards: stored_state(),
        code=code_of("likelihoods.py"),
    script:
        "../../scripts/likelihoods.py"
