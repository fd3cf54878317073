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
    "Each small dot is a prompt; the large dot is the best prompt. Compare it with the "
    "solid line, the maximum random baseline, rather than with the dashed line, the "
    "standard random baseline. A filled dot with a star is better than chance. A ring "
    "means that it is not, and a ring with a question mark that it is unclear. With more "
    "than 60 settings in a panel, only the best prompts are shown.",
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
