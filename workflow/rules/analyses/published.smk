"""The paper's tables and figures of its released predictions, beside those by the data.

in:  a release's predictions, as they are and mended
out: its tables and figures
"""

from abovechance.published import catalogue as published

PAIRS = {base: tuned for base, tuned in STUDY["pairs"].items() if base in MODELS}
TABLES += published.TABLES
FIGURES += [*map(published.pair, PAIRS), *published.FIGURES, *published.BASELINES]


rule released_heldout:
    """Own seeded splits of the released predictions, by the paper's conventions."""
    input:
        predictions=RELEASED,
    output:
        f"{RESULTS}/release/outcomes/{{model_file}}.parquet",
    log:
        f"{RESULTS}/logs/release/heldout/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/released_heldout/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        seed=STUDY["seed"],
        heldout=STUDY["heldout"] | {"whole_split": True},
        code=code_of("heldout.py"),
    script:
        "../../scripts/heldout.py"


KEPT += of_all_models(rules.released_heldout.output[0])


rule published_tables:
    """The paper's tables as published, beside those of the mended data, and the audit."""
    input:
        release=STUDY["release"],
        accuracy=of_all_models(RELEASED_ACCURACY),
        outcomes=of_all_models(rules.released_heldout.output[0]),
        audit=rules.release.output.audit,
        verdicts=VERDICTS,
    output:
        reported_tables(published.TABLES, "Published", "../../report/published.rst"),
    log:
        f"{RESULTS}/logs/release/tables.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("published_tables.py"),
    script:
        "../../scripts/published_tables.py"


rule published_figures:
    """The paper's figures of single settings and of its held-out study."""
    input:
        release=STUDY["release"],
        accuracy=of_all_models(RELEASED_ACCURACY),
        outcomes=of_all_models(rules.released_heldout.output[0]),
    output:
        reported_figures(published.FIGURES, "../../report/published_figures.rst"),
    log:
        f"{RESULTS}/logs/figures/published.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        illustrated=STUDY["illustrated"],
        pairs=PAIRS,
        code=code_of("published_figures.py"),
    script:
        "../../scripts/published_figures.py"


rule figure_baselines:
    """What the random baselines are where: of no study in particular."""
    output:
        reported_figures(published.BASELINES, "../../report/baselines.rst"),
    log:
        f"{RESULTS}/logs/figures/baselines.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("figure_baselines.py"),
    script:
        "../../scripts/figure_baselines.py"


rule figure_pair:
    """All results of a base model and of the one that was tuned from it."""
    input:
        accuracy=of_all_models(RELEASED_ACCURACY),
    output:
        multiext(f"{RESULTS}/figures/pair_{{model}}", ".pdf", ".csv"),
        png=report(
            f"{RESULTS}/figures/pair_{{model}}.png",
            caption="../../report/pair.rst",
            category="Figures",
            labels={"figure": "A base model and the one tuned from it: {model}"},
        ),
    log:
        f"{RESULTS}/logs/figures/pair_{{model}}.log",
    wildcard_constraints:
        model="|".join(map(re.escape, PAIRS)),
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        tuned=lambda wildcards: PAIRS[wildcards.model],
        code=code_of("figure_pair.py"),
    script:
        "../../scripts/figure_pair.py"
