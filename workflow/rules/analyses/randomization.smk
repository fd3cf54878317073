"""The randomization test, which needs to know what was predicted, and the examples' choices.

in:  predictions.parquet and tasks/
out: randomization.parquet, which verdicts carry
"""


rule randomization:
    """How probable the prompts' accuracies are when gold answers are drawn anew."""
    input:
        predictions=PREDICTIONS,
        tasks=expand(f"{RESULTS}/tasks/{{task}}.parquet", task=TASKS),
    output:
        f"{RESULTS}/randomization.parquet",
    log:
        f"{RESULTS}/logs/randomization.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        seed=STUDY["seed"],
        draws=STUDY["randomization"]["draws"],
        code=code_of("randomization.py"),
    script:
        "../../scripts/randomization.py"


BESIDE_VERDICTS["randomization"] = rules.randomization.output[0]
