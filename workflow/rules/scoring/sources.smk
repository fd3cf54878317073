"""Which file each task, weights file and score is made from, and where its costs go."""


def task_source(wildcards):
    """The file (or folder) that a task is read from."""
    source = STUDY["tasks"][wildcards.task]["source"]
    return bigbench_source() if source == "bigbench" else source


def own_task(wildcards):
    """The user's own file, where a task is read from one."""
    own = STUDY["tasks"][wildcards.task]["source"] != "bigbench"
    return [task_source(wildcards)] if own else []


def prompts_of(wildcards):
    """The prompts of a task, for each of its numbers of shots."""
    return [
        f"{RESULTS}/prompts/{wildcards.task}/{shots}-shot.parquet"
        for shots in SHOTS[wildcards.task]
    ]


def scoring_rules():
    """[(whether of null-target prompts, numbers of shots, the tasks that have these, the rule's name)]."""
    tasks = {}
    for task, shots in SHOTS.items():
        tasks.setdefault(tuple(shots), []).append(task)
    return [
        (null, shots, of, f"{'null_' * null}score{f'_{number}' * (number > 1)}")
        for null in ([False, True] if "pvi" in STUDY else [False])
        for number, (shots, of) in enumerate(tasks.items(), start=1)
    ]


def own_weights(wildcards):
    """The user's own files, where weights are made from some: the tokenizer's too."""
    path = Path(source_of_weights(wildcards).get("path", ""))
    names = ("*.safetensors", "*.json", "*.model", "*.txt", "*.py")
    if path.suffix == ".gguf":
        return [path]
    return (
        sorted(file for name in names for file in path.glob(name)) if path.name else []
    )


def weights_id(model):
    """A name for the weights of a model's source, shared by all its precisions and studies."""
    source = {
        key: str(value)
        for key, value in STUDY["models"][model].items()
        if key != "precision"
    }
    place = source.get("download") or source.get("hub") or source["path"]
    return f"{file_name(Path(place).stem)}-{digest(repr(sorted(source.items())))[:8]}"


MODEL_OF_WEIGHTS = {weights_id(model): model for model in MODELS}


def source_of_weights(wildcards):
    """The config's entry that says where these weights come from, without the precision."""
    if wildcards.weights not in MODEL_OF_WEIGHTS:
        raise WorkflowError(
            f"no model of this study has the weights {wildcards.weights}"
        )
    entry = STUDY["models"][MODEL_OF_WEIGHTS[wildcards.weights]]
    return {key: value for key, value in entry.items() if key != "precision"}


def weights_input(wildcards):
    """The files that a model's weights are made from, where they are on this machine."""
    source = source_of_weights(wildcards)
    if "download" in source:
        return [download_path(source["download"])]
    if "hub" in source:
        return []
    path = Path(source["path"])
    if path.suffix == ".gguf":
        return [str(path)]
    return sorted(map(str, [path / "config.json", *path.glob("*.safetensors")]))


def weights_file(wildcards):
    """The weights file that a model is scored from."""
    folder = f"results/weights/{weights_id(wildcards.model)}"
    quantized = STUDY["models"][wildcards.model]["precision"] == "nf4"
    return f"{folder}/nf4/weights.json" if quantized else f"{folder}/weights.json"


def ledger(model, task, null):
    """Where the jobs of a model and task write what they spend."""
    return f"{RESULTS}/cost/{'null_' * null}ledgers/{model}/{task}.jsonl"


def ledger_of(wildcards):
    return ledger(wildcards.model, wildcards.task, null=False)


def null_ledger_of(wildcards):
    return ledger(wildcards.model, wildcards.task, null=True)


def token_counts(model, task):
    return f"{RESULTS}/cost/tokens/{weights_id(model)}/{task}.parquet"
