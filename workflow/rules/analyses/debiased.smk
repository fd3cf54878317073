"""Does the debiased accuracy of the best prompt predict its accuracy on held-out examples?

needs: predictions
after: heldout
question: How much of the best score is luck?
in:  predictions/, the verdicts, and tasks/ where a study has these
out: heldout/debiased/ of each model, tables/luck, tables/heldout_debiased and figures/debiased
"""

DEBIASED = f"{RESULTS}/heldout/debiased/{{model_file}}.parquet"
LUCK = [
    ShownTable(
        "luck",
        "Luck in the best score",
        "'Expected by luck' is the expected best accuracy if all prompts were equally "
        "good. If the selection tail is small, some prompt is better than the others. "
        "The debiased accuracy and its 95 % interval estimate the true accuracy of the "
        "best prompt. Both are corrected for the choice of the best prompt.",
        most_rows=30,
        hidden=("prompts", "examples"),
    ),
    ShownTable(
        "heldout_debiased",
        "Debiased accuracy and held-out accuracy",
        "In each of 20 splits, the prompt with the best validation accuracy is chosen. The "
        "errors are means of the validation accuracy (or of the debiased accuracy) minus "
        "the test accuracy. An estimate without bias has an error of 0. The coverage "
        "should be about 0.95 or higher.",
        without_rows="There are too few prompts or examples.",
    ),
]
CALIBRATION = ShownFigure(
    "debiased",
    "Debiased accuracy and held-out accuracy, by setting",
    "Each setting has two marks: the mean validation accuracy of the chosen prompt "
    "(grey) and its mean debiased accuracy (blue). An estimate without bias is on the "
    "diagonal. Marks above the diagonal are too high.",
)
TABLES += LUCK
FIGURES += [CALIBRATION]
KEPT += of_all_models(DEBIASED)


rule debiased:
    """The debiased accuracy on validation examples, and the accuracy on test examples."""
    input:
        predictions=PREDICTIONS,
        tasks=TASK_TABLES,
    output:
        DEBIASED,
    log:
        f"{RESULTS}/logs/debiased/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/debiased/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS if TASK_TABLES else [],
        seed=STUDY["seed"],
        heldout=SPLIT_OPTIONS,
        code=code_of("debiased.py"),
    script:
        "../../scripts/debiased.py"


rule debiased_tables:
    """Tables and a figure of how well the debiased accuracy predicts held-out accuracy."""
    input:
        verdicts=VERDICTS,
        debiased=of_all_models(DEBIASED),
    output:
        tables=reported_tables(LUCK, "Luck", "../../report/debiased.rst"),
        figure=multiext(f"{RESULTS}/figures/debiased", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/debiased.png",
            caption="../../report/debiased.rst",
            category="Figures",
            labels={"figure": CALIBRATION.title},
        ),
    log:
        f"{RESULTS}/logs/debiased_tables.log",
    benchmark:
        f"{RESULTS}/benchmarks/debiased_tables.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("debiased_tables.py"),
    script:
        "../../scripts/debiased_tables.py"
