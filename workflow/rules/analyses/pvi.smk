"""How much inputs tell models about answers: which examples are hard.

in:  scores/, null_scores/, tasks/ and predictions/
out: pvi/ of each model, tables and figures of it
"""

PVI = f"{RESULTS}/pvi/{{model_file}}.parquet"
PVI_OF = {
    what: f"{RESULTS}/pvi/{what}/{{model_file}}.parquet"
    for what in ("settings", "prompts", "examples", "densities", "pairs")
}
TABLES += catalogue.PVI
PVI_FIGURES = catalogue.PVI_FIGURES + [catalogue.PVI_MODELS] * (len(MODELS) > 1)
FIGURES += PVI_FIGURES


rule pvi:
    """The pointwise V-usable information of every example under every prompt of a model."""
    input:
        tasks=TASK_TABLES,
        evaluation_sets=EVALUATION_SETS,
        prompts=prompts_of_settings,
        scores=scores_of(DRAWN),
        null_scores=scores_of(NULL),
        predictions=PREDICTIONS,
    output:
        **PVI_OF,
        pvi=PVI,
    log:
        f"{RESULTS}/logs/pvi/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pvi/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=settings_of,
        tasks=TASKS,
        over=STUDY["pvi"]["over"],
        nested=STUDY["demonstrations"] == BALANCED,
        code=code_of("pvi.py"),
    script:
        "../../scripts/pvi.py"


rule pvi_tables:
    """What PVI says of settings, prompts and examples."""
    input:
        tasks=TASK_TABLES,
        settings=of_all_models(PVI_OF["settings"]),
        prompts=of_all_models(PVI_OF["prompts"]),
        examples=of_all_models(PVI_OF["examples"]),
        pairs=of_all_models(PVI_OF["pairs"]),
    output:
        reported_tables(
            catalogue.PVI, "Which examples are hard", "../../report/pvi.rst"
        ),
    log:
        f"{RESULTS}/logs/pvi_tables.log",
    benchmark:
        f"{RESULTS}/benchmarks/pvi_tables.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        nested=STUDY["demonstrations"] == BALANCED,
        code=code_of("pvi_tables.py"),
    script:
        "../../scripts/pvi_tables.py"


rule pvi_figures:
    """Densities of PVI, the accuracy of hard and easy examples, and how alike models are."""
    input:
        tasks=TASK_TABLES,
        examples=of_all_models(PVI_OF["examples"]),
        densities=of_all_models(PVI_OF["densities"]),
        settings=of_all_models(PVI_OF["settings"]),
        prompts=of_all_models(PVI_OF["prompts"]),
        pairs=table_file("pvi_pairs"),
    output:
        reported_figures(PVI_FIGURES, "../../report/pvi.rst"),
    log:
        f"{RESULTS}/logs/pvi_figures.log",
    benchmark:
        f"{RESULTS}/benchmarks/pvi_figures.tsv"
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        several=len(MODELS) > 1,
        code=code_of("pvi_figures.py"),
    script:
        "../../scripts/pvi_figures.py"


KEPT += of_all_models(PVI)
for pattern in PVI_OF.values():
    KEPT += of_all_models(pattern)
