"""Where answers of models that were trained several times vary: with the seed, the prompt or the example.

in:  predictions/ of series
out: a table
"""

# {model: (its series, its seed)} of last checkpoints
TRAININGS = last_checkpoints(STUDY["models"])
TABLES += catalogue.SEEDS


rule seeds:
    """The shares of seeds, prompts and examples, of the last checkpoint."""
    input:
        predictions=expand(
            PREDICTIONS, model_file=dict.fromkeys(map(file_of, TRAININGS))
        ),
    output:
        reported_tables(catalogue.SEEDS, "Variance", "../../report/seeds.rst"),
    log:
        f"{RESULTS}/logs/seeds.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        trainings=TRAININGS,
        code=code_of("seeds.py"),
    script:
        "../../scripts/seeds.py"
