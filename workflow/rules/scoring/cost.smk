"""What scoring costs: counted before it begins, and added up afterwards.

in:  tasks, evaluation sets, prompts and tokenizers; what jobs wrote to cost/ledgers/
out: cost/estimate, cost/machines and cost/config.yaml, where they are asked for (`make cost`); cost/spent

Jobs write to their ledgers line by line, so these are no outputs, which Snakemake would delete where a job fails.
"""

SPENT = expand(f"{RESULTS}/cost/spent.{{suffix}}", suffix=["parquet", "csv"])
EARLIER = sorted(
    map(str, Path("results").glob("*/cost/spent.parquet"))
)  # of this study and others


rule reader:
    """The tokenizer and the size of a model, found without downloading its weights."""
    input:
        lambda wildcards: (
            []
            if "hub" in source_of_weights(wildcards)
            else f"{WEIGHTS}/{wildcards.weights}/weights.json"
        ),
    output:
        "results/weights/{weights}/reader.json",
    log:
        "results/weights/logs/{weights}-reader.log",
    localrule: True
    conda:
        "../../../envs/scoring.yaml"
    params:
        source=source_of_weights,
        code=code_of("reader.py"),
    script:
        "../../scripts/reader.py"


rule token_counts:
    """The number of tokens in a task's prompts, and the number that the model computes."""
    input:
        task=rules.task.output.table,
        evaluation_set=rules.evaluation_set.output.table,
        training_set=(
            f"{RESULTS}/{TRAINING.examples}/{{task}}.parquet"
            if TRAINING in KINDS
            else []
        ),
        prompts=prompts_of,
        reader=rules.reader.output[0],
    output:
        f"{RESULTS}/cost/tokens/{{weights}}/{{task}}.parquet",
    log:
        f"{RESULTS}/logs/token_counts/{{weights}}/{{task}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/token_counts/{{weights}}/{{task}}.tsv"
    conda:
        "../../../envs/scoring.yaml"
    params:
        shots=lambda wildcards: SHOTS[wildcards.task],
        kinds=[kind.name for kind in KINDS],
        too_long=STUDY["too_long"],
        special_tokens=STUDY["special_tokens"],
        code=code_of("token_counts.py"),
    script:
        "../../scripts/token_counts.py"


rule cost:
    """The estimated cost of scoring, and its duration on several machines."""
    input:
        counts=[token_counts(model, task) for model in MODELS for task in TASKS],
        readers=[f"results/weights/{weights_id(model)}/reader.json" for model in MODELS],
    output:
        tables=expand(
            f"{RESULTS}/cost/{{name}}.{{suffix}}",
            name=["estimate", "machines"],
            suffix=["parquet", "csv"],
        ),
        config=f"{RESULTS}/cost/config.yaml",
    log:
        f"{RESULTS}/logs/cost.log",
    localrule: True
    conda:
        "../../../envs/scoring.yaml"
    params:
        config=STUDY,
        settings=[(model, task) for model in MODELS for task in TASKS],
        models=MODELS,
        limits=STUDY["machines"],
        threads=STUDY["scoring"]["threads"],
        spent=EARLIER,
        state=state_of(EARLIER),
        code=code_of("cost.py"),
    script:
        "../../scripts/cost.py"


rule spent:
    """What scoring has cost."""
    input:
        scores=list(SCORES.values()),
    output:
        SPENT,
    log:
        f"{RESULTS}/logs/spent.log",
    localrule: True
    conda:
        "../../../envs/scoring.yaml"
    params:
        ledgers=[
            (model, task, kind.name, ledger(model, task, kind))
            for model in MODELS
            for task in TASKS
            for kind in KINDS
        ],
        code=code_of("spent.py"),
    script:
        "../../scripts/spent.py"
