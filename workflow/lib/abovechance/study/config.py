"""A study's config: checked as a whole before anything runs."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import jsonschema

from abovechance.core.errors import InputError, nearest
from abovechance.study.model_folders import check_model_path
from abovechance.study.task_sources import BIGBENCH, check_task_source

SOURCES = ("path", "hub", "download")
PRECISIONS = ("float32", "bfloat16", "float16", "nf4")
# {key: how a study with it starts}; a study with none of them scores models.
STARTS = {"release": "release", "predictions": "imported"}
MODELS = "models"
# What keys must name.
PATHS = {
    "release": "the folder or zip file of a release, as in --config release=PATH",
    "predictions": "a .parquet file that `abovechance import` wrote",
    "bigbench": "a BIG-bench checkout, or the sdist of the package bigbench",
}
NEEDED = ("tasks", "models", "shots", "prompts")  # by those that score models


def resolve(
    config: Mapping[str, Any], schema: Mapping[str, Any], downloads: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """The config with its defaults filled in and its paths expanded, once all that can be checked is right.

    Parameters
    ----------
    config
        As read from YAML.
    schema
        The JSON Schema of a study. A key with ``starts`` belongs to studies that start so, and to
        no others.
    downloads
        The pinned downloads, by name.
    where
        The config's file, for messages.

    Raises
    ------
    InputError
        With file, key, value and what would be right.
    """
    _check_names(config, where)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(config)
    for error in sorted(errors, key=lambda error: (len(error.path), str(list(error.path)))):
        raise InputError(f"{where}: {_explain(error)}")
    start = start_of(config)
    _check_keys(config, schema, start, where)
    resolved = copy.deepcopy(dict(config))
    _fill_defaults(resolved, schema, start)
    _expand_paths(resolved, where)
    _check_start(resolved, start, where)
    for name, source in resolved.get("tasks", {}).items():
        check_task_source(name, source, where)
    for name, model in resolved.get("models", {}).items():
        _check_model(name, model, downloads, where)
    return resolved


def start_of(config: Mapping[str, Any]) -> str:
    """How a study starts: from ``models`` that are scored, a ``release``, or ``imported`` results."""
    return next((start for key, start in STARTS.items() if key in config), MODELS)


def precision_pairs(models: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The names of models that are the same but for their precision, the higher one first."""
    by_source: dict[str, list[str]] = {}
    for name, entry in models.items():
        source = repr(sorted((key, str(value)) for key, value in entry.items() if key != "precision"))
        by_source.setdefault(source, []).append(name)
    return [
        (first, second)
        for names in by_source.values()
        for first, second in combinations(
            sorted(names, key=lambda name: PRECISIONS.index(models[name]["precision"])), 2
        )
        if models[first]["precision"] != models[second]["precision"]
    ]


def _check_names(config: Mapping[str, Any], where: str, inside: str = "the config") -> None:
    """Raise InputError unless all keys are texts: YAML reads 5 and yes as something else."""
    for key, value in config.items():
        if not isinstance(key, str):
            raise InputError(f"{where}: {inside} has the key {key!r}; right would be a text, such as '{key}'")
        if isinstance(value, Mapping):
            _check_names(value, where, f"key '{key}'")


def _check_keys(config: Mapping[str, Any], schema: Mapping[str, Any], start: str, where: str) -> None:
    """Raise InputError unless all keys mean something in a study that starts so, and none lacks."""
    if len(both := [key for key in STARTS if key in config]) > 1:
        raise InputError(f"{where}: keys '{both[0]}' and '{both[1]}': a study starts from one of them")
    for key in config:
        starts = schema["properties"][key].get("starts", [start])
        if start not in starts:
            belongs = " or ".join(map(_which, starts))
            raise InputError(
                f"{where}: key '{key}' means nothing in {_which(start)}; it belongs to {belongs}"
            )
    if start == MODELS and (missing := [key for key in NEEDED if key not in config]):
        raise InputError(f"{where}: the config lacks the key '{missing[0]}'")


def _which(start: str) -> str:
    """Studies that start so, in words."""
    key = next((key for key, value in STARTS.items() if value == start), None)
    return f"a study with '{key}', which says itself what was run" if key else "a study that scores models"


