"""How likely each choice is: the long stage.

in:  tasks, evaluation sets, prompts and weights
out: scores/<model>/<task>/<shots>-shot.parquet; with the key pvi, the same in null_scores/

A job loads its model once for all numbers of shots. A job that is run again, for more prompts or after it
was killed, scores only what is missing: its output is updated, not made anew.
"""

# A rule's outputs are the same for all tasks: tasks with other numbers of shots have a rule of their own, and so
# have null-target prompts, where the study asks for them.
for null, shots, tasks, name in scoring_rules():

    rule:
        name:
            name
        input:
            task=rules.task.output.table,
            evaluation_set=rules.evaluation_set.output.table,
            prompts=prompts_of,
            weights=weights_file,
        output:
            scores=update(
                expand(
                    f"{RESULTS}/{'null_' * null}scores/{{model}}/{{task}}/{{shots}}-shot.parquet",
                    shots=shots,
                    allow_missing=True,
                )
            ),
        log:
            f"{RESULTS}/logs/{'null_' * null}score/{{model}}/{{task}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/{'null_' * null}score/{{model}}/{{task}}.tsv"
        wildcard_constraints:
            task="|".join(map(re.escape, tasks)),
        conda:
            "../../../envs/scoring.yaml"
        threads: STUDY["scoring"]["threads"]
        resources:
            mem_mb=scoring_mb,
            runtime=null_minutes if null else scoring_minutes,
            gpu=lambda wildcards: gpus(),
        params:
            shots=shots,
            null=null,
            precision=lambda wildcards: STUDY["models"][wildcards.model]["precision"],
            too_long=STUDY["too_long"],
            special_tokens=STUDY["special_tokens"],
            ledger=null_ledger_of if null else ledger_of,
            code=code_of("score.py"),
        script:
            "../../scripts/score.py"


rule scores:
    """Everything up to the scores, and no analysis."""
    input:
        SCORES,
