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
        "How much do inputs tell a model about answers?",
        "Pointwise V-usable information (PVI) is the log2 of the factor by which "
        "an input raises the probability of its gold answer. It is negative if the "
        "input lowers this probability. 'information' is the mean over examples, "
        "with its 95 % confidence interval ('low', 'high'). The next columns are "
        "the mean PVI of correct and of wrong predictions, and the share of "
        "negative values. 'threshold' is the PVI that best separates correct from "
        "wrong predictions. 'balanced accuracy' is the balanced accuracy of this "
        "threshold. By chance, it is somewhat above 0.5, because the threshold is "
        "chosen on the same examples.",
    ),
    ShownTable(
        "pvi_tails",
        "Accuracy on the hardest and easiest examples",
        "The table shows the accuracy on the fifth and on the half of the examples "
        "with the lowest PVI, and with the highest PVI. Values are means over "
        "exemplar sets. PVI contains the probability of the answer, so low PVI and "
        "low accuracy go together partly by definition. Also, a model that prefers "
        "one answer is correct on all examples with this answer. The columns "
        "'other ...' avoid both problems. They order the examples of each label by "
        "their PVI under the other exemplar sets.",
    ),
    ShownTable(
        "pvi_consistency",
        "Are the same examples hard under other prompts and for other models?",
        "The table summarizes Pearson's r between the PVI of the same examples: "
        "between two exemplar sets, between two numbers of shots, and between two "
        "models. It has the mean and the median of r, and the number of "
        "correlations above 0.6 and below 0.3. For exemplar sets, a correlation in "
        "this table is the mean over all pairs of sets with the same model, task "
        "and number of shots. If a model prefers one answer, this "
        "alone makes r large. If two prompts prefer different answers, r can be "
        "negative. 'within' is the mean r after subtracting the mean of each "
        "label, which removes this effect. All correlations and their intervals "
        "are in tables/pvi_pairs.csv.",
    ),
    ShownTable("pvi_pairs"),
    ShownTable(
        "pvi_exemplar_sets",
        "Do exemplar sets differ?",
        "Does the mean PVI of the same examples differ between prompts? The table "
        "shows a repeated-measures analysis of variance. It has the share of the "
        "variance within examples that the prompt explains, the F statistic with "
        "its degrees of freedom (Greenhouse-Geisser correction), and the p-value.",
    ),
    ShownTable(
        "pvi_anova",
        "Do exemplar sets differ? (test of the paper)",
        "This is the paper's analysis of variance of the mean PVI of correct "
        "predictions. It uses one number per exemplar set and number of shots. "
        "With so few numbers, the test has little power, so a result that is not "
        "significant is weak evidence. The table above uses all examples.",
    ),
    ShownTable(
        "pvi_hardest",
        "The hardest examples of each label",
        "These are the examples with the lowest PVI, averaged over models, "
        "exemplar sets and numbers of shots. If a task has fewer than three "
        "examples per label, these are the hardest examples of the task.",
        most_rows=60,
    ),
    ShownTable(
        "pvi_mislabelled",
        "Examples whose labels may be wrong",
        "For these examples, the input supports another answer more than the "
        "label. The margin is the difference in bits, averaged over settings. The "
        "list is sorted by the margin minus the median margin of the label. A weak "
        "model is wrong more often than the labels are. 'label share' is the share "
        "of a label's examples with a positive margin. If it is large, the models "
        "prefer another answer, and the list says nothing about these labels. If a "
        "task has fewer than three examples per label, the median and the share are "
        "those of the whole task.",
        most_rows=20,
    ),
    ShownTable(
        "pvi_annotations",
        "Do annotators find the same examples hard?",
        "The table shows Pearson's r between PVI and the variation ratio. The "
        "variation ratio is the share of annotators who disagree with the "
        "majority. r is negative if models and people find the same examples hard.",
    ),
]
TABLES += PVI_TABLES
PVI_MODELS = ShownFigure(
    "pvi_models",
    "Do models find the same examples hard?",
    "Each cell shows Pearson's r between the mean PVI of two models on the same "
    "examples, with the largest number of shots.",
)
PVI_FIGURES = [
    ShownFigure(
        "pvi_densities",
        "PVI of correct and wrong predictions",
        "The figure shows the distribution of PVI over all prompts and examples, "
        "with the largest number of shots. Filled: correct predictions. Line: "
        "wrong predictions. The dashed line is the threshold that best separates "
        "correct from wrong predictions.",
    ),
    ShownFigure(
        "pvi_tails",
        "Accuracy on hard and easy examples",
        "The figure shows the accuracy on the examples with the lowest PVI (a "
        "fifth, a half) and with the highest PVI (a half, a fifth), averaged over "
        "exemplar sets. Dotted lines order the examples of each label by the PVI "
        "of the other exemplar sets. This order depends neither on the probability "
        "of the answer in the same prompt nor on a preference for one answer.",
    ),
    ShownFigure(
        "pvi_annotations",
        "PVI and agreement of annotators",
        "Each small dot is an example. The horizontal axis is the share of "
        "annotators who disagree with the majority. The vertical axis is the mean "
        "PVI of the example, with the largest number of shots. Large dots are the "
        "means of all examples with the same share, with 95 % confidence "
        "intervals.",
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
    """The tables of PVI by setting, prompt and example."""
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
