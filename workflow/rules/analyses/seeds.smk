"""Where answers of models that were trained several times vary: with the seed, the prompt or the example.

needs: seeds
after: formulations
question: How much do scores vary over seeds and during training?
in:  predictions/ of series, and tasks/
out: a table
"""

# {model: (its series, its seed)} of last checkpoints
TRAININGS = last_checkpoints(STUDY["models"])
SEEDS = [
    ShownTable(
        "seeds",
        "What explains the variance of single answers?",
        "The table shows the variance components of single answers (correct or "
        "wrong) at the last checkpoint: the shares of seeds, prompts, examples and "
        "their interactions. The interaction of all factors, in the last row, "
        "includes the noise. 'deviation' is the standard deviation that each "
        "component contributes to the mean of all answers. If examples form "
        "clusters, the components are of means over each cluster.",
    ),
]
TABLES += SEEDS


rule seeds:
    """The shares of seeds, prompts and examples, of the last checkpoint."""
    input:
        predictions=expand(
            PREDICTIONS, model_file=dict.fromkeys(map(file_of, TRAININGS))
        ),
        tasks=TASK_TABLES,
    output:
        reported_tables(SEEDS, "Variance", "../../report/seeds.rst"),
    log:
        f"{RESULTS}/logs/seeds.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        trainings=TRAININGS,
        tasks=TASKS if TASK_TABLES else [],
        code=code_of("seeds.py"),
    script:
        "../../scripts/seeds.py"
