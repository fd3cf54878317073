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
        "Each model with a number of shots and a prompt is a row of responses, each "
        "example an item. Difficulty is the mean score, alpha Cronbach's. Constant "
        "items tell nothing. Better rows fail negative items more often (half of all "
        "items are negative if none is related to the others). Discrimination is "
        "Pearson's r between an item and the rest of the items. Halves: its agreement "
        "between two random halves of the rows. Best and rest: the same for the best "
        "fifth and the others. By answer: the share of its variance that is between "
        "correct answers. If it is large, rows differ in the answer that they prefer, "
        "and not in skill; balanced discrimination counts each answer alike. Prompts "
        "of one model are not independent rows. Item by item: tables/item_list.csv.",
    ),
    ShownTable("item_list"),
    ShownTable(
        "item_negative",
        "Examples that better prompts fail more often",
        "The lowest items of each task, then the next, if both random halves of the "
        "rows confirm them. The gold label is often wrong. But all examples of an "
        "answer that better rows prefer less are negative, too: see balanced. "
        "Suggested, if PVI was measured: the answer that the input supports.",
        most_rows=40,
    ),
    ShownTable(
        "item_associations",
        "What goes with discrimination?",
        "For answers and subtasks: the share of the variance of discrimination between "
        "them (epsilon squared, 0 on average if unrelated). For numbers: Spearman's r. "
        "p is by permutation.",
        most_rows=60,
    ),
    ShownTable(
        "item_fit",
        "Do item response models predict responses?",
        "A tenth of the responses is held out. Log loss in nats (lower is better), and "
        "how often the more likely response is correct: for the mean, the mean of a "
        "row or an item, both, and the two-parameter model with one and two abilities.",
        most_rows=40,
    ),
    ShownTable(
        "item_pruning",
        "Does it help to remove the worst items?",
        "The fifth of the items that discriminate least in other rows is removed. "
        "Columns: the change of the held-out rows' mean score, and whether it exceeds "
        "that of 95 % of random removals; their mean standard error before, after, and "
        "after random removal; and the deviation between rows. An error that is "
        "smaller than after random removal, but not smaller than before, is no gain. "
        "If the mean changes, it is another benchmark. All steps: "
        "tables/item_pruning_steps.csv.",
        most_rows=60,
    ),
    ShownTable("item_pruning_steps"),
    ShownTable(
        "smaller_benchmarks",
        "What do smaller benchmarks cost?",
        "Held-out rows are evaluated on a few examples, which were chosen by other "
        "rows. Columns: the mean error of their scores; its bias; the standard error "
        "(the spread over choices of examples, without bias); Kendall's tau-b with the "
        "order by all examples; and the share of reversed pairs (equal ones count "
        "half): of all, of prompts of one model (within), and of the best fifth. Rows "
        "are held out at random, as the best rows, and as new models. For future "
        "models, the last split counts. Means over the tasks that have all sizes; task "
        "by task: tables/smaller_benchmarks_by_task.csv.",
        most_rows=100,
    ),
    ShownTable("smaller_benchmarks_by_task"),
    ShownTable(
        "adaptive",
        "How many examples does a decision take?",
        "Stored responses are replayed one by one until a decision is certain, with an "
        "error of at most 0.05: at random; at random, assisted by a model fitted to "
        "other models; and by information, which is valid only if the fitted model is. "
        "Share: of the examples that are needed. Wrong: how often the decision differs "
        "from that of all examples, and its upper 95 % limit.",
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
        "Each dot is an example: its mean score, and Pearson's r with the rest of the "
        "examples. Better rows fail examples below the line more often. Colours are "
        "correct answers, if a few of them have most examples. At most 24 tasks.",
    ),
    ShownFigure(
        "item_halves",
        "Is discrimination stable?",
        "Blue: an example's discrimination in one random half of the rows and in the "
        "other. Orange: in the best fifth of the rows and in the rest. On the line, "
        "both are equal.",
    ),
    ShownFigure(
        "smaller_benchmarks",
        "What fewer examples cost",
        "Held-out rows evaluated on a few examples: the mean error of a score; the "
        "standard error; and the share of reversed pairs, of all rows and of the best "
        "fifth (equal ones count half). Dashed: random subsets, overall and within "
        "layers of difficulty. Columns: which rows are held out. For a new model, the "
        "last one counts.",
    ),
    ShownFigure(
        "adaptive",
        "How many examples a decision takes",
        "The share of examples that are evaluated until the decision is certain, with "
        "an error of at most 5 %, on stored responses; next to it, how often the "
        "decision differs from that of all examples.",
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
