"""Runs become one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from abovechance.chance.verdicts import is_uneven
from abovechance.core.errors import InputError
from abovechance.core.settings import Setting, by_setting
from abovechance.core.words import natural_key
from abovechance.importers.contract import Options, Run
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.results.imported import as_imported


def combine(runs: Sequence[Run], options: Options) -> pd.DataFrame:
    """Return the table ``imported`` of all runs, one setting after another.

    Raises
    ------
    InputError
        If the number of prompts or the chance of a lucky guess is not known, with the option
        that would tell it; or if an example stands twice in a run.
    """
    if options.chance is not None and not any(run.rows["chance"].isna().any() for run in runs):
        raise InputError(
            f"{runs[0].file}: contains the number of choices of its examples; leave out --chance and "
            "--choices"
        )
    tables = {
        setting: [_checked(run, group, options) for run in group] for setting, group in _grouped(runs).items()
    }
    names = prompt_names(runs, options)
    return pd.concat(
        [_one_setting(group, tables[setting], names[setting]) for setting, group in _grouped(runs).items()],
        ignore_index=True,
    )


def prompt_names(runs: Sequence[Run], options: Options) -> dict[Setting, list[str]]:
    """Return the names of the prompts of each setting's task, in the order of their numbers in ``combine``.

    All models on a task with a number of shots share these, so that the same number is the same prompt. A
    setting need not have all of them.
    """
    labels: dict[tuple[str, int], set[str]] = {}
    groups = _grouped(runs)
    for setting, group in groups.items():
        of_task = labels.setdefault((setting.task, setting.shots), set())
        of_task.update(label for run in group for label in _labels(run, group, options))
    ordered = {place: sorted(of_task, key=natural_key) for place, of_task in labels.items()}
    return {setting: ordered[setting.task, setting.shots] for setting in groups}


def _grouped(runs: Sequence[Run]) -> dict[Setting, list[Run]]:
    groups: dict[Setting, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.setting, []).append(run)
    return groups


def _labels(run: Run, runs: list[Run], options: Options) -> list[str]:
    """Return the names of a run's prompts."""
    return run.rows["prompt"].unique().tolist() if "prompt" in run.rows else [_label(run, runs, options)]


def metrics(runs: Sequence[Run]) -> dict[Setting, str]:
    """Return the metric of each setting; InputError if the runs of a setting have different ones."""
    by_setting: dict[Setting, Run] = {}
    for run in runs:
        first = by_setting.setdefault(run.setting, run)
        if run.metric != first.metric:
            raise InputError(
                f"{run.file}: its metric is {run.metric}, and that of {first.file} is {first.metric}; "
                f"expected one metric for all prompts of {run.setting.words} (--metric)"
            )
    return {setting: run.metric for setting, run in by_setting.items()}


def uneven_notes(table: pd.DataFrame, names: Mapping[Setting, Sequence[str]]) -> list[str]:
    """Return a note about settings whose prompts are evaluated on different examples.

    Examples are not different if each prompt lacks just its own demonstrations.

    Parameters
    ----------
    table
        From ``combine``.
    names
        From ``prompt_names``.
    """
    notes = []
    for setting, rows in by_setting(table):
        examples = rows["example"].nunique()
        sizes = rows.groupby("prompt").size()
        lacks_own_demonstrations = sizes.min() == sizes.max() >= examples - setting.shots
        if sizes.min() < examples and not lacks_own_demonstrations:
            standardized = is_uneven(accuracy_by_prompt(rows))
            score = (
                "standardized scores, (correct - mean) / deviation of a guesser"
                if standardized
                else "accuracies"
            )
            fewest = names[setting][int(str(sizes.idxmin()))]
            numbers = f"each on {sizes.min()} of {examples}"
            if sizes.min() < sizes.max():
                numbers = f"{sizes.min()} to {sizes.max()} of {examples}, the fewest by prompt '{fewest}'"
            notes.append(
                f"{setting.words}: its prompts are evaluated on different examples, {numbers}; the verdict "
                f"compares their {score}"
            )
    return notes


def _one_setting(runs: list[Run], tables: list[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    homes: dict[str, str] = {}
    for run, table in zip(runs, tables, strict=True):
        for label in table["prompt"].unique():
            if label in homes:
                raise InputError(f"prompt '{label}' stands in two runs: {homes[label]} and {run.file}")
            homes[label] = run.file
    numbers = {label: number for number, label in enumerate(names)}
    table = pd.concat(tables, ignore_index=True)
    table["prompt"] = table["prompt"].map(numbers)
    table = table.sort_values("prompt", kind="stable", ignore_index=True)
    differs = table.groupby("example")["chance"].agg(lambda chance: chance.max() - chance.min() > 1e-9)
    if differs.any():
        raise InputError(
            f"{runs[0].file}: example '{differs.index[differs][0]}' has different numbers of choices under "
            f"different prompts of {runs[0].setting.words}"
        )
    return as_imported(runs[0].setting.label(table))


def _checked(run: Run, runs: list[Run], options: Options) -> pd.DataFrame:
    """Return a run's rows with names of prompts and known chances."""
    rows = run.rows
    if rows.empty:
        raise InputError(f"{run.file}: has no results of {run.model} on {run.task} that can be used")
    if "prompt" not in rows:
        if (repeated := rows["example"].duplicated()).any():
            example = rows["example"][repeated].iloc[0]
            raise InputError(
                f"{run.file}: example '{example}' has two rows, and nothing says of which prompt each is "
                "(in a CSV, the column prompt); expected one row for each prompt"
            )
        rows = rows.assign(prompt=_label(run, runs, options))
    if (repeated := rows.duplicated(["prompt", "example"])).any():
        prompt, example = rows.loc[repeated, ["prompt", "example"]].iloc[0]
        name = "" if prompt == run.file else f", '{prompt}'"
        raise InputError(f"{run.file}: example '{example}' has two rows under one prompt{name}; expected one")
    chance = None if options.of_one_guess and run.accepts_several else options.chance
    if rows["chance"].isna().any() and chance is None:
        name = run.metric_name or run.metric
        advice = (
            f"{name} accepts several guesses; use --chance with the probability that one of them is correct, "
            "such as --chance 0.5 for two guesses among four choices (--choices is of one guess)"
            if run.accepts_several
            else "use --choices 4 if one of four choices is correct, --chance 0.1, or --chance 0 if answers "
            "are free text"
        )
        raise InputError(f"{run.file}: does not say how probable it is to guess an example; {advice}")
    return rows if chance is None else rows.assign(chance=rows["chance"].fillna(chance))


def _label(run: Run, runs: list[Run], options: Options) -> str:
    """Return the name of a run's one prompt; InputError unless the user marked it as one of several."""
    if options.each_file or (options.prompts is not None and len(runs) == 1):
        return run.file
    words = run.setting.words
    if len(runs) > 1:
        raise InputError(
            f"{run.file}: {len(runs)} runs of {words}, and nothing says whether they are different prompts; "
            "add --each-file if each is another prompt, or name only the run that counts"
        )
    if options.command != "check":  # a study takes all prompts, and not the best of them alone
        raise InputError(
            f"{run.file}: does not say which prompts were tried for {words}; expected the runs of all "
            "of them, each a file, and --each-file (also for a single prompt)"
        )
    raise InputError(
        f"{run.file}: does not say how many prompts were tried for {words}; add --prompts 1 if it is the "
        "only one, --prompts 20 if it is the best of 20, or --each-file with the runs of all of them"
    )
