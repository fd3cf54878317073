"""How likely each choice is: the long stage.

in:  tasks, evaluation sets, prompts and weights
out: scores/<model>/<task>/<shots>-shot.parquet

A job loads its model once for all numbers of shots. A job that is run again, for more prompts or after it
was killed, scores only what is missing: its output is updated, not made anew.
"""

# a rule's outputs are the same for all tasks: tasks with other numbers of shots have a rule of their own
for number, (shots, tasks) in enumerate(tasks_by_shots(), start=1):

    rule:
        name:
            "score" if number == 1 else f"score_{number}"
        input:
            task=rules.task.output.table,
            evaluation_set=rules.evaluation_set.output.table,
            prompts=prompts_of,
            weights=weights_file,
        output:
            scores=update(
                expand(
                    f"{RESULTS}/scores/{{model}}/{{task}}/{{shots}}-shot.parquet",
                    shots=shots,
                    allow_missing=True,
                )
            ),
        log:
            f"{RESULTS}/logs/score/{{model}}/{{task}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/score/{{model}}/{{task}}.tsv"
        wildcard_constraints:
            task="|".join(map(re.escape, tasks)),
        conda:
            "../../../envs/scoring.yaml"
        threads: STUDY["scoring"]["threads"]
        resources:
            mem_mb=scoring_mb,
            runtime=scoring_minutes,
            gpu=lambda wildcards: gpus(),
        params:
            shots=shots,
            precision=lambda wildcards: STUDY["models"][wildcards.model]["precision"],
            too_long=STUDY["too_long"],
            special_tokens=STUDY["special_tokens"],
            ledger=lambda wildcards: ledger(wildcards.model, wildcards.task),
            code=code_of("score.py"),
        script:
            "../../scripts/score.py"


rule scores:
    """Everything up to the scores, and no analysis."""
    input:
        SCORES,
