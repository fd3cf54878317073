"""Models, fetched, converted and quantized once for all studies.

in:  a folder, a GGUF file, a Hugging Face id or a pinned download
out: results/weights/<weights>/weights.json, which says where the weights lie, and
     results/weights/<weights>/nf4/weights.json, the same quantized
"""


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
        mem_mb=weights_mb,
    params:
        source=source_of_weights,
        state=state_of(own_weights),
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
        mem_mb=quantizing_mb,
    params:
        code=code_of("quantize.py"),
    script:
        "../../scripts/quantize.py"
