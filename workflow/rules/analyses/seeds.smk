"""Where answers of models that were trained several times vary: with the seed, the prompt or the example.

needs: seeds
after: formulations
in:  predictions/ of series
out: a table
"""

# {model: (its series, its seed)} of last checkpoints
TRAININGS = last_checkpoints(STUDY["models"])
SEEDS = [
    ShownTable(
        "seeds",
        "Where do answers vary?",
        "Whether a single answer is right, at the last checkpoint: the share of its variance that is between "
        "seeds, between prompts, between examples, and what these do together (the last row has the noise in "
        "it). Deviation: what each adds to the mean of all answers, were its seeds, prompts or examples "
        "drawn anew.",
    ),
]
TABLES += SEEDS


rule seeds:
    """The shares of seeds, prompts and examples, of the last checkpoint."""
    input:
        predictions=expand(
            PREDICTIONS, model_file=dict.fromkeys(map(file_of, TRAININGS))
        ),
    output:
        reported_tables(SEEDS, "Variance", "../../report/seeds.rst"),
    log:
        f"{RESULTS}/logs/seeds.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        trainings=TRAININGS,
        code=code_of("seeds.py"),
    script:
        "../../scripts/seeds.py"
