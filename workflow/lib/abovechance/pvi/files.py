"""PVI that others computed: tables of runs, and of examples, as CSV files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.reading import number, read_csv_texts
from abovechance.pvi.runs import OTHERS, PVI_PROMPTS

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
WORDS = dict.fromkeys(("", "na", "nan", "none"), np.nan) | {"inf": np.inf, "+inf": np.inf, "-inf": -np.inf}
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
        f"{path}: is no table of PVI; expected one row a run, with the columns {', '.join(RUNS)} (it "
        f"lacks '{lacks[0]}'), or one row an example, with {NULL} and {GIVEN}, or {OWN}"
    )


def read_runs(path: Path, unit: str = NATS) -> pd.DataFrame:
    """A table of runs as the table ``pvi_prompts``, in bits.

    Runs of one model, data set, number of shots and exemplar set that differ in something else, and runs of
    other temperatures, are told apart by it, as if they were of other models. An infinite mean PVI, which an
    answer without probability makes, counts as missing.

    Parameters
    ----------
    unit
        Of the file's PVI: ``nats``, as the released code has it, or ``bits``.

    Raises
    ------
    InputError
        With row and column of what is no number, or where two rows are of the same run.
    """
    texts = read_csv_texts(path).map(str.strip).drop_duplicates()
    table = texts[[*RUNS]].rename(columns=RUNS)
    for name in table:
        if name not in NAMES:
            key = next(key for key in RUNS if RUNS[key] == name)
            found = _numbers(texts, key, path)
            if key.startswith("accuracy"):
                _check_range(found, key, path, 1.0)
            table[name] = found.replace([np.inf, -np.inf], np.nan)
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
    if "temperature" in texts and texts["temperature"].nunique() > 1:
        told = told.str.cat(texts["temperature"], sep=", temperature ")
    # what takes the fewest values is a choice that was made, and not a number that came out
    others = [
        name
        for name in texts.columns
        if name not in {*RUNS, "temperature", "experiment_id"} and texts[name].nunique() < len(texts)
    ]
    for name in sorted(others, key=lambda name: texts[name].nunique()):
        groups = texts.assign(told=told).groupby(["told", *keys], sort=False)[name]
        if (groups.transform("size") > 1).any() and (
            groups.transform("nunique") == groups.transform("size")
        ).all():
            told = told.str.cat(texts[name], sep=f", {name} ")
    if (twice := texts.assign(told=told).duplicated(["told", *keys])).any():
        place = texts.index[twice][0]
        raise InputError(
            f"{path}, row {place}: is a second run of {', '.join(str(texts.at[place, key]) for key in keys)} "
            f"({', '.join(keys)}); expected one"
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
        The file's own columns, those of PVI in bits and others as texts, with ``pvi``, and ``correct`` where
        the file says it.

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
        raise InputError(f"{path}, row {texts.index[missing][0]}: has no PVI; expected a number")
    for name in {NULL, GIVEN} & {*found}:
        _check_range(found[name], name, path)
    rounded = max(SAME, 2 * _last_digit(texts, [*found]) / scale)
    with np.errstate(invalid="ignore"):
        other = (found.get(OWN, pvi) - pvi).abs() > rounded
    if other.any():
        place = texts.index[other][0]
        raise InputError(
            f"{path}, row {place}: {OWN} is {texts.at[place, OWN]!s}, and {NULL} - {GIVEN} is "
            f"{pvi[place] * scale:.4g}; expected the same"
        )
    table = texts.assign(**found, pvi=pvi)
    return table.assign(correct=_flags(texts, path)) if RIGHT in texts else table


def _check_range(values: pd.Series[float], name: str, path: Path, most: float = np.inf) -> None:
    """Raise InputError where a number is below 0, or above the most that it can be."""
    if (wrong := (values < 0) | (values > most)).any():
        place = values.index[wrong][0]
        right = f"between 0 and {most:g}" if np.isfinite(most) else "at least 0"
        raise InputError(f"{path}, row {place}: column '{name}' is {values[place]:g}; expected {right}")


def _last_digit(texts: pd.DataFrame, columns: list[str]) -> float:
    """What the last digit that is written is worth, in the column with the fewest digits."""
    digits = [
        texts[name].str.strip().str.extract(r"\.(\d+)\Z")[0].str.len().fillna(0).max() for name in columns
    ]
    return float(10.0 ** -min(digits))


def _flags(texts: pd.DataFrame, path: Path) -> pd.Series[bool]:
    known = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
    flags = texts[RIGHT].str.strip().str.lower().map(known)
    if (strange := flags.isna()).any():
        place = texts.index[strange][0]
        told = f"column '{RIGHT}' is {str(texts.at[place, RIGHT])!r}"
        raise InputError(f"{path}, row {place}: {told}; expected True or False")
    return flags.astype(bool)


def _numbers(texts: pd.DataFrame, name: str, path: Path) -> pd.Series[float]:
    """A column as numbers, infinite ones too; missing where it is blank or says that there is none."""
    found = []
    for place, text in texts[name].items():
        plain = str(text).strip()
        value = WORDS[plain.lower()] if plain.lower() in WORDS else number(plain)
        if value is None:
            raise InputError(f"{path}, row {place}: column '{name}' is '{plain}'; expected a number")
        found.append(float(value))
    return pd.Series(found, texts.index)
