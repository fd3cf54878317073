"""How much inputs tell models about answers: which examples are hard.

needs: null scores
after: precision
question: Which examples are hard?
in:  scores/, null_scores/, tasks/ and predictions/
out: pvi/ of each model, tables and figures of it
"""

PVI = f"{RESULTS}/pvi/{{model_file}}.parquet"
PVI_OF = {
    table: f"{RESULTS}/pvi/{table}/{{model_file}}.parquet"
    for table in ("settings", "prompts", "examples", "densities", "pairs")
}
PVI_TABLES = [
    ShownTable(
        "pvi",
        "How much do inputs tell about answers?",
        "Pointwise V-usable information (PVI) is the number of bits by which an "
        "example's input makes its answer more likely. The mean over examples is the "
        "information that inputs have for this model, with its 95 % interval (low, "
        "high). Below 0, the input misleads. The next columns are the mean PVI of "
        "correct and of wrong predictions, the share of negative values, and the "
        "threshold that best separates correct from wrong predictions, with its "
        "balanced accuracy (0.5 is chance).",
    ),
    ShownTable(
        "pvi_tails",
        "Accuracy on the hardest and easiest examples",
        "Accuracy on the fifths and halves of examples with the lowest and "
        "highest PVI, averaged over exemplar sets. PVI contains the answer's "
        "probability, so low PVI and low accuracy go together partly by "
        "definition. In addition, a model that prefers one answer is correct on "
        "all examples with this answer. The columns that begin with other avoid "
        "both problems: they order the examples of each label by their PVI under "
        "the other exemplar sets.",
    ),
    ShownTable(
        "pvi_consistency",
        "Are the same examples hard again?",
        "The table shows Pearson's r between the PVI of the same examples under "
        "two exemplar sets, for two numbers of shots, and for two models. It has "
        "the mean, the median, and the numbers of correlations above 0.6 and "
        "below 0.3. The column within shows the mean r after removing the mean of "
        "each label. A preference for one answer alone makes r large, or negative "
        "if two prompts prefer different answers. All correlations with their "
        "intervals are in tables/pvi_pairs.csv.",
    ),
    ShownTable("pvi_pairs"),
    ShownTable(
        "pvi_exemplar_sets",
        "Do exemplar sets differ?",
        "Does the mean PVI of the same examples differ between prompts? The table "
        "shows a repeated-measures analysis of variance: the share of the "
        "variance within examples that the prompt explains, F with its degrees of "
        "freedom (Greenhouse and Geisser), and the p-value.",
    ),
    ShownTable(
        "pvi_anova",
        "Do exemplar sets differ? The paper's test",
        "The paper's analysis of variance of the mean PVI of correct predictions, with "
        "one number per exemplar set and number of shots. With so few numbers it "
        "seldom finds a difference, and a null result says little. The table above "
        "uses all examples.",
    ),
    ShownTable(
        "pvi_hardest",
        "The hardest examples of each label",
        "These are the examples with the lowest PVI, averaged over models, "
        "exemplar sets and numbers of shots.",
        most_rows=60,
    ),
    ShownTable(
        "pvi_mislabelled",
        "Examples whose labels may be wrong",
        "For these examples, the input supports another answer than the label, by "
        "the given margin in bits (averaged over settings). The list is sorted by "
        "the margin minus the median margin of the label. Weak models are wrong "
        "more often than labels. If most examples of a label are listed (label "
        "share), the models prefer another answer, and the list says nothing "
        "about the labels.",
        most_rows=20,
    ),
    ShownTable(
        "pvi_annotations",
        "Do annotators find the same examples hard?",
        "Pearson's r between PVI and the variation ratio: the share of annotators who "
        "disagree with the majority. It is below 0 if models and people find the same "
        "examples hard.",
    ),
]
TABLES += PVI_TABLES
PVI_MODELS = ShownFigure(
    "pvi_models",
    "Do models find the same examples hard?",
    "Pearson's r between two models' mean PVI of the same examples, with the most "
    "shots.",
)
PVI_FIGURES = [
    ShownFigure(
        "pvi_densities",
        "PVI of correct and wrong predictions",
        "The distribution of PVI over all prompts and examples with the most "
        "shots, for correct predictions (filled) and wrong predictions (line). "
        "The dashed line is the threshold that separates them best.",
    ),
    ShownFigure(
        "pvi_tails",
        "Accuracy on hard and easy examples",
        "Accuracy by PVI, from the fifth of examples with the lowest PVI to the "
        "fifth with the highest, averaged over exemplar sets. For the dotted "
        "lines, the examples of each label are ordered by the PVI of the other "
        "exemplar sets, which depends neither on the answer's probability nor on "
        "a preference for one answer.",
    ),
    ShownFigure(
        "pvi_annotations",
        "PVI and agreement of annotators",
        "Each small dot is an example: the share of annotators who disagree with the "
        "majority, and its mean PVI with the most shots. Large dots: the means of "
        "examples with the same share, with 95 % intervals.",
    ),
]
PVI_FIGURES += [PVI_MODELS] * (len(MODELS) > 1)
FIGURES += PVI_FIGURES


rule pvi:
    """The pointwise V-usable information of every example under every prompt of a model."""
    input:
        tasks=TASK_TABLES,
        evaluation_sets=EVALUATION_SETS,
        prompts=prompts_of_settings,
        scores=scores_of(DRAWN),
        null_scores=scores_of(NULL),
        predictions=PREDICTIONS,
    output:
        **PVI_OF,
        pvi=PVI,
    log:
        f"{RESULTS}/logs/pvi/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pvi/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=settings_of,
        tasks=TASKS,
        over=STUDY["pvi"]["over"],
        nested=STUDY["demonstrations"] == BALANCED,
        code=code_of("pvi.py"),
    script:
        "../../scripts/pvi.py"


rule pvi_tables:
    """What PVI says of settings, prompts and examples."""
    input:
        tasks=TASK_TABLES,
        settings=of_all_models(PVI_OF["settings"]),
        prompts=of_all_models(PVI_OF["prompts"]),
        examples=of_all_models(PVI_OF["examples"]),
        pairs=of_all_models(PVI_OF["pairs"]),
    output:
        reported_tables(PVI_TABLES, "Which examples are hard", "../../report/pvi.rst"),
    log:
        f"{RESULTS}/logs/pvi_tables.log",
    benchmark:
        f"{RESULTS}/benchmarks/pvi_tables.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        nested=STUDY["demonstrations"] == BALANCED,
        code=code_of("pvi_tables.py"),
    script:
        "../../scripts/pvi_tables.py"


rule pvi_figures:
    """Densities of PVI, the accuracy of hard and easy examples, and how alike models are."""
    input:
        tasks=TASK_TABLES,
        examples=of_all_models(PVI_OF["examples"]),
        densities=of_all_models(PVI_OF["densities"]),
        settings=of_all_models(PVI_OF["settings"]),
        prompts=of_all_models(PVI_OF["prompts"]),
        pairs=table_file("pvi_pairs"),
    output:
        reported_figures(PVI_FIGURES, "../../report/pvi.rst"),
    log:
        f"{RESULTS}/logs/pvi_figures.log",
    benchmark:
        f"{RESULTS}/benchmarks/pvi_figures.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        several=len(MODELS) > 1,
        code=code_of("pvi_figures.py"),
    script:
        "../../scripts/pvi_figures.py"


KEPT += of_all_models(PVI)
for pattern in PVI_OF.values():
    KEPT += of_all_models(pattern)
