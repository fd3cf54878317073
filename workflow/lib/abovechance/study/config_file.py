"""A study's config file, read before Snakemake reads it: ``python -m abovechance.study.config_file FILE``.

It prints the file's path once it can be read. Snakemake ends with a traceback where there is no such
file, and takes the last of two like keys.
"""

from __future__ import annotations

import sys
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from abovechance.core.errors import InputError
from abovechance.core.files import file_name
from abovechance.core.reading import read_yaml
from abovechance.core.tables import read_table
from abovechance.study.series import training_of

# keys that decide which prompts and examples are scored
SCORED = ("prompts", "max_examples", "demonstrations")
WITHOUT_RESULTS = ("archive", "machines", "keep_weights", "scoring")  # keys that decide no result


def check_stored(config: Mapping[str, Any], place: str) -> None:
    """Raise InputError if a config takes the scores of itself, or of a study with other prompts or examples.

    Parameters
    ----------
    config
        The resolved config; the key ``stored`` names the folder of the study.
    place
        The config file, for messages.
    """
    if Path(config["stored"]).resolve() == Path("results", config["study"]).resolve():
        raise InputError(
            f"{place}: key 'stored' is {config['stored']}, the folder of this study; expected another one"
        )
    path = Path(config["stored"], "config.yaml")
    stored = read_yaml(path) if path.is_file() else {}
    for key in SCORED:
        if key in stored and config.get(key) != stored[key]:
            raise InputError(
                f"{place}: key '{key}' is {config.get(key)!r}, and the scores in {config['stored']} are of a "
                f"study with {stored[key]!r}; use {stored[key]!r}"
            )


def predictions_files(study: Path) -> list[Path]:
    """Return the files of predictions in the folder of a study, without those of models that it had before.

    The models are those of its config. Imported studies and releases have no such list: theirs are those of
    the verdicts. If no list names one of the files, all of them count, because a folder can have another
    tool's ``config.yaml``.
    """
    files = sorted((study / "predictions").glob("*.parquet"))
    names = _of_config(study / "config.yaml") or _of_verdicts(study / "tables" / "verdicts.parquet")
    return [file for file in files if file.stem in names] or files


def _of_config(path: Path) -> set[str]:
    """Return the names of the files of a config's models; none if it cannot be read."""
    try:
        models = read_yaml(path).get("models")
    except InputError:
        return set()
    entries = models.items() if isinstance(models, Mapping) else ()
    return {file_name(training_of(name, entry)) for name, entry in entries if isinstance(entry, Mapping)}


def _of_verdicts(path: Path) -> set[str]:
    """Return the names of the files of the models of a table of verdicts; none if it cannot be read."""
    try:
        table = read_table(path) if path.is_file() else pd.DataFrame()
    except InputError:
        return set()
    return {file_name(str(model)) for model in table["model"]} if "model" in table else set()


def text_of(config: Mapping[str, Any]) -> str:
    """A resolved config as it is written to the folder of a study."""
    return yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)


def check_recorded(config: Mapping[str, Any], path: Path) -> None:
    """Raise InputError if a study has results of another config, and no record of how they were made.

    Snakemake's record lies in the hidden folder ``.snakemake``. Without it, Snakemake takes all results for
    those of the present config.

    Parameters
    ----------
    config
        The resolved config.
    path
        That of the results, in the folder of the study.
    """
    stored = read_yaml(path) if path.is_file() else {}
    # keys that the stored one lacks are of results that are not there, or have defaults since
    if all(config.get(key) == value for key, value in stored.items() if key not in WITHOUT_RESULTS):
        return
    record = Path(".snakemake", "metadata", urlsafe_b64encode(str(path).encode()).decode())
    if not record.exists() and not any(Path(".snakemake").glob("*.db")):
        raise InputError(
            f"{path}: is of another config, and the folder .snakemake has no record of how these results "
            "were made; copy .snakemake along with results, or run once with --forceall, which makes "
            "everything again but scores"
        )


def main(arguments: str) -> None:
    """Print the path of a config file; what is wrong with the file is one line and exit status 1."""
    try:
        path = Path(arguments).expanduser()
        read_yaml(path)
    except (InputError, RuntimeError) as error:
        sys.exit(f"abovechance: error: {error}")
    print(path)


if __name__ == "__main__":
    main(sys.argv[1])
