"""Demonstrations that are hard for a model, found among examples that are not evaluated.

in:  with the key pvi.training_examples: tasks, prompts, and the scores of training examples
out: training_sets/<task>.parquet, hardest_prompts/<model>/<task>/<shots>-shot.parquet
"""


rule training_set:
    """Choose examples outside the evaluation set that are scored to find hard demonstrations."""
    input:
        task=rules.prompts.input.drawn_on,
        evaluation_set=rules.evaluation_set.output.table,
    output:
        table=f"{RESULTS}/{TRAINING.examples}/{{task}}.parquet",
    log:
        f"{RESULTS}/logs/training_set/{{task}}.log",
    priority: 100
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        name=lambda wildcards: drawn_as(wildcards.task, STUDY["tasks"])[0],
        seed=STUDY["seed"],
        examples=STUDY.get("pvi", {}).get("training_examples"),
        most_shots=lambda wildcards: max(SHOTS[wildcards.task]),
        code=code_of("training_set.py"),
    script:
        "../../scripts/training_set.py"


rule hardest_prompts:
    """Prompts whose demonstrations are hard for a model."""
    input:
        task=rules.task.output.table,
        training_set=rules.training_set.output.table,
        prompts=prompts_of,
        scores=lambda wildcards: training_scores_of(wildcards, TRAINING),
        null_scores=lambda wildcards: training_scores_of(wildcards, TRAINING_NULL),
    output:
        table=HARDEST_PROMPTS,
    log:
        f"{RESULTS}/logs/hardest_prompts/{{model}}/{{task}}/{{shots}}-shot.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        seed=STUDY["seed"],
        prompts=STUDY["prompts"],
        most_shots=lambda wildcards: max(SHOTS[wildcards.task]),
        over=STUDY.get("pvi", {}).get("over"),
        code=code_of("hardest_prompts.py"),
    script:
        "../../scripts/hardest_prompts.py"
