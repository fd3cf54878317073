"""PVI that others computed: tables of runs, and of examples, as CSV files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from abovechance.core.csv_table import FLAG, CsvTable, Field, whole_number
from abovechance.core.errors import InputError, check_spelling
from abovechance.core.reading import number
from abovechance.pvi.pointwise import DECIMALS
from abovechance.pvi.runs import OTHERS, PVI_PROMPTS

NATS, BITS = "nats", "bits"
# Columns of a table of runs, as the authors of Lu et al. (2023) released one: {theirs: ours}.
RUNS = {
    "dataset": "task",
    "model": "model",
    "number_of_shots": "shots",
    "prompt_set": "prompt",
    "accuracy": "accuracy",
    "average_pvi_for_T": "pvi_correct",
    "average_pvi_for_F": "pvi_wrong",
    "accuracy_for_pvi<1/5quantile": "lowest_fifth",
    "accuracy_for_pvi>4/5quantile": "highest_fifth",
    "accuracy_for_pvi<1/2quantile": "lowest_half",
    "accuracy_for_pvi>1/2quantile": "highest_half",
}
NAMES = ("task", "model", "prompt")
# Of a table of examples, as the repository of Ethayarajh et al. (2022) writes one.
GIVEN, NULL = "H_yx", "H_yb"
PVI_COLUMNS, CORRECT_COLUMNS = ("PVI", "pvi"), ("correct_yx", "correct")  # the repository's name, and ours
CLUSTER = "cluster"  # of examples that belong together
WORDS = dict.fromkeys(("", "na", "nan", "none"), np.nan) | {"inf": np.inf, "+inf": np.inf, "-inf": -np.inf}
SAME = 0.01  # bits; files may be rounded


def is_runs(path: Path) -> bool:
    """Return whether a CSV is a table of runs; else it is one of examples, or none.

    Raises
    ------
    InputError
        If it is neither.
    """
    columns = {*CsvTable.read(path).texts}
    if {*RUNS} <= columns:
        return True
    if {GIVEN, NULL} <= columns or {*PVI_COLUMNS} & columns:
        return False
    lacks = sorted({*RUNS} - columns)
    raise InputError(
        f"{path}: is no table of PVI; expected one row a run, with the columns {', '.join(RUNS)} (it "
        f"lacks '{lacks[0]}'), or one row an example, with {NULL} and {GIVEN}, or {PVI_COLUMNS[0]}"
    )


def read_runs(path: Path, unit: str = NATS) -> pd.DataFrame:
    """Return a table of runs as the table ``pvi_prompts``, in bits.

    Runs of one model, data set, number of shots and exemplar set that differ in something else, and runs of
    other temperatures, are told apart by it, as if they were of other models. An infinite mean PVI, which an
    answer without probability makes, counts as missing.

    Parameters
    ----------
    unit
        Unit of the file's PVI: ``nats``, as in the released code, or ``bits``.

    Raises
    ------
    InputError
        With row and column of what is no number, or where two rows are of the same run.
    """
    csv = CsvTable(path, CsvTable.read(path).texts.map(str.strip).drop_duplicates())
    texts = csv.texts
    table = texts[[*RUNS]].rename(columns=RUNS)
    for name in table:
        if name not in (*NAMES, "shots"):
            key = next(key for key in RUNS if RUNS[key] == name)
            runs = _numbers(csv, key)
            if key.startswith("accuracy"):
                _check_range(csv, key, runs, 1.0)
            table[name] = runs.replace([np.inf, -np.inf], np.nan)
    table["model"] = _run_names(texts, path)
    table["shots"] = csv.values("number_of_shots", whole_number(0))
    scale = np.log(2) if unit == NATS else 1.0
    table[["pvi_correct", "pvi_wrong"]] /= scale
    shares = {"pvi_correct": table["accuracy"], "pvi_wrong": 1 - table["accuracy"]}
    # without such examples, their mean is missing and has no weight
    parts = sum((share * table[name]).where(share != 0, 0.0) for name, share in shares.items())
    size = _numbers(csv, "number_of_data") if "number_of_data" in texts else np.nan
    table = table.assign(information=parts, examples=size)
    return table.assign(**dict.fromkeys(OTHERS, np.nan))[[*PVI_PROMPTS.columns]].reset_index(drop=True)


def _run_names(texts: pd.DataFrame, path: Path) -> pd.Series[str]:
    """Return the models' names, with what else runs of the same model, data, shots and set differ in."""
    keys = ["dataset", "model", "number_of_shots", "prompt_set"]
    configuration = texts["model"]
    if "temperature" in texts and texts["temperature"].nunique() > 1:
        configuration = configuration.str.cat(texts["temperature"], sep=", temperature ")
    # what takes the fewest values is a choice that was made, and not a number that came out
    constant_columns = [
        name
        for name in texts.columns
        if name not in {*RUNS, "temperature", "experiment_id"} and texts[name].nunique() < len(texts)
    ]
    for name in sorted(constant_columns, key=lambda name: texts[name].nunique()):
        groups = texts.assign(told=configuration).groupby(["told", *keys], sort=False)[name]
        if (groups.transform("size") > 1).any() and (
            groups.transform("nunique") == groups.transform("size")
        ).all():
            configuration = configuration.str.cat(texts[name], sep=f", {name} ")
    if (twice := texts.assign(told=configuration).duplicated(["told", *keys])).any():
        place = texts.index[twice][0]
        raise InputError(
            f"{path}, row {place}: is a second run of {', '.join(str(texts.at[place, key]) for key in keys)} "
            f"({', '.join(keys)}); expected one"
        )
    return configuration


