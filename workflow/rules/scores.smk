"""How likely each choice is: the long stage.

in:  tasks, evaluation sets, prompts and weights
out: scores/<model>/<task>/<shots>-shot.parquet

A job that is run again, for more prompts or after it was killed, scores only what is missing:
its output is updated, not made anew.
"""


rule score:
    """The log-likelihood of every choice of every example under every prompt."""
    input:
        task=rules.task.output.table,
        evaluation_set=rules.evaluation_set.output.table,
        prompts=rules.prompts.output.table,
        weights=weights_file,
    output:
        scores=update(f"{RESULTS}/scores/{{model}}/{{task}}/{{shots}}-shot.parquet"),
    log:
        f"{RESULTS}/logs/score/{{model}}/{{task}}/{{shots}}-shot.log",
    benchmark:
        f"{RESULTS}/benchmarks/score/{{model}}/{{task}}/{{shots}}-shot.tsv"
    conda:
        "../../envs/scoring.yaml"
    threads: STUDY["scoring"]["threads"]
    resources:
        mem_mb=8000,
        gpu=int(bool(GPUS)),
    params:
        precision=lambda wildcards: STUDY["models"][wildcards.model]["precision"],
        too_long=STUDY["too_long"],
        code=code_digest("scoring.job"),
    script:
        "../scripts/score.py"
