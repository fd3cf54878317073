"""ROC and precision-recall curves of both baselines as predictors.

needs: predictions
after: spread
question: Does the best prompt hold on new examples?
in:  heldout/outcomes/, heldout/guessers/
out: figures/agreement
"""

AGREEMENT = ShownFigure(
    "agreement",
    "Which baseline predicts held-out results?",
    'Does "above a baseline on the validation split" predict "above the standard '
    'baseline on the test split"? Marks show the decision, and coloured lines the tail '
    "probability as a score. Compare them with random guessers (dotted lines and hollow "
    "marks) rather than with the diagonal, because guessers who do well on one part do "
    "badly on the other.",
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
