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
from abovechance.study.tasks import OWN_TASK_SUFFIXES, check_bigbench_name

SOURCES = ("path", "hub", "download")
PRECISIONS = ("float32", "bfloat16", "float16", "nf4")
PUBLISHED = ("release", "predictions")
SCORED = ("tasks", "models", "shots", "prompts")


def resolve(
    config: Mapping[str, Any], schema: Mapping[str, Any], downloads: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """The config with its defaults filled in, once all that can be checked at once is right.

    Parameters
    ----------
    config
        As read from YAML.
    schema
        The JSON Schema of a study.
    downloads
        The pinned downloads, by name.
    where
        The config's file, for messages.

    Raises
    ------
    InputError
        With file, key, value and what would be right.
    """
    errors = jsonschema.Draft202012Validator(schema).iter_errors(config)
    for error in sorted(errors, key=lambda error: (len(error.path), str(list(error.path)))):
        raise InputError(f"{where}: {_explain(error)}")
    _check_kind(config, where)
    resolved = copy.deepcopy(dict(config))
    _fill_defaults(resolved, schema)
    for name, source in resolved.get("tasks", {}).items():
        _check_task(name, source, where)
    for name, model in resolved.get("models", {}).items():
        _check_model(name, model, downloads, where)
    return resolved


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


def _check_kind(config: Mapping[str, Any], where: str) -> None:
    """A study scores models on tasks, or starts from others' predictions, and not both."""
    given = [key for key in PUBLISHED if key in config]
    if not given:
        if missing := [key for key in SCORED if key not in config]:
            raise InputError(f"{where}: the config lacks the key '{missing[0]}'")
        return
    if both := [key for key in (*SCORED, *given[1:]) if key in config]:
        raise InputError(
            f"{where}: key '{both[0]}' has no place beside '{given[0]}', which says itself what was run"
        )
    path = Path(config[given[0]]).expanduser()
    right = {
        "release": "the folder or zip file of a release, as in --config release=PATH",
        "predictions": "a .parquet file that `abovechance import` wrote",
    }
    if not path.exists():
        raise InputError(
            f"{where}: key '{given[0]}': there is no '{path}' (looked in {Path.cwd()}); right would be "
            + right[given[0]]
        )
    if given == ["predictions"] and path.suffix != ".parquet":
        raise InputError(f"{where}: key 'predictions' is '{path}'; right would be {right['predictions']}")


def _explain(error: jsonschema.ValidationError) -> str:
    """A schema error in words: the key, what it has, and what would be right."""
    key = ".".join(map(str, error.absolute_path))
    at = f"key '{key}'" if key else "the config"
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        unknown = next(name for name in error.instance if name not in known)
        inside = f" in '{key}'" if key else ""
        return f"key '{unknown}'{inside} is unknown; {nearest(str(unknown), known)}"
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"{at} lacks the key '{missing}'"
    if error.validator == "type":
        return f"{at} is {error.instance!r}, but must be of type {error.validator_value}"
    if error.validator == "enum":
        words = [str(word) for word in error.validator_value]
        hint = nearest(str(error.instance), words)
        return f"{at} is {error.instance!r}, but must be one of {', '.join(words)}; {hint}"
    if error.validator == "pattern":
        hint = "a name is made of letters, digits, '_', '.' and '-'"
        return f"{at} has {error.instance!r}; {hint}"
    return f"{at}: {error.message}"


def _fill_defaults(config: dict[str, Any], schema: Mapping[str, Any]) -> None:
    for key, part in schema.get("properties", {}).items():
        if "default" in part:
            config.setdefault(key, copy.deepcopy(part["default"]))
        if isinstance(config.get(key), dict):
            for inner in _objects_below(config[key], part):
                _fill_defaults(*inner)


def _objects_below(
    value: dict[str, Any], schema: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """The object itself, or its values where the schema describes these and not its keys."""
    every = schema.get("additionalProperties")
    if isinstance(every, Mapping) and "properties" in every:
        yield from ((item, every) for item in value.values())
    else:
        yield value, schema


def _check_task(name: str, source: str, where: str) -> None:
    if source == "bigbench":
        check_bigbench_name(name, f"{where}: key 'tasks'")
        return
    path = Path(source).expanduser()
    key = f"{where}: key 'tasks.{name}'"
    if path.suffix not in OWN_TASK_SUFFIXES:
        right = f"'bigbench' or a file ending in {', '.join(OWN_TASK_SUFFIXES)}"
        raise InputError(f"{key} is '{source}'; right would be {right}")
    if not path.is_file():
        raise InputError(f"{key}: there is no file '{source}' (looked in {Path.cwd()})")


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
        check_model_path(Path(model["path"]).expanduser(), f"{where}: key 'models.{name}.path'")
    if "revision" in model and "hub" not in model:
        raise InputError(f"{key} has 'revision', which belongs to 'hub' only")
