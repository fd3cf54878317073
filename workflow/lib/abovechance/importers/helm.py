"""HELM: a run's folder with ``per_instance_stats.json`` and ``run_spec.json``.

A run can have several *train trials*, each with other demonstrations: these are its prompts. A tie
is scored as the share of correct choices in it, so a fraction is a tie. Instances that HELM
has perturbed are left out, as are those of other splits than the one with the most. What HELM
reports of all instances lies in ``stats.json``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.files import files_below
from abovechance.core.reading import as_written_by, read_json
from abovechance.core.settings import Setting
from abovechance.core.untrusted import named
from abovechance.importers.contract import (
    Options,
    Reported,
    Run,
    UnsupportedMetric,
    metric_note,
    not_of_choice,
    number_of_shots,
    text_or_none,
    tied,
)
from abovechance.metrics.names import is_share_of_correct
from abovechance.results.predictions import UNKNOWN

TOOL = "HELM"
OPTIONS = ("metric",)
# Of these, a fraction is a tie; of others it is a grade.
OF_CHOICES = ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match")
USUAL = ("exact_match", "final_number_exact_match")  # the first that a run has
MODEL = ("model=", "model_deployment=")  # arguments in the name of a run
LOOKS_LIKE = "a HELM run's folder with per_instance_stats.json and run_spec.json"


def find(path: Path) -> list[Path]:
    """Return the folders of runs in a path."""
    return [file.parent for file in files_below(path, "per_instance_stats.json")]


def read(folder: Path, options: Options) -> Iterator[Run]:
    """Yield the run, its train trials as prompts."""
    if not (folder / "run_spec.json").is_file():
        raise InputError(f"{folder}: has per_instance_stats.json, but no run_spec.json")
    file = folder / "per_instance_stats.json"
    instances = read_json(file)
    if not isinstance(instances, list) or not instances:
        raise InputError(f"{file}: has no list of results; expected {LOOKS_LIKE}")
    metric = options.metric or _usual_metric(instances, file)
    table = pd.DataFrame(_rows(instances, metric, file))
    split = table["split"].value_counts().index[0]
    notes = []
    if options.metric is None:
        with as_written_by(TOOL, str(file)):
            notes += metric_note(folder.name, metric, _other_metrics(instances, metric))
    if omitted := int((table["split"] != split).sum()):
        notes.append(f"{folder.name}: {omitted} results of other splits than '{split}' are left out")
    table = table[table["split"] == split]
    unscored = len(_pairs(instances, split, file) - {*zip(table["example"], table["prompt"], strict=True)})
    if unscored:
        notes.append(f"{folder.name}: instances without {metric} are left out: {unscored}")
    with as_written_by(TOOL, str(folder)):
        chances = _chances(folder, metric)
    is_of_choice = not chances or metric in OF_CHOICES or is_share_of_correct(metric)
    notes += [] if is_of_choice else [not_of_choice(folder.name, metric)]
    table["chance"] = table["example"].map(chances if is_of_choice else {})
    if ties := int(table["tie"].sum()):
        notes.append(f"{folder.name}: {tied(ties)}; HELM gives each a fraction")
    reported = None
    if table.groupby("prompt").size().nunique() == 1:  # HELM's mean is that of its trials' means
        reported = _reported(folder / "stats.json", metric, split)
    with as_written_by(TOOL, str(folder / "scenario_state.json")):
        evidence = _evidence(folder)
    rows = table.drop(columns="split").reset_index(drop=True)
    if not evidence.empty:
        rows = rows.merge(evidence, "left", ["example", "prompt"])
    # nothing says whether the only one is the best of several, or one of the files that are a prompt each
    needs_name = options.each_file or options.command in ("check", "import")
    if needs_name and rows["prompt"].nunique() == 1:
        rows = rows.drop(columns="prompt")
    yield Run(
        str(folder),
        *_setting(folder),
        rows,
        notes,
        reported,
        metric,
        unscored=unscored,
        is_of_choice=is_of_choice,
    )


def _setting(folder: Path) -> Setting:
    """Return the model, the task and the number of shots of a run."""
    file = folder / "run_spec.json"
    with as_written_by(TOOL, str(file)):
        spec = read_json(file)
        adapter = spec.get("adapter_spec") or {}
        model = str(adapter.get("model") or adapter.get("model_deployment") or "model")
        task = _task(str(spec.get("name") or folder.name))
        return Setting(model, task, number_of_shots(adapter.get("max_train_instances") or 0, str(file)))


def _usual_metric(instances: list[Any], file: Path) -> str:
    names = set()
    for place, instance in enumerate(instances):
        with as_written_by(TOOL, f"{file}, instance {place}"):
            names |= {stat["name"]["name"] for stat in _stats(instance)}
    if names and not names & {*USUAL}:
        raise UnsupportedMetric(
            f"{file}: has none of the metrics {' and '.join(USUAL)}; use --metric, one of "
            f"{', '.join(sorted(names)[:20])}"
        )
    return next((name for name in USUAL if name in names), USUAL[0])


def _task(name: str) -> str:
    """Return the scenario and its arguments, without the model and its deployment."""
    scenario, _, arguments = name.partition(":")
    arguments = ",".join(part for part in arguments.split(",") if not part.startswith(MODEL))
    return f"{scenario}:{arguments}" if arguments else scenario


def _reported(file: Path, metric: str, split: str) -> Reported | None:
    """Return HELM's own summary of all instances that are not perturbed."""
    with as_written_by(TOOL, str(file)):
        for stat in read_json(file) if file.is_file() else []:
            if stat["name"] == {"name": metric, "split": split} and stat.get("count"):
                return Reported(f"{file} ({metric})", float(stat["sum"]) / stat["count"])
    return None


