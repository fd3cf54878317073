"""HELM: a run's folder with ``per_instance_stats.json`` and ``run_spec.json``.

A run has several *train trials*, each with other demonstrations: these are its prompts. A tie
is scored as the share of correct choices in it, so a fraction is a tie. Instances that HELM
has perturbed are left out, as are those of other splits than the one with the most.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.errors import InputError
from abovechance.importers.runs import Options, Run, files_below, read_json

LOOKS_LIKE = "a HELM run's folder with per_instance_stats.json and run_spec.json"


def find(path: Path) -> list[Path]:
    """The folders of runs in a path."""
    return [file.parent for file in files_below(path, "per_instance_stats.json")]


def read(folder: Path, options: Options) -> Iterator[Run]:
    """The run, its train trials as prompts."""
    if not (folder / "run_spec.json").is_file():
        raise InputError(f"{folder}: has per_instance_stats.json, but no run_spec.json")
    spec = read_json(folder / "run_spec.json")
    adapter = spec.get("adapter_spec", {})
    metric = options.metric or "exact_match"
    file = folder / "per_instance_stats.json"
    table = pd.DataFrame(_rows(read_json(file), metric, file))
    split = table["split"].value_counts().index[0]
    notes = []
    if others := int((table["split"] != split).sum()):
        notes.append(f"{folder.name}: {others} results of other splits than '{split}' are left out")
    table = table[table["split"] == split]
    chances = _chances(folder)
    table["chance"] = table["example"].map(chances) if chances else float("nan")
    if ties := int(table["tie"].sum()):
        notes.append(f"{folder.name}: {ties} ties are counted as wrong; HELM gives each a fraction")
    name = str(spec.get("name", folder.name))
    task = ",".join(part for part in name.split(",") if not part.startswith("model=")).replace(":model=", ":")
    model = str(adapter.get("model") or adapter.get("model_deployment") or "model")
    yield Run(
        str(folder),
        model,
        task.split(":model=")[0],
        int(adapter.get("max_train_instances", 0)),
        table.drop(columns="split").reset_index(drop=True),
        notes,
    )


def _rows(instances: list[dict[str, Any]], metric: str, file: Path) -> Iterator[dict[str, object]]:
    known: set[str] = set()
    found = False
    for place, instance in enumerate(instances):
        if instance.get("perturbation"):
            continue
        for stat in instance.get("stats", []):
            name = stat["name"]
            known.add(name["name"])
            if name["name"] != metric or name.get("perturbation") or not stat.get("count"):
                continue
            found = True
            value = float(stat["sum"]) / stat["count"]
            if not 0 <= value <= 1:
                raise InputError(f"{file}, instance {place}: {metric} is {value}; right would be 0 to 1")
            yield {
                "example": str(instance["instance_id"]),
                "prompt": str(instance.get("train_trial_index", 0)),
                "split": str(name.get("split", "")),
                "predicted": _predicted(instance, value),
                "correct": value == 1,
                "tie": 0 < value < 1,
            }
    if not found:
        raise InputError(f"{file}: has no metric '{metric}'; its metrics: {', '.join(sorted(known)[:20])}")


def _predicted(instance: dict[str, Any], value: float) -> int:
    """The predicted choice's number, where it is told and no tie."""
    if 0 < value < 1:
        return -1
    told = [stat for stat in instance["stats"] if stat["name"]["name"] == "predicted_index"]
    return int(told[0]["sum"]) if told else -1


def _chances(folder: Path) -> dict[str, float]:
    """{example: correct choices / choices}, from the run's instances where they are there."""
    path = folder / "instances.json"
    if not path.is_file():
        return {}
    return {
        str(instance["id"]): sum("correct" in reference["tags"] for reference in instance["references"])
        / len(instance["references"])
        for instance in read_json(path)
        # generation tasks list right answers only
        if len(instance["references"]) > 1
        and not all("correct" in reference["tags"] for reference in instance["references"])
    }