def read_examples(path: Path, unit: str = BITS) -> pd.DataFrame:
    """Return a table of examples, in bits.

    Parameters
    ----------
    unit
        Unit of the file's numbers: ``bits``, as in the repository of Ethayarajh et al., or ``nats``.

    Returns
    -------
    DataFrame
        The file's own columns, those of PVI in bits and others as texts, with ``pvi``, and ``correct`` where
        the file has it as ``correct_yx`` or ``correct``.

    Raises
    ------
    InputError
        With row and column of what is no number, or where PVI is not the difference of the two others, or
        if a column is there under two names, or rows of one ``example`` have no ``cluster``.
    """
    csv = CsvTable.read(path)
    texts = csv.texts
    check_spelling([*texts], (CLUSTER,), f"{path}: column")
    if "example" in texts:
        csv = csv.with_names("example")
        if CLUSTER not in texts:
            csv.check_unique("example")
    pvi_name, flags_name = (_name(texts, names, path) for names in (PVI_COLUMNS, CORRECT_COLUMNS))
    scale = np.log(2) if unit == NATS else 1.0
    numbers = {name: _numbers(csv, name) / scale for name in (NULL, GIVEN, pvi_name) if name in texts}
    has_both = {NULL, GIVEN} <= {*numbers}
    pvi = (numbers[NULL] - numbers[GIVEN]).round(DECIMALS) if has_both else numbers[pvi_name]
    if (missing := pvi.isna()).any():
        raise InputError(f"{path}, row {texts.index[missing][0]}: has no PVI; expected a number")
    for name in {NULL, GIVEN} & {*numbers}:
        _check_range(csv, name, numbers[name])
    # each of the three by half a digit
    rounded = max(SAME, (1.5 + 1e-9) * _last_digit(texts, [*numbers]) / scale)
    with np.errstate(invalid="ignore"):
        disagrees = (numbers.get(pvi_name, pvi) - pvi).abs() > rounded
    if disagrees.any():
        place = texts.index[disagrees][0]
        raise InputError(
            f"{path}, row {place}: {pvi_name} is {texts.at[place, pvi_name]!s}, and {NULL} - {GIVEN} is "
            f"{pvi[place] * scale:.4g}; expected the same"
        )
    table = csv.with_names(CLUSTER).texts.assign(**numbers | {"pvi": pvi})
    if flags_name in texts:
        flags = csv.values(flags_name, FLAG)
        table["correct"] = flags
    return table


def _name(texts: pd.DataFrame, names: tuple[str, str], path: Path) -> str:
    """Return which of two names a column has, the first one if it is not there."""
    if {*names} <= {*texts}:
        raise InputError(f"{path}: has the columns '{names[0]}' and '{names[1]}'; expected one of them")
    return names[names[1] in texts]


def _check_range(csv: CsvTable, column: str, values: pd.Series[float], highest: float = np.inf) -> None:
    """Raise InputError where a number is below 0, or above the most that it can be."""
    if (wrong := (values < 0) | (values > highest)).any():
        row = values.index[wrong][0]
        expected = f"between 0 and {highest:g}" if np.isfinite(highest) else "at least 0"
        raise InputError(f"{csv.place(row)}: {column} is {values[row]:g}; expected {expected}")


def _last_digit(texts: pd.DataFrame, columns: list[str]) -> float:
    """Return the value of the last written digit, in the column with the fewest digits behind the point.

    A column of whole numbers next to others is exact.
    """
    digits = [
        texts[name].str.strip().str.extract(r"\.(\d+)\Z")[0].str.len().fillna(0).max() for name in columns
    ]
    return float(10.0 ** -min(filter(None, digits), default=0))


def _numbers(csv: CsvTable, column: str) -> pd.Series[float]:
    """Return a column as numbers, infinite ones too; missing where it is blank or says that there is none."""
    return pd.Series(csv.values(column, INFORMATION), csv.texts.index)


def _information(text: str) -> float | None:
    return WORDS[text.lower()] if text.lower() in WORDS else number(text)


INFORMATION = Field(_information, "a number")
