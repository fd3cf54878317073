"""The expected best accuracy by number of prompts, a figure for each model.

in:  accuracy/
out: figures/expected_maximum_<model>
"""

FIGURES += map(catalogue.expected_maximum, MODELS)


rule figure_expected_maximum:
    """The expected best accuracy by number of prompts, for one model."""
    input:
        accuracy=ACCURACY,
    output:
        multiext(f"{RESULTS}/figures/expected_maximum_{{model_file}}", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/expected_maximum_{{model_file}}.png",
            caption="../../report/expected_maximum.rst",
            category="Figures",
            labels={"figure": "The best of ever more prompts: {model_file}"},
        ),
    log:
        f"{RESULTS}/logs/figures/expected_maximum_{{model_file}}.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("figure_expected_maximum.py"),
    script:
        "../../scripts/figure_expected_maximum.py"
