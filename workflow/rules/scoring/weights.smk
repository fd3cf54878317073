"""Models, fetched, converted and quantized once for all studies.

in:  a folder, a GGUF file, a Hugging Face id or a pinned download
out: results/weights/<weights>/weights.json, which says where the weights lie, and
     results/weights/<weights>/nf4/weights.json, the same quantized
"""


def weights_id(model):
    """A name for the weights of a model's source, shared by all its precisions and studies."""
    source = {
        key: str(value)
        for key, value in STUDY["models"][model].items()
        if key != "precision"
    }
    place = source.get("download") or source.get("hub") or source["path"]
    return f"{Path(place).stem}-{digest(repr(sorted(source.items())))[:8]}"


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


rule weights:
    """Weights that load fast and hold no pickle."""
    input:
        weights_input,
    output:
        "results/weights/{weights}/weights.json",
    log:
        "results/weights/logs/{weights}.log",
    priority: 50
    conda:
        "../../../envs/scoring.yaml"
    resources:
        mem_mb=16000,
    params:
        source=source_of_weights,
        pinned=lambda wildcards: DOWNLOADS.get(
            source_of_weights(wildcards).get("download")
        ),
        code=code_of("weights.py"),
    script:
        "../../scripts/weights.py"


rule quantize:
    """The same weights as 4-bit NF4 with nested quantization."""
    input:
        weights=rules.weights.output,
    output:
        "results/weights/{weights}/nf4/weights.json",
    log:
        "results/weights/logs/{weights}-nf4.log",
    priority: 50
    conda:
        "../../../envs/scoring.yaml"
    resources:
        mem_mb=16000,
    params:
        code=code_of("quantize.py"),
    script:
        "../../scripts/quantize.py"
