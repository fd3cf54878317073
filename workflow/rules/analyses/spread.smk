"""The accuracies of all prompts with both baselines.

needs: predictions
after: heldout
in:  accuracy/ and the verdicts
out: figures/spread
"""

SPREAD = ShownFigure(
    "spread",
    "The spread of prompts",
    "Each small dot is a prompt; the large one is the best. Dashed: the standard random baseline. Solid: the "
    "maximum random baseline, the mean of what the best of as many guessers reaches. A best prompt under it "
    "is what luck alone gives; one above it may be, too. Stars say that as many guessers seldom do as well: "
    "* with a probability of at most 0.05, ** of at most 0.01; a ring, that they do more often. Where a "
    "panel has more than 60 settings, only best prompts are shown, in their order.",
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
