"""Series of models: an entry of a config that stands for the seeds and checkpoints of one training.

    pythia-160m:
      hub: EleutherAI/pythia-160m-seed{seed}
      revision: step{step}
      seeds: [1, 2, 3]
      steps: [1000, 2000]
      precision: bfloat16

is six models, ``pythia-160m-seed1-step1000`` and so on, each with what it is one of:
``series: {name: pythia-160m, seed: 1, checkpoint: 1000}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from abovechance.core.errors import InputError

# {key of an entry: what stands for one of its values in names and paths}
AXES = {"seeds": "seed", "steps": "step"}
TRAINED = "trained"  # here, by seed and for so many steps
LARGEST_NUMBER = 10**12  # of a seed or a step, which are parts of names
NAMED = ("path", "hub", "revision", "file")  # what of an entry says where a model lies


def written_out(models: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the models with each series as its members.

    Raises
    ------
    InputError
        If seeds or steps are no numbers, or do not stand where the model lies, or a member has a name that is
        another model's.
    """
    entries: dict[str, Any] = {}
    for name, entry in models.items():
        is_series = isinstance(entry, Mapping) and (any(key in entry for key in AXES) or _has_places(entry))
        for member, member_entry in (
            _members(name, entry, f"{place}: key 'models.{name}") if is_series else [(name, entry)]
        ):
            if member in entries:
                raise InputError(f"{place}: key 'models.{member}' stands for two models; use other names")
            entries[member] = member_entry
    return entries


def check_apart(models: Mapping[str, Mapping[str, Any]], place: str) -> None:
    """Raise InputError where two models are of one seed and checkpoint, or one has a training's name."""
    homes: dict[tuple[Any, ...], str] = {}
    for model, entry in models.items():
        training = training_of(model, entry)
        named = models.get(training, entry)
        if training != model and ("series" not in named or training_of(training, named) != training):
            raise InputError(
                f"{place}: key 'models.{training}' has the name of a training of "
                f"'{entry['series']['name']}'; use another name"
            )
        if "series" in entry:
            identity = tuple(entry["series"][key] for key in ("name", "seed", "checkpoint"))
            first_model = homes.setdefault(identity, model)
            if first_model != model:
                raise InputError(
                    f"{place}: keys 'models.{first_model}' and 'models.{model}' are both checkpoint "
                    f"{identity[2]} of seed {identity[1]} of '{identity[0]}'; expected one of them"
                )


