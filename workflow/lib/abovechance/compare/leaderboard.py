"""Leaderboards: accuracies of models without their answers, which can be compared unpaired only."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from abovechance.chance.random_baseline import MOST_EXAMPLES
from abovechance.chance.rounding import Correct
from abovechance.core.csv_table import SHARE, CsvTable, whole_number
from abovechance.core.errors import InputError
from abovechance.core.reading import heading
from abovechance.core.untrusted import printable
from abovechance.core.words import counted

NEEDED = ("model", "accuracy", "n")


def is_leaderboard(path: Path) -> bool:
    """Return whether a file is a CSV whose heading has ``model``, ``accuracy`` and ``n``."""
    return path.is_file() and path.suffix == ".csv" and {*NEEDED} <= set(heading(path))


def read_leaderboard(path: Path) -> pd.DataFrame:
    """A leaderboard, a CSV with the columns ``model``, ``accuracy``, ``n``, and ``task`` if it has several.

    Returns
    -------
    DataFrame
        ``model``, ``task``, ``accuracy`` in [0, 1], ``n`` examples, and a ``note`` if no number of correct
        answers rounds to the accuracy, else an empty text. Other columns are left out.

    Raises
    ------
    InputError
        With row and column of what is wrong, or where a model stands twice in a task.
    """
    csv = CsvTable.read(path)
    texts = csv.texts
    accuracies, sizes = csv.values("accuracy", SHARE), csv.values("n", whole_number(1, MOST_EXAMPLES))
    rows = []
    for place, row, accuracy, examples in zip(
        texts.index, texts.to_dict("records"), accuracies, sizes, strict=True
    ):
        task = printable(row["task"].strip() if "task" in texts else path.stem)
        model = printable(row["model"].strip())
        note = ""
        try:
            correct = Correct.from_accuracy(row["accuracy"], examples)
        except ValueError as error:
            raise InputError(f"{path}, row {place}: {error}") from None
        if not correct.exact:
            note = (
                f"{path}, row {place}: no number of correct answers out of {examples} gives '{model}' an "
                f"accuracy of {row['accuracy'].strip()}; {counted(correct.nearest, 'correct answer')} assumed"
            )
        rows.append({"model": model, "task": task, "accuracy": accuracy, "n": examples, "note": note})
    table = pd.DataFrame(rows, index=texts.index)
    twice = table.duplicated(["model", "task"]).to_numpy()
    if twice.any():
        place = int(twice.argmax())
        raise InputError(
            f"{path}, row {texts.index[place]}: '{rows[place]['model']}' occurs twice for the task "
            f"'{rows[place]['task']}'; expected one row"
        )
    return table.reset_index(drop=True)
