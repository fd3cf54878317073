"""Which examples tell models and prompts apart, and what smaller benchmarks cost.

needs: predictions, items
after: hard_demonstrations, published
question: Which examples separate strong from weak models?
in:  predictions/, and what examples are like where that is known
out: items/ of each task, tables and figures of it
"""

# what is found of the examples of each task
ITEM_FILES = (
    *("item_tasks", "item_list", "item_associations", "item_fit", "item_pruning"),
    *("smaller_benchmarks", "adaptive"),
)
ITEM_TABLES = [
    ShownTable(
        "items",
        "Which examples separate strong from weak models and prompts?",
        "A row is a combination of a model, a number of shots and a prompt. An "
        "item is an example. Difficulty is the mean score. Alpha is Cronbach's "
        "alpha. Constant items have the same score in all rows, so they contain no "
        "information. Discrimination is Pearson's r between an item and the rest "
        "of the items. If it is negative, better rows fail the item more often. If "
        "items were unrelated, half of them would be negative by chance. 'halves' "
        "is the correlation of discrimination between two random halves of the "
        "rows. 'best and rest' is this correlation between the best fifth of the "
        "rows and the other rows. 'by answer' is the share of the variance of "
        "discrimination that the gold answer explains. If this share is large, "
        "rows differ mainly in the answer that they prefer, not in skill. "
        "'balanced' is the discrimination with the same weight for each answer. "
        "Prompts of one model are not independent rows. Single items are in "
        "tables/item_list.csv.",
    ),
    ShownTable("item_list"),
    ShownTable(
        "item_negative",
        "Examples that better prompts fail more often",
        "The table lists items with negative discrimination, the most negative "
        "ones of each task first, and at most 20 of each task. An item is listed only if its discrimination is "
        "negative in both random halves of the rows. Its gold label may be wrong. "
        "Another reason is a preference: if better rows choose an answer less "
        "often, all items with this gold answer are negative. The balanced "
        "discrimination removes this effect. If the study measures PVI, the column "
        "'suggested' shows the answer that the input supports.",
        most_rows=40,
    ),
    ShownTable(
        "item_associations",
        "Which features of examples are related to discrimination?",
        "For the features answer and subtask, the table shows the explained share "
        "of the variance of discrimination (epsilon squared, which is 0 on average "
        "for unrelated features). For numeric features, it shows Spearman's r. The "
        "p-values come from permutation tests.",
        most_rows=60,
    ),
    ShownTable(
        "item_fit",
        "Do item response models predict responses?",
        "A tenth of the responses is held out. The table shows the log loss in "
        "nats (lower is better) and the share of correctly predicted responses. "
        "The simple predictors are the overall mean, the mean of the row, the mean "
        "of the item, and the mean of the row combined with that of the item. They "
        "are compared with the two-parameter model with one and with two "
        "abilities.",
        most_rows=40,
    ),
    ShownTable(
        "item_pruning",
        "Does removing the least discriminating items help?",
        "The fifth of the items with the lowest discrimination in other rows is "
        "removed. The table shows how the mean score of the held-out rows changes. "
        "'outside' is yes if this change is outside the range of 95 % of random "
        "removals. The table also shows the mean standard error of the scores and "
        "their standard deviation between rows: before removal, after it, and "
        "after random removal. Pruning is an improvement only if the error is "
        "smaller than before removal. An error that is only smaller than after "
        "random removal is not enough. If the mean score changes, the pruned "
        "benchmark measures something else. All steps are in "
        "tables/item_pruning_steps.csv.",
        most_rows=60,
    ),
    ShownTable("item_pruning_steps"),
    ShownTable(
        "smaller_benchmarks",
        "How large are the errors of smaller benchmarks?",
        "Held-out rows are evaluated on a few examples, which are chosen from the "
        "responses of other rows. 'error' is the mean absolute error of their "
        "scores, and 'bias' the mean error. 'standard error' is the standard "
        "deviation over choices of examples; it does not include bias. 'tau' is "
        "Kendall's tau-b between the estimated order of the rows and their order "
        "on all examples. 'flips' is the share of pairs of rows with reversed "
        "order, also for pairs of one model ('flips within') and among the best "
        "fifth ('flips best'). Pairs with equal estimates count as half. The "
        "held-out rows are a random subset, the best rows, or all rows of new "
        "models. For future models, use the split by new models. Values are means "
        "over the tasks that have all sizes. Single tasks are in "
        "tables/smaller_benchmarks_by_task.csv.",
        most_rows=100,
    ),
    ShownTable("smaller_benchmarks_by_task"),
    ShownTable(
        "adaptive",
        "How many examples does a decision take?",
        "Stored responses are replayed one by one until the decision is made. The "
        "probability of a wrong decision is at most 0.05. There are three ways to "
        "choose the next example. 'random' draws it at random. 'assisted' also "
        "draws it at random, but a model that was fitted to other language models "
        "predicts the remaining examples. 'information' takes the example with the "
        "most information; the error bound holds only if the fitted model is "
        "correct. 'share' is the mean share of examples used until the decision. "
        "'wrong' is the share of decisions that differ from the decision on all "
        "examples. 'wrong limit' is the upper 95 % confidence bound of this share.",
    ),
    ShownTable("adaptive_by_task"),
]
TASK_OF_FILE = {file_name(task): task for task in TASKS}
OF_ITEMS = {
    name: f"{RESULTS}/items/{name}/{{task_file}}.parquet" for name in ITEM_FILES
}
MISLABELLED = [table_file("pvi_mislabelled")] * (NULL in KINDS)
ITEM_SERIES = members(STUDY.get("models", {}))
PRUNED = ["mean", "error"] + ["monotonicity"] * bool(ITEM_SERIES)
PRUNED_IN_WORDS = {
    "mean": "mean score, as the change from all examples",
    "error": "standard error, divided by that of all examples",
    "monotonicity": "monotonicity over checkpoints, as the change from all examples",
}
ITEM_FIGURES = [
    ShownFigure(
        "items",
        "Difficulty and discrimination",
        "Each dot is an example. The horizontal axis is its mean score. The "
        "vertical axis is Pearson's r with the rest of the examples. Better rows "
        "fail the examples below the line at 0 more often. If a few gold answers "
        "cover most examples, colours show the gold answer. The figure shows at "
        "most 24 tasks.",
    ),
    ShownFigure(
        "item_halves",
        "Is discrimination stable?",
        "Each blue dot shows the discrimination of an example in two random halves "
        "of the rows. Each orange ring shows it in the best fifth of the rows "
        "(vertical) and in the other rows (horizontal). On the diagonal, both "
        "values are equal.",
    ),
    ShownFigure(
        "smaller_benchmarks",
        "Errors of smaller benchmarks",
        "Held-out rows are evaluated on a few examples only. The panels show the "
        "mean absolute error of their scores, the standard error, and the share of "
        "reversed pairs among all rows and among the best fifth. Dashed lines are "
        "random subsets: drawn from all examples, or within strata of difficulty. "
        "Each column of panels is one kind of held-out rows. For a new model, use "
        "the column of new models.",
    ),
    ShownFigure(
        "adaptive",
        "How many examples a decision takes",
        "Bars show the mean share of examples that are evaluated until the "
        "decision is made, on stored responses. The probability of a wrong "
        "decision is at most 5 %. The numbers next to the bars show the share of "
        "decisions that differ from the decision on all examples.",
    ),
]
ITEM_FIGURES += [
    ShownFigure(
        f"item_pruning_{measure}",
        f"Removing the least discriminating examples: {PRUNED_IN_WORDS[measure].split(',')[0]}",
        "Examples are removed in the order of their discrimination in the other rows, the least discriminating first. "
        f"Lines show the held-out rows: {PRUNED_IN_WORDS[measure]}. "
        "Bands show the central 95 % of 200 random removals of as many examples.",
    )
    for measure in PRUNED
]
TABLES += ITEM_TABLES
FIGURES += ITEM_FIGURES


