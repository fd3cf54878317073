"""ROC and precision-recall curves of both baselines as predictors.

in:  heldout/outcomes.parquet, heldout/guessers.parquet
out: figures/agreement
"""

FIGURES += [catalogue.AGREEMENT]


rule figure_agreement:
    """ROC and precision-recall curves of both baselines as predictors."""
    input:
        outcomes=OUTCOMES,
        guessers=GUESSERS,
    output:
        multiext(f"{RESULTS}/figures/agreement", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/agreement.png",
            caption="../../report/agreement.rst",
            category="Figures",
        ),
    log:
        f"{RESULTS}/logs/figures/agreement.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("figure_agreement.py"),
    script:
        "../../scripts/figure_agreement.py"
