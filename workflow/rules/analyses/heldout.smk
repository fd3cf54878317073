"""What the best prompt on validation reaches on held-out test.

needs: predictions
after: verdicts
question: Does the best prompt generalize to new examples?
in:  predictions/, and tasks/ where a study has these
out: heldout/outcomes/ and heldout/guessers/ of each model, and tables of them
"""

OUTCOMES = f"{RESULTS}/heldout/outcomes/{{model_file}}.parquet"
GUESSERS = f"{RESULTS}/heldout/guessers/{{model_file}}.parquet"
HELDOUT = [
    ShownTable(
        "heldout_by_prompts",
        "How well do the baselines predict held-out results?",
        "In each split, the prompt with the best validation accuracy is chosen. A "
        "baseline predicts success if the validation accuracy is above this "
        "baseline. Success means that the test accuracy is above the standard "
        "baseline. The reference is random guessers, not an area of 0.5. Guessers "
        "who do well on the validation split do badly on the test split, so their "
        "area is about 0.5 or lower on average.",
        without_rows="There are too few examples, or clusters of examples: no split has examples "
        "in both parts.",
    ),
    ShownTable("heldout_by_model"),
    ShownTable("heldout_by_task"),
    ShownTable(
        "heldout_difference",
        "Which baseline predicts held-out results better?",
        "The table is for the largest number of prompts tried. It shows the "
        "accuracy of the decision 'above the baseline', and two areas under the "
        "ROC curve: for the decision, and for the tail probability as a score. "
        "Splits of one setting are not independent, and neither are settings of "
        "one task. So the 95 % confidence interval resamples tasks. With fewer "
        "than five tasks, there is no interval. If all outcomes agree, there are "
        "no areas.",
    ),
]
TABLES += HELDOUT
KEPT += [*of_all_models(OUTCOMES), *of_all_models(GUESSERS)]
GUESSED = 200  # a study with fewer settings has its guessers drawn several times, so that luck shows less


rule heldout:
    """The test accuracy of the prompt with the best validation accuracy, in many random splits."""
    input:
        predictions=PREDICTIONS,
        tasks=TASK_TABLES,
    output:
        OUTCOMES,
    log:
        f"{RESULTS}/logs/heldout/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/heldout/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS if TASK_TABLES else [],
        seed=STUDY["seed"],
        heldout=SPLIT_OPTIONS,
        code=code_of("heldout.py"),
    script:
        "../../scripts/heldout.py"


rule heldout_guessers:
    """The same with random guessers in place of prompts, as the reference."""
    input:
        predictions=PREDICTIONS,
        tasks=TASK_TABLES,
    output:
        GUESSERS,
    log:
        f"{RESULTS}/logs/heldout_guessers/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/heldout_guessers/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS if TASK_TABLES else [],
        seed=STUDY["seed"],
        heldout=SPLIT_OPTIONS,
        sets=max(1, GUESSED // len(SETTINGS)),
        code=code_of("heldout_guessers.py"),
    script:
        "../../scripts/heldout_guessers.py"


rule heldout_tables:
    """The tables of how well each baseline predicts held-out results."""
    input:
        outcomes=of_all_models(OUTCOMES),
        guessers=of_all_models(GUESSERS),
    output:
        reported_tables(HELDOUT, "Held-out data", "../../report/heldout.rst"),
    log:
        f"{RESULTS}/logs/heldout_tables.log",
    benchmark:
        f"{RESULTS}/benchmarks/heldout_tables.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("heldout_tables.py"),
    script:
        "../../scripts/heldout_tables.py"
