"""The accuracies of all prompts with both baselines.

in:  accuracy/ and the verdicts
out: figures/spread
"""

FIGURES += [catalogue.SPREAD]


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
            labels={"figure": catalogue.SPREAD.title},
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
