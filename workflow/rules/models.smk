"""Models, fetched, converted and quantized once for all studies.

in:  a folder, a GGUF file, a Hugging Face id or a pinned download
out: results/weights/<weights>/weights.json, which says where the weights lie, and
     results/weights/<weights>/nf4/weights.json, the same quantized
"""


def weights_input(wildcards):
    """The files that a model's weights are made from, where they are on this machine."""
    source = source_of_weights(wildcards)
    if "download" in source:
        return [download_path(source["download"])]
    if "hub" in source:
        return []
    path = Path(source["path"]).expanduser()
    if path.suffix == ".gguf":
        return [str(path)]
    return sorted(map(str, [path / "config.json", *path.glob("*.safetensors")]))


rule weights:
    """Weights that load fast and hold no pickle."""
    input:
        weights_input,
    output:
        "results/weights/{weights}/weights.json",
    params:
        source=source_of_weights,
        code=code_digest("scoring.models"),
    log:
        "results/weights/logs/{weights}.log",
    conda:
        "../../envs/scoring.yaml"
    resources:
        mem_mb=16000,
    priority: 50
    script:
        "../scripts/weights.py"


rule quantize:
    """The same weights as 4-bit NF4 with nested quantization."""
    input:
        weights=rules.weights.output,
    output:
        "results/weights/{weights}/nf4/weights.json",
    params:
        code=code_digest("scoring.models"),
    log:
        "results/weights/logs/{weights}-nf4.log",
    conda:
        "../../envs/scoring.yaml"
    resources:
        mem_mb=16000,
    priority: 50
    script:
        "../scripts/quantize.py"
