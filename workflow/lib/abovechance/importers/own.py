"""This project's own predictions: what ``abovechance import`` writes, or a study's folder of predictions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from abovechance.core.errors import InputError
from abovechance.core.files import files_below
from abovechance.core.settings import SETTING, by_setting
from abovechance.importers.contract import Options, Run
from abovechance.results.imported import metrics_of, names_of_prompts, read_imported, settings_in
from abovechance.results.predictions import PREDICTIONS
from abovechance.study.config_file import predictions_files

TOOL = "abovechance"
NAMES = (
    "prompts",
    "prompt_names",
)  # where files of `abovechance import`, and of a study, have names of prompts
OPTIONS = ()
LOOKS_LIKE = "a .parquet file of `abovechance import`, or a study's folder predictions"


def find(path: Path) -> list[Path]:
    """Return the file, where it is one of predictions, or a study's of all its models.

    In other folders, such files lie beside the logs that they were made of.
    """
    if path.name == PREDICTIONS.name and path.is_dir():
        files = predictions_files(path.parent)
    else:
        files = files_below(path, "*.parquet") if path.is_file() else []
    return [file for file in files if _has_predictions(file)]


def _has_predictions(path: Path) -> bool:
    try:
        return set(PREDICTIONS.columns) <= set(pq.read_schema(path).names)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if path.parent.name == PREDICTIONS.name:  # in a study's folder, it can be nothing else
            raise InputError(f"{path}: is damaged ({error}); delete it and run the study again") from None
        return False


def read(path: Path, options: Options) -> Iterator[Run]:  # noqa: ARG001
    """One run for each setting, its prompts by their names; by their numbers where they have none."""
    settings_in(path)
    names, metrics = names_of_prompts(path), metrics_of(path)
    is_drawn = (path.parent.parent / "evaluation_sets").is_dir()
    for rows in read_imported(path):
        for setting, setting_rows in by_setting(rows):
            table = setting_rows.drop(columns=SETTING).astype({"prompt": str, "example": str})
            of_setting = dict(enumerate(names.get(setting.words, [])))
            table["prompt"] = [of_setting.get(int(number), number) for number in table["prompt"]]
            metric = metrics.get(setting.words, "accuracy")
            yield Run(str(path), *setting, table, metric=metric, is_drawn=is_drawn, states_chance=True)