wildcard_constraints:
    task_file="|".join(map(re.escape, TASK_OF_FILE)),


def of_all_tasks(pattern):
    """The files of all tasks, in the tasks' order."""
    return expand(pattern, task_file=TASK_OF_FILE)


for pattern in OF_ITEMS.values():
    KEPT += of_all_tasks(pattern)
KEPT += FEATURES


rule items:
    """The item analysis of one task."""
    input:
        predictions=of_all_models(PREDICTIONS),
        features=FEATURES,
    output:
        **OF_ITEMS,
    log:
        f"{RESULTS}/logs/items/{{task_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/items/{{task_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        task=lambda wildcards: TASK_OF_FILE[wildcards.task_file],
        # a lambda, since names may have braces
        groups=lambda wildcards: {model: model for model in MODELS}
        | distinct_models(STUDY.get("models", {})),
        series=lambda wildcards: ITEM_SERIES,
        options=STUDY["items"],
        seed=STUDY["seed"],
        code=code_of("items.py"),
    script:
        "../../scripts/items.py"


rule items_tables:
    """The tables of the item analysis, for all tasks."""
    input:
        **{name: of_all_tasks(pattern) for name, pattern in OF_ITEMS.items()},
        features=FEATURES,
        mislabelled=MISLABELLED,
    output:
        reported_tables(
            ITEM_TABLES,
            "Which examples separate models",
            "../../report/items.rst",
        ),
    log:
        f"{RESULTS}/logs/items_tables.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("items_tables.py"),
    script:
        "../../scripts/items_tables.py"


rule items_figures:
    """Difficulty and discrimination, what pruning changes, and what fewer examples cost."""
    input:
        item_list=of_all_tasks(OF_ITEMS["item_list"]),
        item_pruning=of_all_tasks(OF_ITEMS["item_pruning"]),
        costs=table_file("smaller_benchmarks"),
        adaptive=table_file("adaptive"),
    output:
        reported_figures(ITEM_FIGURES, "../../report/items.rst"),
    log:
        f"{RESULTS}/logs/items_figures.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        pruned=PRUNED,
        code=code_of("items_figures.py"),
    script:
        "../../scripts/items_figures.py"