def members(models: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """{model: its ``series``} of those that are of one."""
    return {name: dict(entry["series"]) for name, entry in models.items() if "series" in entry}


def training_of(model: str, entry: Mapping[str, Any]) -> str:
    """The training that a model is a checkpoint of; the model itself where it is of none."""
    if "series" not in entry:
        return model
    series = entry["series"]
    return f"{series['name']}-seed{series['seed']}"


def shown_of(models: Sequence[str], entries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Those models whose own pictures are drawn: of a series, the last checkpoint of the first seed."""
    last: dict[str, tuple[int, int, str]] = {}
    for model in models:
        if "series" in (entry := entries.get(model, {})):
            series = entry["series"]
            rank = (-series["seed"], series["checkpoint"], model)
            last[series["name"]] = max(rank, last.get(series["name"], rank))
    shown_models = {model for *_, model in last.values()}
    return [model for model in models if "series" not in entries.get(model, {}) or model in shown_models]


def last_checkpoints(models: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, int]]:
    """{model: (its series, its seed)} of those at the last checkpoint that all seeds of their series have."""
    steps: dict[str, dict[int, set[int]]] = {}
    for places in members(models).values():
        steps.setdefault(places["name"], {}).setdefault(places["seed"], set()).add(places["checkpoint"])
    last = {name: max(set.intersection(*seeds.values()), default=-1) for name, seeds in steps.items()}
    return {
        model: (places["name"], places["seed"])
        for model, places in members(models).items()
        if places["checkpoint"] == last[places["name"]]
    }


def compared_as(
    models: Sequence[str], entries: Mapping[str, Mapping[str, Any]]
) -> dict[str, tuple[str, int]]:
    """{model: (what it is compared with others as, its seed)} of those models that are compared.

    Of a series, the last checkpoint that all its seeds have, its seeds as trainings of one model. Where that
    leaves one model, its seeds are compared with each other; where it has one seed, its checkpoints are.
    """
    last = last_checkpoints({model: entries.get(model, {}) for model in models})
    trained = {name for name, _ in last.values()}
    trainings: dict[str, tuple[str, int]] = {}
    for model in models:
        series = entries.get(model, {}).get("series")
        if model in last:
            trainings[model] = last[model]
        elif series is None or series["name"] not in trained:
            trainings[model] = (model, 0)
    if len({name for name, _ in trainings.values()}) > 1:
        return trainings
    return {model: (model, 0) for model in (trainings if len(trainings) > 1 else models)}


def _members(name: str, entry: Mapping[str, Any], key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    values = {axis: _values(entry, axis, key) for axis in AXES if axis in entry}
    common = {shared_key: value for shared_key, value in entry.items() if shared_key not in AXES}
    trained = common[TRAINED] if isinstance(common.get(TRAINED), Mapping) else {}
    if conflicting := [axis for axis in values if AXES[axis] in trained]:
        raise InputError(
            f"{key}' has '{conflicting[0]}' and '{AXES[conflicting[0]]}' in 'trained'; expected one of them"
        )
    if "series" in common:
        raise InputError(f"{key}' has 'series' beside '{next(iter(values))}'; expected one of them")
    places = " ".join(str(common.get(place, "")) for place in NAMED)
    for axis, word in AXES.items():
        if f"{{{word}}}" in places and axis not in values:
            raise InputError(f"{key}' has {{{word}}} and no '{axis}'; use `{axis}: [1, 2]` beside it")
    for axis, numbers in values.items():
        if TRAINED not in common and f"{{{AXES[axis]}}}" not in places and len(numbers) > 1:
            raise InputError(
                f"{key}.{axis}' has {len(numbers)} numbers, and nothing says where each model lies; expected "
                f"{{{AXES[axis]}}} in one of {', '.join(NAMED)}"
            )
    for chosen in product(*values.values()):
        identity = dict(zip((AXES[axis] for axis in values), chosen, strict=True))
        member_entry = {
            shared_key: _filled(value, identity) if shared_key in NAMED else value
            for shared_key, value in common.items()
        }
        if isinstance(member_entry.get(TRAINED), Mapping):
            member_entry[TRAINED] = {**member_entry[TRAINED], **identity}
        member_entry["series"] = {
            "name": name,
            "seed": identity.get("seed", 0),
            "checkpoint": identity.get("step", 0),
        }
        yield "-".join([name, *(f"{axis}{number}" for axis, number in identity.items())]), member_entry


def _has_places(entry: Mapping[str, Any]) -> bool:
    """Return whether what says where a model lies has a place for a seed or a step."""
    return any(f"{{{word}}}" in str(entry.get(place, "")) for place in NAMED for word in AXES.values())


def _values(entry: Mapping[str, Any], axis: str, key: str) -> list[int]:
    values = entry[axis]
    whole = isinstance(values, list) and all(
        isinstance(number, int) and not isinstance(number, bool) for number in values
    )
    if not (
        whole
        and values
        and 0 <= min(values) <= max(values) <= LARGEST_NUMBER
        and len(set(values)) == len(values)
    ):
        raise InputError(f"{key}.{axis}' is {values!r}; expected a list of whole numbers, each once")
    return list(values)


def _filled(value: Any, numbers: Mapping[str, int]) -> Any:
    """Return a text with the numbers in their places."""
    if not isinstance(value, str):
        return value
    for axis, number in numbers.items():
        value = value.replace(f"{{{axis}}}", str(number))
    return value
