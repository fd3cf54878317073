"""Which file each task, weights file and score is made from, and where its costs go."""

NO_FILES = (BIGBENCH, *MADE)  # sources that are no file of the user's


def task_source(wildcards):
    """The file (or folder) that a task is read from; nothing where it is made."""
    source = STUDY["tasks"][wildcards.task]["source"]
    source_files = {BIGBENCH: bigbench_source(), **dict.fromkeys(MADE, [])}
    return source_files.get(source, source)


def own_task(wildcards):
    """The user's own file or folder, where a task is read from one."""
    source = STUDY["tasks"][wildcards.task]["source"]
    if source == BIGBENCH:
        return bigbench_folders([drawn_as(wildcards.task, STUDY["tasks"])[0]])
    return [] if source in MADE else [source]


HARDEST_PROMPTS = f"{RESULTS}/hardest_prompts/{{model}}/{{task}}/{{shots}}-shot.parquet"


def prompts_of(wildcards):
    """The prompts of a task, for each of its numbers of shots."""
    return [
        f"{RESULTS}/prompts/{wildcards.task}/{shots}-shot.parquet"
        for shots in SHOTS[wildcards.task]
    ]


def hardest_prompts_of(wildcards):
    """The same with the examples as demonstrations that are hard for a model."""
    return [
        HARDEST_PROMPTS.format(**wildcards, shots=shots)
        for shots in SHOTS[wildcards.task]
    ]


def training_scores_of(wildcards, kind):
    """The scores of a task's training examples, for each of its numbers of shots."""
    settings = [
        (wildcards.model, wildcards.task, shots) for shots in SHOTS[wildcards.task]
    ]
    return scores_files(kind, settings)


def scoring_rules():
    """[(kind of prompts, numbers of shots, the tasks that have these, the rule's name)]."""
    tasks = {}
    for task, shots in SHOTS.items():
        tasks.setdefault(tuple(shots), []).append(task)
    return [
        (kind, shots, of, f"{kind.prefix}score{f'_{number}' * (number > 1)}")
        for kind in KINDS
        for number, (shots, of) in enumerate(tasks.items(), start=1)
    ]


def scoring_jobs():
    """Every scoring job with its files, for the line of progress."""
    return [
        {
            "rule": name,
            "model": model,
            "task": task,
            "null": kind.null,
            "judged": kind == DRAWN,
            "normalization": STUDY["normalization"],
            "task_table": f"{RESULTS}/tasks/{task}.parquet",
            "evaluation_set": f"{RESULTS}/{kind.examples}/{task}.parquet",
            "weights": f"{weights_folder(model)}/weights.json",
            "scores": {
                number: f"{RESULTS}/{kind.scores}/{model}/{task}/{number}-shot.parquet"
                for number in shots
            },
            "prompts": {
                number: (
                    HARDEST_PROMPTS.format(model=model, task=task, shots=number)
                    if kind == HARDEST
                    else f"{RESULTS}/prompts/{task}/{number}-shot.parquet"
                )
                for number in shots
            },
        }
        for kind, shots, tasks, name in scoring_rules()
        for model in MODELS
        for task in tasks
    ]


def own_weights(wildcards):
    """The user's own files, where weights are made from some: the tokenizer's too."""
    source = source_of_weights(wildcards)
    path = Path(source.get("path") or source.get("server", {}).get("tokenizer", ""))
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
        if key not in NO_SOURCE
    }
    place = source.get("download") or source.get("hub") or source.get("path", "trained")
    if server := served(model):
        place = server["model"]
    return f"{file_name(Path(place).stem)}-{digest(repr(sorted(source.items())))[:8]}"


def served(model):
    """The server that runs a model; nothing where none does."""
    return STUDY["models"][model].get("server")


def compared(model):
    """The model in this process that a model on a server must agree with; nothing where there is none."""
    return (served(model) or {}).get("compare_with")


def in_process(model):
    """Whether a scoring job loads a model."""
    return not served(model) or bool(compared(model))


def precision_of(model):
    return STUDY["models"][model]["precision"] if model else None


def compared_weights(wildcards):
    """The weights file of the model that one on a server is compared with."""
    model = compared(wildcards.model)
    return f"{weights_folder(model)}/weights.json" if model else []


def trained(model):
    """How a model is trained here; nothing where it is not."""
    return STUDY["models"][model].get("trained")


def trainings():
    """The models of each training, one for each of its checkpoints."""
    models_of = {}
    for model in MODELS:
        if training := trained(model):
            key = training["width"], training["layers"], training["seed"]
            models_of.setdefault(key, {}).setdefault(training["step"], model)
    return [[*steps.values()] for steps in models_of.values()]


# Weights that a study does not keep are its own, so that it deletes no others.
WEIGHTS = "results/weights" if STUDY["keep_weights"] else f"{RESULTS}/weights"


def weights_output(names):
    """The outputs of a rule that makes weights; those not kept are deleted once nothing needs them."""
    files = [f"{WEIGHTS}/{name}/weights.json" for name in names]
    if STUDY["keep_weights"]:
        return {"weights": files}
    folders = [temp(directory(f"{WEIGHTS}/{name}/files")) for name in names]
    return {"weights": [*map(temp, files)], "files": folders}


MODEL_OF_WEIGHTS = {weights_id(model): model for model in MODELS}


def source_of_weights(wildcards):
    """The config's entry that says where these weights come from, without the precision."""
    if wildcards.weights not in MODEL_OF_WEIGHTS:
        raise WorkflowError(
            f"no model of this study has the weights {wildcards.weights}"
        )
    entry = STUDY["models"][MODEL_OF_WEIGHTS[wildcards.weights]]
    return {key: value for key, value in entry.items() if key not in NO_SOURCE}


def weights_input(wildcards):
    """The files that a model's weights are made from, where they are on this machine."""
    source = source_of_weights(wildcards)
    if "download" in source:
        return [download_path(source["download"])]
    if "hub" in source:
        return []
    path = Path(source["path"] if "path" in source else source["server"]["tokenizer"])
    if not path.exists():  # a tokenizer on the hub
        return []
    if path.suffix == ".gguf":
        return [str(path)]
    names = ("config.json", "*.safetensors", "*.safetensors.index.json")
    return sorted(str(file) for name in names for file in path.glob(name))


def weights_file(wildcards):
    """The weights file that a model is scored from."""
    return f"{weights_folder(wildcards.model)}/weights.json"


def weights_folder(model):
    quantized = STUDY["models"][model]["precision"] == "nf4"
    return str(Path(WEIGHTS, weights_id(model), "nf4" if quantized else ""))


def passing_files(wildcards):
    """What lies beside a weights file as long as it is needed, where weights are not kept."""
    return [] if STUDY["keep_weights"] else f"{weights_folder(wildcards.model)}/files"


def ledger(model, task, kind):
    """Where the jobs of a model and task write what they spend on a kind of prompts."""
    return f"{RESULTS}/cost/{kind.ledgers}/{model}/{task}.jsonl"


def ledger_of(kind):
    return lambda wildcards: ledger(wildcards.model, wildcards.task, kind)


def token_counts(model, task):
    return f"{RESULTS}/cost/tokens/{weights_id(model)}/{task}.parquet"
