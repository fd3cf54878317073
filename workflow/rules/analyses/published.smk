"""The paper's tables and figures of its released predictions, beside those by the data.

needs: release
after: models
instead of: expected_maximum
question: What does the release show?
in:  a release's predictions, as they are and mended
out: its tables and figures
"""

PAIRS = {base: tuned for base, tuned in STUDY["pairs"].items() if base in MODELS}
PUBLISHED_TABLES = [
    ShownTable(
        "changes_count",
        "Verdicts as published and corrected",
        "The verdicts above use corrected values: chance from the tasks' own "
        "choices, the examples that were evaluated, and the distinct prompts. The "
        "table counts the settings by their verdict with the paper's n, p and t, "
        "and by their corrected verdict.",
    ),
    ShownTable(
        "changes",
        "Verdicts that change",
        "Settings with another verdict after the correction.",
    ),
    ShownTable(
        "audit_summary",
        "Errors in the release",
        "The number of settings with each error. tables/audit.csv lists them with evidence.",
    ),
    ShownTable(
        "published_heldout_by_model",
        "Held-out results, as published",
        "How well 'above the baseline on validation' predicts 'above chance on "
        "the held-out part', from the outcomes of the released splits.",
    ),
    ShownTable("published_conventions"),
    ShownTable("published_verdicts"),
    ShownTable("published_grid"),
    ShownTable("published_heldout_by_task"),
    ShownTable("published_heldout_difference"),
    ShownTable("mended_grid"),
    ShownTable("audit"),
]
BY_CONVENTIONS = "With the paper's n, p and t, for all released prompts. "
PUBLISHED_FIGURES = [
    ShownFigure(
        "guessers",
        "Prompts of one setting and random guessers",
        BY_CONVENTIONS
        + (
            "The distributions of the prompts' accuracies, of the accuracy of one random guesser, "
            "and of the best of as many guessers as prompts."
        ),
    ),
    ShownFigure(
        "chosen_tasks",
        "Expected best accuracy by number of prompts, on some tasks",
        BY_CONVENTIONS
        + (
            "Top: the expected best accuracy of that many prompts, and both baselines. "
            "Bottom: the probability that guessing reaches it, for one guesser (dashed) "
            "and for the best of as many guessers as prompts (solid)."
        ),
    ),
    ShownFigure(
        "base_and_tuned",
        "Base models and instruction-tuned models",
        BY_CONVENTIONS
        + "Solid: the base model. Dotted: the one that was tuned from it.",
    ),
    ShownFigure(
        "published_agreement",
        "Which baseline predicts held-out results, as published",
        "From the outcomes of the released splits. Marks show the decision 'above', and "
        "lines the tail probability as a score.",
    ),
    ShownFigure(
        "roc_by_prompts",
        "Which baseline predicts held-out results, by number of prompts",
        "From the outcomes of the released splits.",
    ),
]
BASELINE_FIGURES = [
    ShownFigure(
        "maximum_contours",
        "The maximum random baseline",
        "The expected accuracy of the best of as many random guessers as prompts.",
    ),
    ShownFigure(
        "tail_contours",
        "Tail probabilities",
        "Probability that the best of as many guessers as prompts reaches an accuracy. "
        "Dashed: one guesser's expected accuracy.",
    ),
    ShownFigure(
        "suite_rise",
        "Rise of the baseline",
        "The difference between the maximum and the standard baseline. Each dot is a task.",
    ),
    ShownFigure(
        "suite_tails",
        "Tail probabilities of normalized scores",
        "The probability that guessing reaches a normalized score (0: chance, 100: "
        "perfect). Each line is a task.",
    ),
]
PAIR_FIGURES = [
    ShownFigure(
        f"pair_{base}",
        f"All results of a base model and the one tuned from it: {base}",
        BY_CONVENTIONS
        + "Solid: the base model. Dotted: the one that was tuned from it.",
    )
    for base in PAIRS
]
TABLES += PUBLISHED_TABLES
FIGURES += [*PAIR_FIGURES, *PUBLISHED_FIGURES, *BASELINE_FIGURES]


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
        heldout=SPLIT_OPTIONS | {"whole_split": True},
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
        reported_tables(PUBLISHED_TABLES, "Published", "../../report/published.rst"),
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
        reported_figures(PUBLISHED_FIGURES, "../../report/published_figures.rst"),
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
        reported_figures(BASELINE_FIGURES, "../../report/baselines.rst"),
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
