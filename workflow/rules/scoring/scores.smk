"""How likely each choice is: the long stage.

in:  tasks, evaluation sets, prompts and weights
out: scores/<model>/<task>/<shots>-shot.parquet; with the key pvi, the same of other kinds of prompts, in
     folders of their own

A job loads its model once for all numbers of shots. A job that is run again, for more prompts or after it
was killed, scores only what is missing. It finds the rest in the stores next to its outputs, which are no outputs
themselves: Snakemake deletes outputs of a job that did not end, and a store outlives that.
"""

# A rule's outputs are the same for all tasks: tasks with other numbers of shots have a rule of their own, and so
# has each kind of prompts.
for kind, shots, tasks, name in scoring_rules():

    rule:
        name:
            name
        input:
            task=rules.task.output.table,
            evaluation_set=f"{RESULTS}/{kind.examples}/{{task}}.parquet",
            prompts=hardest_prompts_of if kind == HARDEST else prompts_of,
            weights=weights_file,
            files=passing_files,
            compared=compared_weights,
        output:
            scores=expand(
                f"{RESULTS}/{kind.scores}/{{model}}/{{task}}/{{shots}}-shot.parquet",
                shots=shots,
                allow_missing=True,
            ),
        log:
            f"{RESULTS}/logs/{kind.prefix}score/{{model}}/{{task}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/{kind.prefix}score/{{model}}/{{task}}.tsv"
        wildcard_constraints:
            task="|".join(map(re.escape, tasks)),
        priority: 0 if STUDY["keep_weights"] else 50
        conda:
            "../../../envs/scoring.yaml"
        threads: STUDY["scoring"]["threads"]
        resources:
            mem_mb=scoring_mb,
            runtime=null_minutes if kind.null else scoring_minutes,
            gpu=lambda wildcards: gpus() if in_process(wildcards.model) else 0,
        params:
            shots=shots,
            null=kind.null,
            precision=lambda wildcards: STUDY["models"][wildcards.model]["precision"],
            compared_precision=lambda wildcards: precision_of(compared(wildcards.model)),
            too_long=STUDY["too_long"],
            special_tokens=STUDY["special_tokens"],
            products=STUDY["scoring"]["products"],
            ledger=ledger_of(kind),
            code=code_of("score.py"),
        script:
            "../../scripts/score.py"


rule scores:
    """Everything up to the scores, and no analysis."""
    input:
        SCORES[DRAWN],
