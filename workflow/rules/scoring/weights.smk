"""Models, fetched, converted and quantized once for all studies.

in:  a folder, a GGUF file, a Hugging Face id or a pinned download
out: results/weights/<weights>/weights.json, which says where the weights lie, and
     results/weights/<weights>/nf4/weights.json, the same quantized; with `keep_weights: false`, in
     results/<study>/weights/ as long as something needs them
"""


rule weights:
    """Weights that load fast and hold no pickle."""
    input:
        weights_input,
    output:
        **weights_output(["{weights}"]),
    log:
        f"{WEIGHTS}/logs/{{weights}}.log",
    wildcard_constraints:
        weights="|".join(
            re.escape(weights_id(model)) for model in MODELS if not trained(model)
        )
        or "(?!)",
    # all are fetched first, unless the disk is to hold a few
    priority: 50 if STUDY["keep_weights"] else 0
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
        weights=f"{WEIGHTS}/{{weights}}/weights.json",
        files=[] if STUDY["keep_weights"] else f"{WEIGHTS}/{{weights}}/files",
    output:
        **weights_output(["{weights}/nf4"]),
    log:
        f"{WEIGHTS}/logs/{{weights}}-nf4.log",
    priority: 50 if STUDY["keep_weights"] else 25
    conda:
        "../../../envs/scoring.yaml"
    resources:
        mem_mb=quantizing_mb,
    params:
        code=code_of("quantize.py"),
    script:
        "../../scripts/quantize.py"
