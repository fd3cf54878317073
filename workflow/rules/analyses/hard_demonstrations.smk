"""Whether hard examples are better demonstrations than others.

needs: hardest scores
after: seeds
question: Which examples are hard?
in:  hardest_scores/, tasks/ and predictions/
out: pvi/demonstrations/ of each model, and a table of them
"""

DEMONSTRATIONS = f"{RESULTS}/pvi/demonstrations/{{model_file}}.parquet"
HARD_DEMONSTRATIONS = [
    ShownTable(
        "pvi_demonstrations",
        "Are hard examples better demonstrations?",
        "The table compares the accuracy with demonstrations from all examples of "
        "each label (drawn) and from the hardest 20 % of each label (hardest). "
        "Spread is the standard deviation over prompts. The 95 % confidence "
        "interval of the difference accounts for the sampling of examples, but not "
        "for the choice of prompts.",
    ),
]
TABLES += HARD_DEMONSTRATIONS
KEPT += of_all_models(DEMONSTRATIONS)


rule hard_demonstrations:
    """The accuracy of a model with hard demonstrations and with other demonstrations."""
    input:
        tasks=TASK_TABLES,
        evaluation_sets=EVALUATION_SETS,
        prompts=lambda wildcards: [
            f"{SCORED}/hardest_prompts/{model}/{task}/{shots}-shot.parquet"
            for model, task, shots in settings_of(wildcards)
        ],
        scores=scores_of(HARDEST),
        predictions=PREDICTIONS,
    output:
        DEMONSTRATIONS,
    log:
        f"{RESULTS}/logs/hard_demonstrations/{{model_file}}.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=settings_of,
        tasks=TASKS,
        normalization=STUDY["normalization"],
        code=code_of("hard_demonstrations.py"),
    script:
        "../../scripts/hard_demonstrations.py"


rule hard_demonstrations_table:
    """The same of all models."""
    input:
        of_all_models(DEMONSTRATIONS),
    output:
        reported_tables(
            HARD_DEMONSTRATIONS,
            "Which examples are hard",
            "../../report/pvi.rst",
        ),
    log:
        f"{RESULTS}/logs/hard_demonstrations_table.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("hard_demonstrations_table.py"),
    script:
        "../../scripts/hard_demonstrations_table.py"
