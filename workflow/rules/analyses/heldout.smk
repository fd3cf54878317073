"""What the best prompt on validation reaches on held-out test.

needs: predictions
after: verdicts
question: Does the best prompt hold on new examples?
in:  predictions/
out: heldout/outcomes/ and heldout/guessers/ of each model, and tables of them
"""

OUTCOMES = f"{RESULTS}/heldout/outcomes/{{model_file}}.parquet"
GUESSERS = f"{RESULTS}/heldout/guessers/{{model_file}}.parquet"
HELDOUT = [
    ShownTable(
        "heldout_by_prompts",
        "How well do the baselines predict held-out results?",
        "In each split, the prompt with the best validation accuracy is chosen. A baseline "
        "predicts success if the validation accuracy is above it. Success means that the test "
        "accuracy is above the standard baseline. Random guessers are the reference: a good "
        "validation part leaves a bad test part, so an area of 0.5 is not what they reach.",
        without_rows="There are too few examples: no split has examples in both parts.",
    ),
    ShownTable("heldout_by_model"),
    ShownTable("heldout_by_task"),
    ShownTable(
        "heldout_difference",
        "Which baseline predicts held-out results better?",
        "The best prompt is chosen from the largest number of prompts. The table "
        "shows the accuracy of the decision, and the areas under the ROC curve "
        "for two scores: the decision and the tail probability. Splits of one "
        "setting, and settings of one task, are not independent, so the 95 % "
        "interval resamples tasks. There is no interval with fewer than five "
        "tasks.",
    ),
]
TABLES += HELDOUT
KEPT += [*of_all_models(OUTCOMES), *of_all_models(GUESSERS)]
GUESSED = 200  # a study with fewer settings has its guessers drawn several times, so that luck shows less


rule heldout:
    """What the best prompt on validation reaches on held-out test, in many splits."""
    input:
        predictions=PREDICTIONS,
    output:
        OUTCOMES,
    log:
        f"{RESULTS}/logs/heldout/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/heldout/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        seed=STUDY["seed"],
        heldout=SPLIT_OPTIONS,
        code=code_of("heldout.py"),
    script:
        "../../scripts/heldout.py"


rule heldout_guessers:
    """The same with random guessers in place of prompts: what no skill gives."""
    input:
        predictions=PREDICTIONS,
    output:
        GUESSERS,
    log:
        f"{RESULTS}/logs/heldout_guessers/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/heldout_guessers/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        seed=STUDY["seed"],
        heldout=SPLIT_OPTIONS,
        sets=max(1, GUESSED // len(SETTINGS)),
        code=code_of("heldout_guessers.py"),
    script:
        "../../scripts/heldout_guessers.py"


rule heldout_tables:
    """How well each baseline foresees held-out results."""
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