def _expand_paths(config: dict[str, Any], where: str) -> None:
    """Put the home folder in place of ``~``, here and nowhere else."""
    for key in PATHS:
        if key in config:
            config[key] = _expanded(config[key], f"key '{key}'", where)
    for name, source in config.get("tasks", {}).items():
        if source != BIGBENCH:
            config["tasks"][name] = _expanded(source, f"key 'tasks.{name}'", where)
    for name, model in config.get("models", {}).items():
        if "path" in model:
            model["path"] = _expanded(model["path"], f"key 'models.{name}.path'", where)


def _expanded(path: str, key: str, where: str) -> str:
    if not path:
        raise InputError(f"{where}: {key} is empty; right would be a path")
    try:
        return str(Path(path).expanduser())
    except RuntimeError:
        raise InputError(f"{where}: {key} is '{path}', and there is no such home folder") from None


def _check_start(config: Mapping[str, Any], start: str, where: str) -> None:
    """Raise InputError unless what a study starts from is there."""
    for key, right in PATHS.items():
        if key in config and not Path(config[key]).exists():
            looked = f"there is no '{config[key]}' (looked in {Path.cwd()})"
            raise InputError(f"{where}: key '{key}': {looked}; right would be {right}")
    if start == "imported" and Path(config["predictions"]).suffix != ".parquet":
        raise InputError(
            f"{where}: key 'predictions' is '{config['predictions']}'; right would be {PATHS['predictions']}"
        )


def _explain(error: jsonschema.ValidationError) -> str:
    """A schema error in words: the key, what it has, and what would be right."""
    key = ".".join(map(str, error.absolute_path))
    at = f"key '{key}'" if key else "the config"
    allowed: Any = error.validator_value
    instance: Any = error.instance
    if error.validator == "additionalProperties":
        schema: Any = error.schema
        known = list(schema["properties"])
        unknown = next(name for name in instance if name not in known)
        inside = f" in '{key}'" if key else ""
        return f"key '{unknown}'{inside} is unknown; {nearest(str(unknown), known)}"
    if error.validator == "required":
        missing = next(name for name in allowed if name not in instance)
        return f"{at} lacks the key '{missing}'"
    if error.validator == "type":
        return f"{at} is {error.instance!r}, but must be of type {error.validator_value}"
    if error.validator == "enum":
        words = [str(word) for word in allowed]
        hint = nearest(str(error.instance), words)
        return f"{at} is {error.instance!r}, but must be one of {', '.join(words)}; {hint}"
    if error.validator == "pattern":
        hint = "a name is made of letters, digits, '_', '.' and '-'"
        return f"{at} has {error.instance!r}; {hint}"
    return f"{at}: {error.message}"


def _fill_defaults(config: dict[str, Any], schema: Mapping[str, Any], start: str) -> None:
    for key, part in schema.get("properties", {}).items():
        if "default" in part and start in part.get("starts", [start]):
            config.setdefault(key, copy.deepcopy(part["default"]))
        if isinstance(config.get(key), dict):
            for inner in _objects_below(config[key], part):
                _fill_defaults(*inner, start)


def _objects_below(
    value: dict[str, Any], schema: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """The object itself, or its values where the schema describes these and not its keys."""
    every = schema.get("additionalProperties")
    if isinstance(every, Mapping) and "properties" in every:
        yield from ((item, every) for item in value.values())
    else:
        yield value, schema


def _check_model(name: str, model: Mapping[str, Any], downloads: Mapping[str, Any], where: str) -> None:
    key = f"{where}: key 'models.{name}'"
    given = [source for source in SOURCES if source in model]
    if len(given) != 1:
        raise InputError(f"{key} has {given or 'no source'}; right is one of {', '.join(SOURCES)}")
    if "download" in model:
        if model["download"] not in downloads:
            hint = nearest(model["download"], list(downloads))
            raise InputError(f"{key}.download: '{model['download']}' is not pinned; {hint}")
        if "file" not in model:
            raise InputError(f"{key} lacks 'file': the GGUF file inside the download")
    if "path" in model:
        check_model_path(Path(model["path"]), f"{where}: key 'models.{name}.path'")
    if "revision" in model and "hub" not in model:
        raise InputError(f"{key} has 'revision', which belongs to 'hub' only")
