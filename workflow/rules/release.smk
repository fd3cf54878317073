"""Predictions that others published, in place of scores.

in:  a release (a folder or zip file) and the tasks it is about
out: predictions.parquet and accuracy.parquet, mended; release/, as it is, and what does not hold
"""


rule released_examples:
    """What the example ids of the release stand for."""
    input:
        source=bigbench_source(),
    output:
        examples=f"{RESULTS}/release/examples.parquet",
    log:
        f"{RESULTS}/logs/release/examples.log",
    priority: 100
    conda:
        "../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        pinned=None if "bigbench" in STUDY else DOWNLOADS["bigbench"],
        code=code_of("released_examples.py"),
    script:
        "../scripts/released_examples.py"


rule release:
    """The predictions, as they are and mended, and the audit."""
    input:
        release=STUDY["release"],
        examples=rules.released_examples.output.examples,
    output:
        released=f"{RESULTS}/release/released.parquet",
        released_accuracy=f"{RESULTS}/release/accuracy.parquet",
        predictions=PREDICTIONS,
        accuracy=ACCURACY,
        audit=f"{RESULTS}/release/audit.csv",
    log:
        f"{RESULTS}/logs/release/release.log",
    benchmark:
        f"{RESULTS}/benchmarks/release.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code_of("release.py"),
    script:
        "../scripts/release.py"


rule released_heldout:
    """Own seeded splits of the released predictions, by the paper's conventions."""
    input:
        predictions=rules.release.output.released,
    output:
        f"{RESULTS}/release/outcomes.parquet",
    log:
        f"{RESULTS}/logs/release/heldout.log",
    benchmark:
        f"{RESULTS}/benchmarks/released_heldout.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        seed=STUDY["seed"],
        heldout=STUDY["heldout"] | {"whole_split": True},
        code=code_of("heldout.py"),
    script:
        "../scripts/heldout.py"


PUBLISHED_TABLES = [
    "published_conventions",
    "published_verdicts",
    "published_grid",
    "published_heldout_by_model",
    "published_heldout_by_task",
    "published_heldout_difference",
    "mended_grid",
    "changes",
    "changes_count",
    "audit",
    "audit_summary",
]


rule published_tables:
    """The paper's tables as published, beside those of the mended data, and the audit."""
    input:
        release=STUDY["release"],
        accuracy=rules.release.output.released_accuracy,
        outcomes=rules.released_heldout.output,
        audit=rules.release.output.audit,
        verdicts=f"{RESULTS}/verdicts.csv",
    output:
        expand(
            f"{RESULTS}/tables/{{name}}.{{suffix}}",
            name=PUBLISHED_TABLES,
            suffix=["csv", "md", "tex"],
        ),
    log:
        f"{RESULTS}/logs/release/tables.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code_of("published_tables.py"),
    script:
        "../scripts/published_tables.py"


PAIRS = {base: tuned for base, tuned in STUDY["pairs"].items() if base in MODELS}
LANDSCAPES = ["maximum_contours", "tail_contours", "suite_rise", "suite_tails"]
PUBLISHED_FIGURES = [
    "guessers",
    "chosen_tasks",
    "base_and_tuned",
    "published_agreement",
    "roc_by_prompts",
]


rule figure_landscape:
    """What the random baselines are where: of no study in particular."""
    output:
        expand(
            f"{RESULTS}/figures/{{name}}.{{suffix}}",
            name=LANDSCAPES,
            suffix=["png", "pdf", "csv"],
        ),
    log:
        f"{RESULTS}/logs/figures/landscapes.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        names=LANDSCAPES,
        code=code_of("figure_landscape.py"),
    script:
        "../scripts/figure_landscape.py"


rule published_figures:
    """The paper's figures of single settings and of its held-out study."""
    input:
        release=STUDY["release"],
        accuracy=rules.release.output.released_accuracy,
        outcomes=rules.released_heldout.output,
    output:
        expand(
            f"{RESULTS}/figures/{{name}}.{{suffix}}",
            name=PUBLISHED_FIGURES,
            suffix=["png", "pdf", "csv"],
        ),
    log:
        f"{RESULTS}/logs/figures/published.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        illustrated=STUDY["illustrated"],
        pairs=PAIRS,
        code=code_of("published_figures.py"),
    script:
        "../scripts/published_figures.py"


rule figure_pair:
    """All results of a base model and of the one that was tuned from it."""
    input:
        accuracy=rules.release.output.released_accuracy,
    output:
        multiext(f"{RESULTS}/figures/pair_{{model}}", ".png", ".pdf", ".csv"),
    log:
        f"{RESULTS}/logs/figures/pair_{{model}}.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        tuned=lambda wildcards: PAIRS[wildcards.model],
        code=code_of("figure_pair.py"),
    script:
        "../scripts/figure_pair.py"
