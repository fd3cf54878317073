"""Which examples tell models and prompts apart, and what smaller benchmarks cost.

in:  predictions/, and what examples are like where that is known
out: items/ of each task, tables and figures of it
"""

TASK_OF_FILE = {file_name(task): task for task in TASKS}
OF_ITEMS = {
    name: f"{RESULTS}/items/{name}/{{task_file}}.parquet" for name in catalogue.OF_ITEMS
}
MISLABELLED = [table_file("pvi_mislabelled")] * (NULL in KINDS)
ITEM_SERIES = members(STUDY.get("models", {}))
PRUNED = ["mean", "error"] + ["monotonicity"] * bool(ITEM_SERIES)
ITEM_FIGURES = [*catalogue.ITEM_FIGURES, *map(catalogue.item_pruning, PRUNED)]
TABLES += catalogue.ITEMS
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
            catalogue.ITEMS,
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
