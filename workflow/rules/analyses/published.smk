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
        "The verdicts above use corrected values: the chance level from the "
        "choices of each task, the number of examples that were evaluated, and the "
        "number of distinct prompts. The paper uses other values of n (examples), "
        "p (chance) and t (prompts). The table counts settings by their verdict "
        "with the paper's values (rows) and with the corrected values (columns).",
    ),
    ShownTable(
        "changes",
        "Verdicts that change",
        "The settings whose verdict changes with the corrected values.",
    ),
    ShownTable(
        "audit_summary",
        "Errors in the release",
        "The number of findings, tasks and models for each kind of error. All findings and their "
        "evidence are in tables/audit.csv.",
    ),
    ShownTable(
        "published_heldout_by_model",
        "Held-out results, as published",
        "A baseline predicts success if the chosen prompt is above it on the "
        "validation split. Success means above chance on the held-out split. The "
        "table shows how well these predictions agree with the outcomes of the "
        "released splits.",
    ),
    ShownTable("published_conventions"),
    ShownTable("published_verdicts"),
    ShownTable("published_grid"),
    ShownTable("published_heldout_by_task"),
    ShownTable("published_heldout_difference"),
    ShownTable("mended_grid"),
    ShownTable("audit"),
]
BY_CONVENTIONS = (
    "All released prompts, with the paper's numbers of examples and prompts and its "
    "chance levels. "
)
PUBLISHED_FIGURES = [
    ShownFigure(
        "guessers",
        "Prompts of one setting and random guessers",
        BY_CONVENTIONS
        + (
            "The panels show three distributions of accuracies: of all prompts, of "
            "one random guesser, and of the best of as many guessers as prompts."
        ),
    ),
    ShownFigure(
        "chosen_tasks",
        "Expected best accuracy by number of prompts, on some tasks",
        BY_CONVENTIONS
        + (
            "Top: the expected best accuracy by number of prompts, and both "
            "baselines. Bottom: the probability that guessing reaches the expected "
            "best accuracy, for one guesser (dashed) and for the best of as many "
            "guessers as prompts (solid)."
        ),
    ),
    ShownFigure(
        "base_and_tuned",
        "Base models and instruction-tuned models",
        BY_CONVENTIONS + "Solid: the base model. Dotted: the instruction-tuned model.",
    ),
    ShownFigure(
        "published_agreement",
        "Which baseline predicts held-out results, as published",
        "The figure uses the outcomes of the released splits. Marks show the "
        "decision 'above the baseline'. Lines use the tail probability as a score.",
    ),
    ShownFigure(
        "roc_by_prompts",
        "Which baseline predicts held-out results, by number of prompts",
        "ROC curves for the outcomes of the released splits, with one panel per number of prompts.",
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
        "The probability that random guessing reaches an accuracy: the best of as "
        "many guessers as prompts. The dashed line is the expected accuracy of one "
        "guesser.",
    ),
    ShownFigure(
        "suite_rise",
        "Difference between the two baselines",
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
        f"All results of a base model and its instruction-tuned model: {base}",
        BY_CONVENTIONS + "Solid: the base model. Dotted: the instruction-tuned model.",
    )
    for base in PAIRS
]
TABLES += PUBLISHED_TABLES
FIGURES += [*PAIR_FIGURES, *PUBLISHED_FIGURES, *BASELINE_FIGURES]


RELEASED_OUTCOMES = f"{RESULTS}/release/outcomes/{{model_file}}.parquet"


rule released_heldout:
    """New random splits of the released predictions, with the paper's numbers of examples and prompts."""
    input:
        predictions=RELEASED,
    output:
        RELEASED_OUTCOMES,
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


KEPT += of_all_models(RELEASED_OUTCOMES)


rule published_tables:
    """The paper's tables as published and with corrected values, and the audit."""
    input:
        release=STUDY["release"],
        accuracy=of_all_models(RELEASED_ACCURACY),
        outcomes=of_all_models(RELEASED_OUTCOMES),
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
        outcomes=of_all_models(RELEASED_OUTCOMES),
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
    """Figures of the random baselines in general, without data from a study."""
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
            labels={"figure": "A base model and its instruction-tuned model: {model}"},
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
