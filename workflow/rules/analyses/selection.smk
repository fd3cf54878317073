"""How much of each best score is luck, and what the best prompt's accuracy is after correcting for the choice.

needs: predictions
before: verdicts
in:  predictions/, and tasks/ where a study has these
out: selection/ of each model, which verdicts carry
"""

SELECTION = f"{RESULTS}/selection/{{model_file}}.parquet"


rule selection:
    """The best of equally good prompts, and the debiased accuracy of the best prompt."""
    input:
        predictions=PREDICTIONS,
        tasks=TASK_TABLES,
    output:
        SELECTION,
    log:
        f"{RESULTS}/logs/selection/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/selection/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS if TASK_TABLES else [],
        seed=STUDY["seed"],
        code=code_of("selection.py"),
    script:
        "../../scripts/selection.py"


BESIDE_VERDICTS["selection"] = of_all_models(SELECTION)
