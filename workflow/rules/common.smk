"""What all rules share: the checked config, names of files, and what makes a rule run again."""

import re
import sys
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

WORKFLOW = Path(workflow.current_basedir).parent
sys.path.insert(0, str(WORKFLOW / "lib"))

from abovechance.results.imported import settings_in
from abovechance.core.code import code_digest
from abovechance.study.config import precision_pairs, resolve
from abovechance.core.errors import InputError
from abovechance.core.provenance import digest
from abovechance.published.release import Release
from abovechance.scoring.accelerators import visible_accelerators

DOWNLOADS = yaml.safe_load((WORKFLOW / "downloads.yaml").read_text())
SCHEMA = yaml.safe_load((WORKFLOW / "schemas" / "config.schema.yaml").read_text())

try:
    STUDY = resolve(
        config,
        SCHEMA,
        DOWNLOADS,
        where=", ".join(str(path) for path in workflow.configfiles) or "config",
    )
    # A study starts from models that are scored, or from a release of predictions.
    RELEASE = STUDY.get("release") and Release(Path(STUDY["release"]).expanduser())
except InputError as error:
    raise WorkflowError(str(error)) from None

GPUS = visible_accelerators()
RESULTS = f"results/{STUDY['study']}"
IMPORTED = STUDY.get("predictions")
if RELEASE:
    MODELS, TASKS, SHOTS = (
        sorted({setting[axis] for setting in RELEASE.settings}) for axis in range(3)
    )
elif IMPORTED:
    MODELS, TASKS, SHOTS = settings_in(Path(IMPORTED).expanduser())
else:
    MODELS, TASKS, SHOTS = [*STUDY["models"]], [*STUDY["tasks"]], STUDY["shots"]
SCORED = not (RELEASE or IMPORTED)
PRECISION_PAIRS = precision_pairs(STUDY.get("models", {}))
# What all analysis starts from.
PREDICTIONS = f"{RESULTS}/predictions.parquet"
ACCURACY = f"{RESULTS}/accuracy.parquet"


wildcard_constraints:
    task="|".join(map(re.escape, TASKS)),
    model="|".join(map(re.escape, MODELS)),
    shots=r"\d+",
    download="|".join(map(re.escape, DOWNLOADS)),
    weights=r"[A-Za-z0-9_.-]+",


def code_of(script):
    """A digest of what a script does, worked out for the jobs that are there and not before."""
    return lambda wildcards: code_digest(WORKFLOW / "scripts" / script)


def download_path(name):
    return f"results/downloads/{DOWNLOADS[name]['file']}"


def bigbench_source():
    """The file or folder that BIG-bench tasks are read from."""
    return STUDY.get("bigbench", download_path("bigbench"))


def task_source(wildcards):
    """The file (or folder) that a task is read from."""
    source = STUDY["tasks"][wildcards.task]
    if source != "bigbench":
        return str(Path(source).expanduser())
    return bigbench_source()


def weights_id(model):
    """A name for the weights of a model's source, shared by all its precisions and studies."""
    source = {
        key: str(value)
        for key, value in STUDY["models"][model].items()
        if key != "precision"
    }
    place = source.get("download") or source.get("hub") or source["path"]
    return f"{Path(place).stem}-{digest(repr(sorted(source.items())))[:8]}"


MODEL_OF_WEIGHTS = {weights_id(model): model for model in STUDY.get("models", {})}


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
    path = Path(source["path"]).expanduser()
    if path.suffix == ".gguf":
        return [str(path)]
    return sorted(map(str, [path / "config.json", *path.glob("*.safetensors")]))


def weights_file(wildcards):
    """The weights file that a model is scored from."""
    folder = f"results/weights/{weights_id(wildcards.model)}"
    quantized = STUDY["models"][wildcards.model]["precision"] == "nf4"
    return f"{folder}/nf4/weights.json" if quantized else f"{folder}/weights.json"


def finished():
    """What to look at now."""
    if not Path(RESULTS, "report.html").is_file():
        return ""
    return "\n".join(
        [
            f"\nThe study '{STUDY['study']}' is finished. Worth opening:",
            f"  {RESULTS}/report.html          verdicts, figures, and how to read them",
            f"  {RESULTS}/verdicts.csv         one row a model, task and number of shots",
            f"  {RESULTS}/figures/             every figure as PDF, PNG and CSV",
            f"  {RESULTS}/tables/              every table as CSV, Markdown and LaTeX",
        ]
    )