def _rows(instances: list[Any], metric: str, file: Path) -> Iterator[dict[str, object]]:
    known_ids: set[str] = set()
    has_rows = False
    for place, instance in enumerate(instances):
        location = f"{file}, instance {place}"
        with as_written_by(TOOL, location):
            if instance.get("perturbation"):
                continue
            stats = _stats(instance)
            known_ids.update(stat["name"]["name"] for stat in stats)
            rows = [
                _row(instance, stat, location)
                for stat in stats
                if stat["name"]["name"] == metric and stat.get("count")
            ]
        has_rows = has_rows or bool(rows)
        yield from rows
    if not has_rows:
        if metric in known_ids:
            raise InputError(f"{file}: its metric '{metric}' counts no instance; expected a whole run")
        raise UnsupportedMetric(
            f"{file}: has no metric '{metric}'; its metrics: {', '.join(sorted(known_ids)[:20])}"
        )


def _pairs(instances: list[Any], split: str, file: Path) -> set[tuple[str, str]]:
    """Return example and prompt of each instance of a split, whichever metrics it has."""
    pairs = set()
    for place, instance in enumerate(instances):
        location = f"{file}, instance {place}"
        with as_written_by(TOOL, location):
            of_split = any(str(stat["name"].get("split", "")) == split for stat in _stats(instance))
            if of_split and not instance.get("perturbation"):
                pairs.add((_example(instance, location), _prompt(instance)))
    return pairs


