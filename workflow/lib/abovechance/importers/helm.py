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

from abovechance.core.errors import InputError
from abovechance.core.reading import read_json
from abovechance.importers.contract import Options, Run, files_below, tied

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
        notes.append(f"{folder.name}: {tied(ties)}; HELM gives each a fraction")
    scenario, _, arguments = str(spec.get("name", folder.name)).partition(":")
    arguments = ",".join(part for part in arguments.split(",") if not part.startswith("model="))
    task = f"{scenario}:{arguments}" if arguments else scenario
    model = str(adapter.get("model") or adapter.get("model_deployment") or "model")
    yield Run(
        str(folder),
        model,
        task,
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
    """{example: correct choices / choices}, where the run tells its instances.

    They stand in ``instances.json`` once a suite was summarized, before in ``scenario_state.json``.
    """
    if (folder / "instances.json").is_file():
        instances = read_json(folder / "instances.json")
    elif (folder / "scenario_state.json").is_file():
        states = read_json(folder / "scenario_state.json").get("request_states", [])
        instances = [state["instance"] for state in states]
    else:
        return {}
    found = {}
    for instance in instances:
        right = ["correct" in reference.get("tags", []) for reference in instance.get("references", [])]
        # generation tasks list right answers only
        if len(right) > 1 and not all(right):
            found[str(instance["id"])] = sum(right) / len(right)
    return found
