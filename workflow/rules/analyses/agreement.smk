"""ROC and precision-recall curves of both baselines as predictors.

in:  heldout/outcomes/, heldout/guessers/
out: figures/agreement
"""

FIGURES += [catalogue.AGREEMENT]


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
            labels={"figure": catalogue.AGREEMENT.title},
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
