"""The accuracies of all prompts with both baselines.

needs: predictions
after: heldout
question: Is the best score better than chance?
in:  accuracy/ and the verdicts
out: figures/spread
"""

SPREAD = ShownFigure(
    "spread",
    "Accuracy of every prompt",
    "Each small dot is a prompt. The large dot is the best prompt. Compare the "
    "best prompt with the maximum random baseline (solid line), not with the "
    "standard random baseline (dashed line). A filled dot with a star means: "
    "better than chance. A ring means: not better than chance. A ring with a "
    "question mark means: unclear. If prompts are evaluated on different examples, "
    "the lines are those of the best prompt. With more than 60 settings in a panel, only the "
    "best prompts are shown.",
)
FIGURES += [SPREAD]


rule figure_spread:
    """The accuracies of all prompts with both baselines."""
    input:
        accuracy=of_all_models(ACCURACY),
        verdicts=VERDICTS,
    output:
        multiext(f"{RESULTS}/figures/spread", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/spread.png",
            caption="../../report/spread.rst",
            category="Figures",
            labels={"figure": SPREAD.title},
        ),
    log:
        f"{RESULTS}/logs/figures/spread.log",
    benchmark:
        f"{RESULTS}/benchmarks/figure_spread.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("figure_spread.py"),
    script:
        "../../scripts/figure_spread.py"
