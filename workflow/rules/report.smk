"""What people look at.

in:  verdicts, accuracy, predictions and held-out outcomes
out: figures/*.{pdf,png,csv}, report.html and the resolved config.yaml
"""

FIGURE_NAMES = ["spread", "agreement"]
if RELEASE:
    FIGURE_NAMES += [f"pair_{model}" for model in PAIRS]
    FIGURE_NAMES += PUBLISHED_FIGURES + LANDSCAPES
else:
    FIGURE_NAMES += [f"expected_maximum_{model}" for model in MODELS]
FIGURES = expand(
    f"{RESULTS}/figures/{{name}}.{{suffix}}",
    name=FIGURE_NAMES,
    suffix=["pdf", "png", "csv"],
)


rule figure_spread:
    """The accuracies of all prompts with both baselines."""
    input:
        accuracy=ACCURACY,
        verdicts=rules.verdicts.output,
    output:
        multiext(f"{RESULTS}/figures/spread", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/spread.png",
            caption="../report/spread.rst",
            category="Figures",
        ),
    log:
        f"{RESULTS}/logs/figures/spread.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code_of("figure_spread.py"),
    script:
        "../scripts/figure_spread.py"


rule figure_expected_maximum:
    """The expected best accuracy by number of prompts, for one model."""
    input:
        accuracy=ACCURACY,
    output:
        multiext(f"{RESULTS}/figures/expected_maximum_{{model}}", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/expected_maximum_{{model}}.png",
            caption="../report/expected_maximum.rst",
            category="Figures",
        ),
    log:
        f"{RESULTS}/logs/figures/expected_maximum_{{model}}.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code_of("figure_expected_maximum.py"),
    script:
        "../scripts/figure_expected_maximum.py"


rule figure_agreement:
    """ROC and precision-recall curves of both baselines as predictors."""
    input:
        outcomes=rules.heldout.output,
    output:
        multiext(f"{RESULTS}/figures/agreement", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/agreement.png",
            caption="../report/agreement.rst",
            category="Figures",
        ),
    log:
        f"{RESULTS}/logs/figures/agreement.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code_of("figure_agreement.py"),
    script:
        "../scripts/figure_agreement.py"


rule resolved_config:
    """The config with its defaults, beside the results it led to."""
    output:
        f"{RESULTS}/config.yaml",
    log:
        f"{RESULTS}/logs/config.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        config=STUDY,
        code=code_of("resolved_config.py"),
    script:
        "../scripts/resolved_config.py"


rule report:
    """One file that opens anywhere."""
    input:
        verdicts=rules.verdicts.output,
        outcomes=rules.heldout.output,
        config=rules.resolved_config.output,
        made_from=SCORES if SCORED else [PREDICTIONS],
        tables=TABLES,
        figures=expand(f"{RESULTS}/figures/{{name}}.png", name=FIGURE_NAMES),
    output:
        f"{RESULTS}/report.html",
    log:
        f"{RESULTS}/logs/report.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        study=STUDY["study"],
        figures=FIGURE_NAMES,
        tables=ALL_TABLES,
        code=code_of("report.py"),
    script:
        "../scripts/report.py"
