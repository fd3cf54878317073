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
        "Which examples separate models and prompts?",
        "Each row of responses is a model with a number of shots and a prompt, "
        "and each example is an item. Difficulty is the mean score, and alpha is "
        "Cronbach's alpha. Constant items contain no information. Discrimination "
        "is Pearson's r between an item and the rest of the items. If it is "
        "negative, better rows fail the item more often (half of all items would "
        "be negative if items were unrelated). The columns halves, and best and "
        "rest, show the correlation of discrimination between two random halves "
        "of the rows, and between the best fifth and the others. By answer is the "
        "share of its variance that the gold answer explains. If it is large, "
        "rows differ in the answer that they prefer, and not in skill. Balanced "
        "discrimination gives each answer the same weight. Prompts of one model "
        "are not independent rows. Single items are in tables/item_list.csv.",
    ),
    ShownTable("item_list"),
    ShownTable(
        "item_negative",
        "Examples that better prompts fail more often",
        "The most negative items of each task come first. They are listed only if "
        "both random halves of the rows confirm them. Their gold label may be "
        "wrong. But if better rows prefer one answer less, all examples with this "
        "answer are negative, too: compare the balanced discrimination. If PVI "
        "was measured, the column suggested shows the answer that the input "
        "supports.",
        most_rows=40,
    ),
    ShownTable(
        "item_associations",
        "What goes with discrimination?",
        "For answers and subtasks, the table shows the share of the variance of "
        "discrimination that they explain (epsilon squared, 0 on average if "
        "unrelated). For numbers, it shows Spearman's r. The p-values come from "
        "permutation tests.",
        most_rows=60,
    ),
    ShownTable(
        "item_fit",
        "Do item response models predict responses?",
        "A tenth of the responses is held out. The table shows the log loss in "
        "nats (lower is better), and the share of responses that are predicted "
        "correctly. It compares the overall mean, the mean of a row, the mean of "
        "an item, both means, and the two-parameter model with one and two "
        "abilities.",
        most_rows=40,
    ),
    ShownTable(
        "item_pruning",
        "Does it help to remove the worst items?",
        "The fifth of the items with the lowest discrimination in other rows is "
        "removed. The table shows the change of the held-out rows' mean score, "
        "and whether it exceeds that of 95 % of random removals. It also shows "
        "their mean standard error before, after, and after random removal, and "
        "the standard deviation between rows. An error that is smaller than after "
        "random removal, but not smaller than before, is not an improvement. If "
        "the mean changes, the pruned benchmark measures something else. All "
        "steps are in tables/item_pruning_steps.csv.",
        most_rows=60,
    ),
    ShownTable("item_pruning_steps"),
    ShownTable(
        "smaller_benchmarks",
        "What do smaller benchmarks cost?",
        "Held-out rows are evaluated on a few examples that were chosen by other "
        "rows. The table shows the mean absolute error of their scores, the bias, "
        "the standard error (the standard deviation over choices of examples, "
        "without bias), Kendall's tau-b with the order by all examples, and the "
        "share of reversed pairs: of all rows, of prompts of one model (within), "
        "and of the best fifth. Equal scores count as half. The held-out rows are "
        "a random subset, the best rows, or new models. For future models, use "
        "the last split. Values are means over the tasks that have all sizes. "
        "Single tasks are in tables/smaller_benchmarks_by_task.csv.",
        most_rows=100,
    ),
    ShownTable("smaller_benchmarks_by_task"),
    ShownTable(
        "adaptive",
        "How many examples does a decision take?",
        "Stored responses are replayed one by one until a decision is certain, "
        "with an error of at most 0.05. The next example is chosen at random, at "
        "random with the assistance of a model fitted to other models, or by "
        "information. The last way is valid only if the fitted model is correct. "
        "Share is the share of examples until the decision. Wrong is the share of "
        "decisions that differ from the decision on all examples, with its upper "
        "95 % limit.",
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
    "mean": "the mean score",
    "error": "the standard error, by that of all examples",
    "monotonicity": "the monotonicity over checkpoints",
}
ITEM_FIGURES = [
    ShownFigure(
        "items",
        "Difficulty and discrimination",
        "Each dot is an example. It shows the mean score, and Pearson's r with "
        "the rest of the examples. Better rows fail the examples below the line "
        "more often. Colours are gold answers, if a few of them cover most "
        "examples. The figure shows at most 24 tasks.",
    ),
    ShownFigure(
        "item_halves",
        "Is discrimination stable?",
        "The discrimination of each example in two random halves of the rows "
        "(blue), and in the best fifth of the rows and the rest (orange). On the "
        "diagonal, both values are equal.",
    ),
    ShownFigure(
        "smaller_benchmarks",
        "What fewer examples cost",
        "Errors of scores if held-out rows are evaluated on a few examples only: "
        "the mean absolute error, the standard error, and the share of reversed "
        "pairs among all rows and among the best fifth. Dashed lines are random "
        "subsets, overall and within strata of difficulty. Each column is one "
        "kind of held-out rows. For a new model, use the last column.",
    ),
    ShownFigure(
        "adaptive",
        "How many examples a decision takes",
        "The share of examples that are evaluated until the decision is certain, "
        "with an error of at most 5 %, on stored responses. The numbers next to "
        "the bars are the share of decisions that differ from the decision on all "
        "examples.",
    ),
]
ITEM_FIGURES += [
    ShownFigure(
        f"item_pruning_{measure}",
        f"Without the examples that discriminate least: {PRUNED_IN_WORDS[measure].split(',')[0]}",
        f"What becomes of {PRUNED_IN_WORDS[measure]} of held-out rows where ever more examples are taken away, "
        "those first that discriminate least in the other rows. Bands: 95 % of as many at random.",
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
    """All that is said of the examples of a task."""
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
    """What is said of the examples of all tasks."""
    input:
        **{name: of_all_tasks(pattern) for name, pattern in OF_ITEMS.items()},
        features=FEATURES,
        mislabelled=MISLABELLED,
    output:
        reported_tables(
            ITEM_TABLES,
            "Which examples tell models apart",
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
