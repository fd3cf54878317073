"""ROC and precision-recall curves of both baselines as predictors.

needs: predictions
after: spread
question: Does the best prompt generalize to new examples?
in:  heldout/outcomes/, heldout/guessers/
out: figures/agreement
"""

AGREEMENT = ShownFigure(
    "agreement",
    "Which baseline predicts held-out results?",
    "Each baseline predicts whether the chosen prompt is above the standard baseline on "
    "the test split. Filled marks use the decision: is the prompt above this baseline on "
    "the validation split? Coloured lines use its tail probability as a score. The "
    "reference is random guessers (hollow marks and dotted lines), not the diagonal. "
    "Guessers who do well on the validation split do badly on the test split.",
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
