"""What is asked.

in:  the pinned BIG-bench sdist (or a checkout, or the user's own files)
out: tasks/<task>.parquet, evaluation_sets/<task>.parquet, prompts/<task>/<shots>-shot.parquet

These jobs are short and find mistakes in the user's files, so they come before all others.
"""


rule task:
    """One task as a table of examples."""
    input:
        source=task_source,
    output:
        table=f"{RESULTS}/tasks/{{task}}.parquet",
    log:
        f"{RESULTS}/logs/task/{{task}}.log",
    priority: 100
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        origin=lambda wildcards: STUDY["tasks"][wildcards.task]["source"],
        name=lambda wildcards: drawn_as(wildcards.task, STUDY["tasks"])[0],
        format=lambda wildcards: STUDY["tasks"][wildcards.task]["format"],
        pinned=None if "bigbench" in STUDY else DOWNLOADS["bigbench"],
        state=state_of(own_task),
        code=code_of("task.py"),
    script:
        "../../scripts/task.py"


rule evaluation_set:
    """Divide the examples into those that are evaluated and those that may be demonstrations."""
    input:
        task=rules.task.output.table,
    output:
        table=f"{RESULTS}/evaluation_sets/{{task}}.parquet",
    log:
        f"{RESULTS}/logs/evaluation_set/{{task}}.log",
    priority: 100
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        name=lambda wildcards: drawn_as(wildcards.task, STUDY["tasks"])[0],
        seed=STUDY["seed"],
        max_examples=lambda wildcards: (STUDY["tasks"][wildcards.task]["max_examples"]),
        code=code_of("evaluation_set.py"),
    script:
        "../../scripts/evaluation_set.py"


rule prompts:
    """Which demonstrations go before the examples."""
    input:
        task=rules.task.output.table,
        drawn_on=lambda wildcards: (
            f"{RESULTS}/tasks/{drawn_as(wildcards.task, STUDY['tasks'])[1]}.parquet"
        ),
        evaluation_set=rules.evaluation_set.output.table,
    output:
        table=f"{RESULTS}/prompts/{{task}}/{{shots}}-shot.parquet",
    log:
        f"{RESULTS}/logs/prompts/{{task}}/{{shots}}-shot.log",
    priority: 100
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        name=lambda wildcards: drawn_as(wildcards.task, STUDY["tasks"])[0],
        seed=STUDY["seed"],
        prompts=STUDY["prompts"],
        demonstrations=STUDY["demonstrations"],
        code=code_of("prompts.py"),
    script:
        "../../scripts/prompts.py"
