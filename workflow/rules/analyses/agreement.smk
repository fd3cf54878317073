"""ROC and precision-recall curves of both baselines as predictors.

needs: predictions
after: spread
in:  heldout/outcomes/, heldout/guessers/
out: figures/agreement
"""

AGREEMENT = ShownFigure(
    "agreement",
    "Which baseline foresees held-out results",
    "Does being above a baseline on the validation split foresee that the chosen prompt is above the "
    "standard baseline on the held-out test split? Marks: the decision to be above. Coloured lines: "
    "its tail probability as a score. Dotted lines and hollow marks: the same of random guessers in place of "
    "prompts. What a validation part has, the test part lacks, so guessers who do well on one do badly on "
    "the other: they, and not the thin diagonal, are the reference.",
)
FIGURES += [AGREEMENT]


rule figure_agreement:
    """ROC and precision-recall curves of both baselines as predictors."""
    input:
        outcomes=of_all_models(OUTCOMES),
        guessers=of_all_models(GUESSERS),
    output:
        multiext(f"{RESULTS}/figures/agreement", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/agreement.png",
            caption="../../report/agreement.rst",
            category="Figures",
            labels={"figure": AGREEMENT.title},
        ),
    log:
        f"{RESULTS}/logs/figures/agreement.log",
    benchmark:
        f"{RESULTS}/benchmarks/figure_agreement.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("figure_agreement.py"),
    script:
        "../../scripts/figure_agreement.py"
