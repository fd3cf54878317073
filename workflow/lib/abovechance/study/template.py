"""The text of a new config, with comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from abovechance.core.errors import InputError
from abovechance.core.reading import whole
from abovechance.study.task_sources import BIGBENCH, OWN_TASK_SUFFIXES

TEMPLATE = """\
# A study for abovechance. Run it with `abovechance run {file}`; the results are stored in results/{study}/.
# The documentation lists all keys (page "Configuring a study").

study: {study}

# The random seed for drawing examples and demonstrations, and for splitting data.
seed: 0

# Tasks by name: a file (.jsonl, .csv or .parquet), or `bigbench` for the BIG-bench task of that name.
{tasks}
# Models by name: a folder or GGUF file (`path`), or a Hugging Face id (`hub`, with a `revision`). With
# float32, scores agree to within 1e-4 on all machines, and answers are almost always the same.
{models}
# The numbers of demonstrations in front of an example.
shots: {shots}

# The number of prompts that are tried for each task and number of shots.
prompts: {prompts}

# The largest number of examples of a task. `abovechance plan` computes how many a verdict needs.
max_examples: 200
"""


def config_text(
    file: Path,
    study: str,
    tasks: Sequence[str],
    models: Sequence[str],
    precision: str,
    shots: str,
    prompts: int,
) -> str:
    """Return the text of a config.

    Parameters
    ----------
    file
        The file that it will be written to.
    tasks
        Task files, or names of BIG-bench tasks.
    models
        Model folders, GGUF files or Hugging Face ids.
    shots
        Numbers of demonstrations, separated by commas.

    Raises
    ------
    InputError
        If numbers of shots are no numbers, or two tasks or models would have the same name.
    """
    numbers = [whole(part) for part in shots.split(",")]
    if None in numbers:
        raise InputError(f"--shots is '{shots}'; expected whole numbers with commas, such as 0,2,4")
    return TEMPLATE.format(
        file=file,
        study=_as_yaml(study),
        tasks=_as_yaml({"tasks": _by_name(tasks, _task)}),
        models=_as_yaml({"models": _by_name(models, lambda model: _model(model, precision))}),
        shots=_as_yaml(numbers, flow=True),
        prompts=prompts,
    )


def as_name(text: str) -> str:
    """Return a text as a name of letters, digits, dots, hyphens and underscores, as keys of a config are."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).lstrip("_.-")[:100] or "unnamed"


def _as_yaml(value: object, flow: bool | None = False) -> str:
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=flow)
    return text.removesuffix("...\n").rstrip("\n") + "\n" * isinstance(value, dict)


def _by_name(sources: Sequence[str], entry_of: Callable[[str], object]) -> dict[str, object]:
    """Return {name: entry}; a name is the last part of a path or id, without its suffix."""
    entries: dict[str, object] = {}
    for source in sources:
        path = Path(source)
        name = path.stem if path.suffix in (*OWN_TASK_SUFFIXES, ".gguf") else path.name
        name = as_name(name)
        if name in entries:
            raise InputError(f"'{source}': there are two of the name '{name}'; rename one of them")
        entries[name] = entry_of(source)
    return entries


def _task(source: str) -> str:
    return source if source.endswith(OWN_TASK_SUFFIXES) else BIGBENCH


def _model(source: str, precision: str) -> dict[str, str]:
    if source.endswith(".gguf") or Path(source).expanduser().exists():
        return {"path": source, "precision": precision}
    return {"hub": source, "revision": "main", "precision": precision}
