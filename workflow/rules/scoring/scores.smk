"""How likely each choice is: the long stage.

in:  tasks, evaluation sets, prompts and weights
out: scores/<model>/<task>/<shots>-shot.parquet; predictions/ and accuracy/ of each model,
     where it is asked for likelihoods/

A job loads its model once for all numbers of shots. A job that is run again, for more prompts or after it
was killed, scores only what is missing: its output is updated, not made anew.
"""

SCORES = expand(
    f"{RESULTS}/scores/{{model}}/{{task}}/{{shots}}-shot.parquet",
    model=MODELS,
    task=TASKS,
    shots=SHOTS,
)


def settings_of(wildcards):
    """A model's settings, in the order in which tables have them."""
    return [(model_of(wildcards), task, shots) for task in TASKS for shots in SHOTS]


def scores_of(wildcards):
    """The scores files of a model's settings."""
    return [
        f"{RESULTS}/scores/{model}/{task}/{shots}-shot.parquet"
        for model, task, shots in settings_of(wildcards)
    ]


rule score:
    """The log-likelihood of every choice of a task's examples under every prompt."""
    input:
        task=rules.task.output.table,
        evaluation_set=rules.evaluation_set.output.table,
        prompts=expand(rules.prompts.output.table, shots=SHOTS, allow_missing=True),
        weights=weights_file,
    output:
        scores=update(
            expand(
                f"{RESULTS}/scores/{{model}}/{{task}}/{{shots}}-shot.parquet",
                shots=SHOTS,
                allow_missing=True,
            )
        ),
    log:
        f"{RESULTS}/logs/score/{{model}}/{{task}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score/{{model}}/{{task}}.tsv"
    conda:
        "../../../envs/scoring.yaml"
    threads: STUDY["scoring"]["threads"]
    resources:
        mem_mb=scoring_mb,
        runtime=scoring_minutes,
        gpu=lambda wildcards: gpus(),
    params:
        shots=SHOTS,
        precision=lambda wildcards: STUDY["models"][wildcards.model]["precision"],
        too_long=STUDY["too_long"],
        special_tokens=STUDY["special_tokens"],
        ledger=lambda wildcards: ledger(wildcards.model, wildcards.task),
        code=code_of("score.py"),
    script:
        "../../scripts/score.py"


rule accuracy:
    """Which examples each prompt of a model gets right, and its accuracy."""
    input:
        tasks=expand(f"{RESULTS}/tasks/{{task}}.parquet", task=TASKS),
        scores=scores_of,
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
        model=model_of,
        settings=settings_of,
        tasks=TASKS,
        normalization=STUDY["normalization"],
        code=code_of("accuracy.py"),
    script:
        "../../scripts/accuracy.py"


rule scored_likelihoods:
    """The log-likelihoods of all choices under a model as one table."""
    input:
        tasks=expand(f"{RESULTS}/tasks/{{task}}.parquet", task=TASKS),
        scores=scores_of,
    output:
        LIKELIHOODS,
    log:
        f"{RESULTS}/logs/likelihoods/{{model_file}}.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=settings_of,
        tasks=TASKS,
        code=code_of("likelihoods.py"),
    script:
        "../../scripts/likelihoods.py"


rule scores:
    """Everything up to the scores, and no analysis."""
    input:
        SCORES,
