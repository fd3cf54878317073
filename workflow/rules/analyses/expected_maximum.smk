"""The expected best accuracy by number of prompts, a figure for each model.

in:  accuracy.parquet
out: figures/expected_maximum_<model>
"""

FIGURES += map(catalogue.expected_maximum, MODELS)
MODEL_IN_FILE = {file_name(model): model for model in MODELS}


rule figure_expected_maximum:
    """The expected best accuracy by number of prompts, for one model."""
    input:
        accuracy=ACCURACY,
    output:
        multiext(f"{RESULTS}/figures/expected_maximum_{{model}}", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/expected_maximum_{{model}}.png",
            caption="../../report/expected_maximum.rst",
            category="Figures",
        ),
    log:
        f"{RESULTS}/logs/figures/expected_maximum_{{model}}.log",
    wildcard_constraints:
        model="|".join(map(re.escape, MODEL_IN_FILE)),
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        model=lambda wildcards: MODEL_IN_FILE[wildcards.model],
        code=code_of("figure_expected_maximum.py"),
    script:
        "../../scripts/figure_expected_maximum.py"
