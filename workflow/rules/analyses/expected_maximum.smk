"""The expected best accuracy by number of prompts, a figure for each model.

needs: predictions
after: models
question: Is the best score better than chance?
in:  accuracy/
out: figures/expected_maximum_<model>
"""

FIGURES += [
    ShownFigure(
        f"expected_maximum_{file_name(model)}",
        f"Expected best accuracy by number of prompts: {model}",
        "Top: the expected best accuracy by number of prompts tried (coloured), "
        "the standard baseline (dashed) and the maximum baseline (solid black). If "
        "a coloured line is above the black line, prompts do better than random "
        "guessers. Bottom: the probability that guessing reaches the expected best "
        "accuracy, for one guesser (dashed) and for the best of as many guessers "
        "as prompts (solid). The thin line marks 0.05.",
    )
    for model in DRAWN_MODELS.values()
]


rule figure_expected_maximum:
    """The expected best accuracy by number of prompts, for one model."""
    input:
        accuracy=lambda wildcards: ACCURACY.format(
            model_file=file_of(DRAWN_MODELS[wildcards.drawn_model])
        ),
    output:
        multiext(f"{RESULTS}/figures/expected_maximum_{{drawn_model}}", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/expected_maximum_{{drawn_model}}.png",
            caption="../../report/expected_maximum.rst",
            category="Figures",
            labels={
                "figure": "Expected best accuracy by number of prompts: {drawn_model}"
            },
        ),
    log:
        f"{RESULTS}/logs/figures/expected_maximum_{{drawn_model}}.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        model=lambda wildcards: DRAWN_MODELS[wildcards.drawn_model],
        code=code_of("figure_expected_maximum.py"),
    script:
        "../../scripts/figure_expected_maximum.py"
