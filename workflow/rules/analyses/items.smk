"""Which examples tell models and prompts apart, and what smaller benchmarks cost.

needs: predictions, items
after: hard_demonstrations, published
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
        "Which examples tell models and prompts apart?",
        "Each model, number of shots and prompt is a row of responses, each example an item. Difficulty is "
        "the mean score, alpha Cronbach's; constant items tell nothing, and negative ones are failed more "
        "often by better rows (half of the items are, if none has to do with the others). Discrimination is"
        " Pearson's r of an item with the rest of the items; halves, how much it is the same in two random "
        "halves of the rows, and best and rest, in the best fifth and the others. By answer: the share of "
        "the variance of discrimination that goes with which answer is right. Where it is large, rows "
        "differ in the answer that they like, and not in what they know; in the balanced discrimination "
        "each answer counts alike. Prompts of one model are no independent rows. Item by item: "
        "tables/item_list.csv.",
    ),
    ShownTable("item_list"),
    ShownTable(
        "item_negative",
        "Examples that better prompts fail more often",
        "The lowest of each task, then the next, as far as both random halves of the rows say so. Often the"
        " gold answer is wrong, but all examples of an answer that better rows like less are negative, too:"
        " look at balanced. Suggested, where PVI was measured: the answer that the input speaks for.",
        most_rows=40,
    ),
    ShownTable(
        "item_associations",
        "What goes with discrimination?",
        "Of answers and subtasks the share of its variance between them (epsilon squared, 0 on average where "
        "they have nothing to do with it), of numbers Spearman's r; p by permutation.",
        most_rows=60,
    ),
    ShownTable(
        "item_fit",
        "Do item response models foresee responses?",
        "A tenth of the responses is held out. Log loss in nats, less is better, and how often the likelier "
        "response is the right one: of the mean, of a row's and an item's mean, of both together, and of the "
        "two-parameter model with one and two abilities.",
        most_rows=40,
    ),
    ShownTable(
        "item_pruning",
        "Does it help to take the worst items away?",
        "A fifth of the items, those that discriminate least in other rows, is taken away: the change of the "
        "held-out rows' mean score, and whether it is outside of what 95 % of as many random items change; "
        "their mean standard error before and after, and after random removal; and the deviation between "
        "rows. A smaller error than after random removal, but not than before, is no gain; a mean that "
        "changes makes scores another benchmark's. All steps: tables/item_pruning_steps.csv.",
        most_rows=60,
    ),
    ShownTable("item_pruning_steps"),
    ShownTable(
        "smaller_benchmarks",
        "What do smaller benchmarks cost?",
        "Held-out rows evaluated on a few examples, that were chosen by other rows: the mean error of their"
        " scores; its bias; the standard error, how far estimates spread over choices of examples, which "
        "says nothing of bias: a model that is fitted to other models is sure of what it gets wrong; "
        "Kendall's tau-b with the order by all examples; how many pairs are turned round (those that are "
        "found equal count half), of all, of prompts of one model (within), and of the best fifth. Held out "
        "are random rows, whose models are also among the others; the best rows; and new models, which is "
        "what such a benchmark is for (of two or three, one at a time, so that all pairs are within). Mean "
        "over the tasks that have all sizes; task by task: tables/smaller_benchmarks_by_task.csv.",
        most_rows=100,
    ),
    ShownTable("smaller_benchmarks_by_task"),
    ShownTable(
        "adaptive",
        "How many examples does a decision take?",
        "Stored responses of models that the fitted model does not know (of one model: of prompts) are "
        "replayed one by one until the decision is sure, with an error of at most 0.05: at random; at "
        "random, assisted by the fitted model, which is right whatever that is worth; and by information, "
        "which is right where the fitted model is. Share: of the examples; wrong: how often the decision is "
        "another one than that of all examples, and below which share that is with 95 %.",
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
        "Each dot is an example: its mean score, and Pearson's r with the rest of the examples. Below the "
        "line, better rows fail it more often. Colours are right answers, where few have most examples. At "
        "most 24 tasks.",
    ),
    ShownFigure(
        "item_halves",
        "Is discrimination the same again?",
        "Blue: an example's discrimination in one random half of the rows, and in the other. Orange: in the "
        "best fifth of the rows, by that in the rest. On the line it is the same.",
    ),
    ShownFigure(
        "smaller_benchmarks",
        "What fewer examples cost",
        "Of held-out rows evaluated on so many examples: the mean error of a score; the standard error, how"
        " far estimates spread with the choice of examples; how many pairs of rows are turned round, of all"
        " and of the best fifth (one that is found equal counts half). Dashed: random subsets, all over and "
        "by layers of difficulty. Columns: which rows are held out; for a new model, the last one counts.",
    ),
    ShownFigure(
        "adaptive",
        "How many examples a decision takes",
        "The share of examples that are evaluated until the decision is sure with an error of at most 5 %, "
        "on stored responses; beside it how often it is another one than that of all examples.",
    ),
]
ITEM_FIGURES += [
    ShownFigure(
        f"item_pruning_{what}",
        f"Without the examples that discriminate least: {PRUNED_IN_WORDS[what].split(',')[0]}",
        f"What becomes of {PRUNED_IN_WORDS[what]} of held-out rows where ever more examples are taken away, "
        "those first that discriminate least in the other rows. Bands: 95 % of as many at random.",
    )
    for what in PRUNED
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
        | apart(STUDY.get("models", {})),
        series=lambda wildcards: ITEM_SERIES,
        asked=STUDY["items"],
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