def _stats(instance: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the statistics of an instance, without those of perturbations of it."""
    return [stat for stat in instance.get("stats") or [] if not stat["name"].get("perturbation")]


def _example(instance: dict[str, Any], place: str) -> str:
    if instance["instance_id"] is None:
        raise InputError(f"{place}: instance_id is empty; expected a text")
    return named(instance["instance_id"], place)


def _prompt(instance: dict[str, Any]) -> str:
    return str(instance.get("train_trial_index") or 0)


def _row(instance: dict[str, Any], stat: dict[str, Any], place: str) -> dict[str, object]:
    value = float(stat["sum"]) / stat["count"]
    metric = stat["name"]["name"]
    if not 0 <= value <= 1 or (value not in (0, 1) and metric not in OF_CHOICES):
        raise UnsupportedMetric(
            f"{place}: {metric} is {value}; expected a metric of 0 or 1 for each instance"
        )
    return {
        "example": _example(instance, place),
        "prompt": _prompt(instance),
        "split": str(stat["name"].get("split", "")),
        "predicted": _predicted(instance, value),
        "correct": value == 1,
        "tie": 0 < value < 1,
        "recorded": value,
        "truncated": _counts(instance, "prompt_truncated"),
        "cut_off": _counts(instance, "finish_reason_length"),
    }


def _other_metrics(instances: list[Any], metric: str) -> list[str]:
    """Return the other metrics that compare outputs with the references."""
    names = {stat["name"]["name"] for instance in instances for stat in _stats(instance)}
    return [name for name in OF_CHOICES if name in names and name != metric]


def _counts(instance: dict[str, Any], name: str) -> bool | None:
    """Return whether a statistic of an instance is above 0; None if the run does not have it."""
    sums = [stat.get("sum") for stat in _stats(instance) if stat["name"]["name"] == name]
    return bool(sums[0]) if sums and isinstance(sums[0], int | float) else None


def _predicted(instance: dict[str, Any], value: float) -> int:
    """Return the predicted choice's number, where it is told and no tie."""
    if 0 < value < 1:
        return UNKNOWN
    recorded = [stat["sum"] for stat in _stats(instance) if stat["name"]["name"] == "predicted_index"]
    return int(recorded[0]) if recorded else UNKNOWN


def _chances(folder: Path, metric: str) -> dict[str, float]:
    """{example: correct choices / choices}, where the run tells its instances.

    Generation tasks can list other texts than answers as references, such as a table that is needed. They
    list choices only if the metric compares the output with these.

    They stand in ``instances.json`` once a suite was summarized, before in ``scenario_state.json``.
    """
    file = folder / "run_spec.json"
    with as_written_by(TOOL, str(file)):
        is_generated = (read_json(file).get("adapter_spec") or {}).get("method") == "generation"
    if is_generated and metric not in OF_CHOICES:
        return {}
    if (folder / "instances.json").is_file():
        instances = read_json(folder / "instances.json")
    elif (folder / "scenario_state.json").is_file():
        states = read_json(folder / "scenario_state.json").get("request_states") or []
        instances = [state["instance"] for state in states]
    else:
        return {}
    chances = {}
    for instance in instances:
        references = instance.get("references") or []
        correct_flags = ["correct" in (reference.get("tags") or []) for reference in references]
        # generation tasks list right answers only
        if len(correct_flags) > 1 and any(correct_flags) and not all(correct_flags):
            chances[str(instance["id"])] = sum(correct_flags) / len(correct_flags)
    return chances


def _evidence(folder: Path) -> pd.DataFrame:
    """Return the columns ``question``, ``context`` and ``output`` by ``example`` and ``prompt``.

    Choices that are scored separately have a request each; the first one stands for them.
    """
    file = folder / "scenario_state.json"
    states = (read_json(file).get("request_states") or []) if file.is_file() else []
    rows = [
        {
            "example": str(state["instance"].get("id")),
            "prompt": str(state.get("train_trial_index") or 0),
            "question": _question(state["instance"]),
            "context": text_or_none((state.get("request") or {}).get("prompt")),
            "output": _output(state),
        }
        for state in states
        if not state["instance"].get("perturbation")
    ]
    return pd.DataFrame(rows).drop_duplicates(["example", "prompt"]) if rows else pd.DataFrame()


def _question(instance: dict[str, Any]) -> str:
    """Return the text and the references of an instance."""
    parts = [instance.get("input") or {}]
    parts += [reference.get("output") or {} for reference in instance.get("references") or []]
    return "\n".join(part["text"] for part in parts if text_or_none(part.get("text")))


def _output(state: dict[str, Any]) -> str | None:
    """Return the text that the model generated; None for a choice that was scored."""
    completions = (state.get("result") or {}).get("completions") or []
    scored = state.get("reference_index") is not None
    return None if scored or not completions else text_or_none(completions[0].get("text"))
