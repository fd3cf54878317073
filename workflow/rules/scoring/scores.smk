"""How likely each choice is: the long stage.

in:  tasks, evaluation sets, prompts and weights
out: scores/<model>/<task>/<shots>-shot.parquet, predictions.parquet, accuracy.parquet,
     where it is asked for likelihoods.parquet

A job loads its model once for all numbers of shots. A job that is run again, for more prompts or after it
was killed, scores only what is missing: its output is updated, not made anew.
"""

SCORES = expand(
    f"{RESULTS}/scores/{{model}}/{{task}}/{{shots}}-shot.parquet",
    model=MODELS,
    task=TASKS,
    shots=SHOTS,
)


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
        code=code_of("score.py"),
    script:
        "../../scripts/score.py"


rule accuracy:
    """Which examples each prompt gets right, and its accuracy."""
    input:
        tasks=expand(f"{RESULTS}/tasks/{{task}}.parquet", task=TASKS),
        scores=SCORES,
    output:
        predictions=PREDICTIONS,
        accuracy=ACCURACY,
    log:
        f"{RESULTS}/logs/accuracy.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=SETTINGS,
        tasks=TASKS,
        normalization=STUDY["normalization"],
        code=code_of("accuracy.py"),
    script:
        "../../scripts/accuracy.py"


rule likelihoods:
    """The log-likelihoods of all choices as one table."""
    input:
        tasks=expand(f"{RESULTS}/tasks/{{task}}.parquet", task=TASKS),
        scores=SCORES,
    output:
        LIKELIHOODS,
    log:
        f"{RESULTS}/logs/likelihoods.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=SETTINGS,
        tasks=TASKS,
        code=code_of("likelihoods.py"),
    script:
        "../../scripts/likelihoods.py"


rule scores:
    """Everything up to the scores, and no analysis."""
    input:
        SCORES,
