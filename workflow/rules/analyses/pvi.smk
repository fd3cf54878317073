"""How much inputs tell models about answers: which examples are hard.

needs: null scores
after: precision
in:  scores/, null_scores/, tasks/ and predictions/
out: pvi/ of each model, tables and figures of it
"""

PVI = f"{RESULTS}/pvi/{{model_file}}.parquet"
PVI_OF = {
    what: f"{RESULTS}/pvi/{what}/{{model_file}}.parquet"
    for what in ("settings", "prompts", "examples", "densities", "pairs")
}
PVI_TABLES = [
    ShownTable(
        "pvi",
        "How much inputs tell about answers",
        "Pointwise V-usable information (PVI) is by how many bits an example's input makes its answer "
        "likelier; its mean over examples is the information that inputs have for this model, with its 95 % "
        "interval from low to high. Below 0, the input misleads. Ties of a right and a wrong choice are "
        "wrong predictions. Then the mean PVI of right and of wrong "
        "predictions; the share of negative ones; the threshold that divides right from wrong best, and how "
        "much it tells apart (0.5 is nothing). Probabilities of answers are over the vocabulary, or over the "
        "choices.",
    ),
    ShownTable(
        "pvi_tails",
        "Accuracy on the hardest and easiest examples",
        "Of the examples with the lowest and highest PVI, fifths and halves, mean over exemplar sets. PVI"
        " contains the answer's probability, so that low PVI is low accuracy partly by definition, and a "
        "model that likes one answer is right on its examples: the columns that begin with other order the "
        "examples of each label by their PVI under the other exemplar sets, which has neither in it.",
    ),
    ShownTable(
        "pvi_consistency",
        "Are the same examples hard again?",
        "Pearson's r of the PVI of the same examples under two exemplar sets, two numbers of shots, and "
        "for two models: mean, median, and how many are above 0.6 and below 0.3. Within: the mean r when "
        "each label's mean is taken away; a model that likes one answer finds all examples of the others "
        "hard, which makes r large, and negative between prompts behind which it likes another one. Each r "
        "with its interval: tables/pvi_pairs.csv.",
    ),
    ShownTable("pvi_pairs"),
    ShownTable(
        "pvi_exemplar_sets",
        "Do exemplar sets differ?",
        "Whether the mean PVI of the same examples differs between prompts, by an analysis of variance of "
        "repeated measures: the share of the variation within examples that is between prompts, F with its "
        "degrees of freedom between and within (Greenhouse and Geisser's), and p.",
    ),
    ShownTable(
        "pvi_anova",
        "Do exemplar sets differ? As the paper asks",
        "An analysis of variance of the mean PVI of right predictions, one number for each exemplar set and "
        "number of shots. With so few numbers a difference is seldom found, and that none is found says "
        "little; the table above asks all examples.",
    ),
    ShownTable(
        "pvi_hardest",
        "The hardest examples of each label",
        "Those whose inputs tell the models least, or mislead them most: mean PVI over models, exemplar sets "
        "and numbers of shots.",
        most_rows=60,
    ),
    ShownTable(
        "pvi_mislabelled",
        "Examples whose labels may be wrong",
        "The input speaks for another answer than the label, by so many bits more (margin, mean over "
        "settings); first those of which it does so most beyond the median of their label. Weak models are "
        "wrong more often than labels: where most examples of a label are listed (of label), models like "
        "another answer, and nothing is said of the labels.",
        most_rows=20,
    ),
    ShownTable(
        "pvi_annotations",
        "Do annotators find the same examples hard?",
        "Pearson's r of PVI and the variation ratio, the share of annotators who did not answer as most did; "
        "below 0 where models find hard what people do.",
    ),
]
TABLES += PVI_TABLES
PVI_MODELS = ShownFigure(
    "pvi_models",
    "Do models find the same examples hard?",
    "Pearson's r of the mean PVI of the same examples for two models, with the most shots.",
)
PVI_FIGURES = [
    ShownFigure(
        "pvi_densities",
        "PVI of right and wrong predictions",
        "Densities of the PVI of all prompts and examples with the most shots: filled where the "
        "prediction is right, a line where it is wrong. Dashed: the PVI that divides them best.",
    ),
    ShownFigure(
        "pvi_tails",
        "Accuracy on hard and easy examples",
        "Examples by their PVI, from the lowest fifth to the highest: accuracy, mean over exemplar sets. "
        "Dotted and hollow: each label's examples by the PVI of the other exemplar sets, which contains "
        "neither the answer's probability nor that a model likes one answer.",
    ),
    ShownFigure(
        "pvi_annotations",
        "PVI and how far annotators agree",
        "Each small dot is an example: the share of annotators who did not answer as most did, and its mean "
        "PVI with the most shots. Large: the means of examples with the same share, with 95 % intervals.",
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
