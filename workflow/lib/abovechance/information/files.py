"""PVI that others computed: tables of runs, and of examples, as CSV files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.reading import number, read_csv_texts
from abovechance.information.runs import OTHERS, PVI_PROMPTS

NATS, BITS = "nats", "bits"
# Columns of a table of runs, as the authors of Lu et al. (2023) released one: {theirs: ours}.
RUNS = {
    "dataset": "task",
    "model": "model",
    "number_of_shots": "shots",
    "prompt_set": "prompt",
    "accuracy": "accuracy",
    "average_pvi_for_T": "right",
    "average_pvi_for_F": "wrong",
    "accuracy_for_pvi<1/5quantile": "lowest_fifth",
    "accuracy_for_pvi>4/5quantile": "highest_fifth",
    "accuracy_for_pvi<1/2quantile": "lowest_half",
    "accuracy_for_pvi>1/2quantile": "highest_half",
}
NAMES = ("task", "model", "prompt")
# Of a table of examples, as the repository of Ethayarajh et al. (2022) writes one.
GIVEN, NULL, OWN, RIGHT = "H_yx", "H_yb", "PVI", "correct_yx"
SAME = 0.01  # bits; files may be rounded


def is_runs(path: Path) -> bool:
    """Whether a CSV is a table of runs; else it is one of examples, or none.

    Raises
    ------
    InputError
        If it is neither.
    """
    columns = set(read_csv_texts(path).columns)
    if {*RUNS} <= columns:
        return True
    if {GIVEN, NULL} <= columns or OWN in columns:
        return False
    lacks = sorted({*RUNS} - columns)
    raise InputError(
        f"{path}: is no table of PVI; right would be one row a run, with the columns {', '.join(RUNS)} (it "
        f"lacks '{lacks[0]}'), or one row an example, with {NULL} and {GIVEN}, or {OWN}"
    )


def read_runs(path: Path, unit: str = NATS) -> pd.DataFrame:
    """A table of runs as the table ``pvi_prompts``, in bits.

    Runs of one model, data set, number of shots and exemplar set that differ in something else, such as the
    temperature, are told apart by it, as if they were of other models.

    Parameters
    ----------
    unit
        Of the file's PVI: ``nats``, as the released code has it, or ``bits``.

    Raises
    ------
    InputError
        With row and column of what is no number, or where two rows are of the same run.
    """
    texts = read_csv_texts(path)
    table = texts[[*RUNS]].rename(columns=RUNS)
    for name in table:
        if name not in NAMES:
            table[name] = _numbers(texts, next(key for key in RUNS if RUNS[key] == name), path)
    table["model"] = _told_apart(texts, path)
    wrong = table["shots"].isna() | (table["shots"] % 1 != 0) | (table["shots"] < 0)
    if wrong.any():
        place = table.index[wrong][0]
        raise InputError(f"{path}, row {place}: column 'number_of_shots' is no whole number")
    scale = np.log(2) if unit == NATS else 1.0
    table[["right", "wrong"]] /= scale
    parts = table["accuracy"] * table["right"].fillna(0) + (1 - table["accuracy"]) * table["wrong"].fillna(0)
    size = _numbers(texts, "number_of_data", path) if "number_of_data" in texts else np.nan
    table = table.assign(shots=table["shots"].astype(int), information=parts, examples=size)
    return table.assign(**dict.fromkeys(OTHERS, np.nan))[[*PVI_PROMPTS.columns]].reset_index(drop=True)


def _told_apart(texts: pd.DataFrame, path: Path) -> pd.Series[str]:
    """The models' names, with what else runs of the same model, data, shots and set differ in."""
    keys = ["dataset", "model", "number_of_shots", "prompt_set"]
    told = texts["model"]
    measured = {*RUNS, "number_of_data", "experiment_id"} - {*keys}
    for name in [column for column in texts.columns if column not in measured and column not in keys]:
        same = texts.assign(told=told).duplicated(["told", *keys], keep=False)
        if same.any() and texts.loc[same, name].nunique() > 1:
            told = told.str.cat(texts[name], sep=f", {name} ")
    if (twice := texts.assign(told=told).duplicated(["told", *keys])).any():
        place = texts.index[twice][0]
        raise InputError(
            f"{path}, row {place}: is a second run of {', '.join(str(texts.at[place, key]) for key in keys)} "
            f"({', '.join(keys)}); right would be one"
        )
    return told


def read_examples(path: Path, unit: str = BITS) -> pd.DataFrame:
    """A table of examples, in bits.

    Parameters
    ----------
    unit
        Of the file's numbers: ``bits``, as the repository of Ethayarajh et al. has it, or ``nats``.

    Returns
    -------
    DataFrame
        The file's own columns as texts, with ``pvi``, and ``correct`` where the file says it.

    Raises
    ------
    InputError
        With row and column of what is no number, or where PVI is not the difference of the two others.
    """
    texts = read_csv_texts(path)
    scale = np.log(2) if unit == NATS else 1.0
    found = {name: _numbers(texts, name, path) / scale for name in (NULL, GIVEN, OWN) if name in texts}
    pvi = found[NULL] - found[GIVEN] if {NULL, GIVEN} <= {*found} else found[OWN]
    if (missing := pvi.isna()).any():
        raise InputError(f"{path}, row {texts.index[missing][0]}: has no PVI; right would be a number")
    if OWN in found and (other := (found[OWN] - pvi).abs() > SAME).any():
        place = texts.index[other][0]
        raise InputError(
            f"{path}, row {place}: {OWN} is {texts.at[place, OWN]!s}, and {NULL} - {GIVEN} is "
            f"{pvi[place] * scale:.4g}; right would be the same"
        )
    table = texts.assign(pvi=pvi)
    return table.assign(correct=_flags(texts, path)) if RIGHT in texts else table


def _flags(texts: pd.DataFrame, path: Path) -> pd.Series[bool]:
    known = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
    flags = texts[RIGHT].str.strip().str.lower().map(known)
    if (strange := flags.isna()).any():
        place = texts.index[strange][0]
        told = f"column '{RIGHT}' is {str(texts.at[place, RIGHT])!r}"
        raise InputError(f"{path}, row {place}: {told}; right would be True or False")
    return flags.astype(bool)


def _numbers(texts: pd.DataFrame, name: str, path: Path) -> pd.Series[float]:
    """A column as numbers; blank ones and those that say that there is none are missing."""
    found = []
    for place, text in texts[name].items():
        plain = str(text).strip()
        value = np.nan if plain.lower() in ("", "na", "nan", "none") else number(plain)
        if value is None:
            raise InputError(f"{path}, row {place}: column '{name}' is '{plain}'; right would be a number")
        found.append(float(value))
    return pd.Series(found, texts.index)
