"""The randomization test, which needs to know what was predicted, and the examples' choices.

needs: predictions, tasks
before: verdicts
in:  predictions/ and tasks/
out: randomization/ of each model, which verdicts carry
"""

RANDOMIZATION = f"{RESULTS}/randomization/{{model_file}}.parquet"


rule randomization:
    """The randomization test of a model's prompts: gold answers are drawn again."""
    input:
        predictions=PREDICTIONS,
        tasks=TASK_TABLES,
    output:
        RANDOMIZATION,
    log:
        f"{RESULTS}/logs/randomization/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/randomization/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        seed=STUDY["seed"],
        draws=STUDY["randomization"]["draws"],
        code=code_of("randomization.py"),
    script:
        "../../scripts/randomization.py"


BESIDE_VERDICTS["randomization"] = of_all_models(RANDOMIZATION)
