"""The command ``check``: is the best score of each setting better than chance?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import pandas as pd
import typer

from abovechance.chance import published_scores
from abovechance.chance.baselines import expected_columns
from abovechance.chance.planning import examples_for_power
from abovechance.chance.study import RANDOMIZED, VERDICTS, Verdicts, judge
from abovechance.cli.app import app, example_lines
from abovechance.cli.inputs import given_paths, imported_of
from abovechance.cli.options import (
    NO_RESULTS,
    All,
    BestOfPrompts,
    Chance,
    EachFile,
    Epoch,
    Example,
    Filter,
    Json,
    Metric,
    OneChoice,
    Results,
    refuse,
    stated_chance,
)
from abovechance.cli.output import show, tell_note
from abovechance.cli.reports import (
    Case,
    Junit,
    Summary,
    append_summary,
    check_reports,
    exit_statuses,
    write_junit,
)
from abovechance.cli.screen import print_text
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.settings import SETTING, Setting, by_setting
from abovechance.core.tables import read_table
from abovechance.core.untrusted import printable
from abovechance.core.words import counted
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.results.imported import imported_tasks

if TYPE_CHECKING:
    from abovechance.importers import Options


GATE_STATUS = {"yes": 0, "no": 1, "unclear": 2}
STUDY_VERDICTS = Path("tables", "verdicts.parquet")
# Columns that people see with --json alone.
FOR_PROGRAMS = ["by_tail", "holm_tail", "guessing_above", "reason"]
MOST_ROWS = 20
COLUMNS = {**VERDICTS.columns, **published_scores.LUCK} | {
    "best_prompt_name": Column.text("name of the best prompt, in files of other tools")
}
# the most telling first
ORDER = [
    "source",
    "task",
    "model",
    "shots",
    "metric",
    "best_accuracy",
    "maximum_baseline",
    "better_than_chance",
    *published_scores.LUCK,
]
ORDER += ["bh_tail", "maximum_tail", *expected_columns(), "standard_tail", "position", "prompts", "examples"]
FOR_PROGRAMS += [name for name in RANDOMIZED if name != "randomization_bh_tail"]


@app.command(
    epilog=example_lines(
        "abovechance check scores.csv",
        "abovechance check samples_arc_2026-01-01T00-00-00.jsonl --prompts 20",
        "abovechance check helm_runs/",
        "abovechance check logs/ --each-file",
    )
)
def check(
    results: Results = NO_RESULTS,
    _example: Example = False,
    prompts: BestOfPrompts = None,
    each_file: EachFile = False,
    chance: Chance = None,
    choices: OneChoice = None,
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="Exit with status 1 if a score is not better than chance, 2 if it is unclear, 3 for errors.",
        ),
    ] = False,
    exit_: Annotated[
        list[str] | None,
        typer.Option(
            "--exit",
            metavar="CONCLUSION=STATUS",
            help="Exit status of a conclusion of --gate, such as unclear=0.",
            show_default=False,
        ),
    ] = None,
    junit: Junit = None,
    summary: Summary = None,
    show_all: All = False,
    as_json: Json = False,
) -> None:
    """Test whether best scores are better than chance.

    RESULTS can be a study's folder, logs of other tools (lm-evaluation-harness, HELM, lighteval, inspect,
    Every Eval Ever), or the release of Yauney and Mimno (2024). It can also be a CSV with one row per prompt
    and example, or with one row per best score (columns best_accuracy, examples, choices or chance, and
    prompts). If this CSV has the column mean_accuracy or second_accuracy, the output states how much of the
    lead over the mean or the second-best score luck explains. --json has more columns, such as p-values with
    other corrections.
    """
    statuses = exit_statuses(GATE_STATUS, exit_ or [])
    junit_path, summary_path = check_reports(junit, summary, results)
    if not gate:
        refuse({"--exit": exit_, "--junit": junit, "--summary": summary}, "without --gate")
    paths = given_paths(results)
    from abovechance.importers import Options

    reading = Options(
        chance=stated_chance(chance, choices),
        of_one_guess=choices is not None,
        metric=metric,
        filter=filter_,
        epoch=epoch,
        each_file=each_file,
        prompts=prompts,
        complete=gate,
    )
    options = reading.by_name | {"--prompts": prompts, "--chance": chance, "--choices": choices}
    judged = _verdicts(paths, options, reading)
    cases = _cases(judged.table) if gate else []
    if as_json:
        show(judged.table, as_json, columns=COLUMNS)
    else:
        most_rows = None if show_all else MOST_ROWS
        _print(judged, most_rows)
        if gate:
            details = [f"{case.name}: {case.text}." for case in cases if case.outcome != "passed"]
        else:  # a single score has its reason in the sentences
            details = _unclear(judged.table)[:most_rows] if len(judged.table) > 1 else []
        if details:
            print_text("\n".join(["", *details]))
    if junit_path:
        write_junit(junit_path, "abovechance check", cases)
    if summary_path:
        table = judged.table[[name for name in dict.fromkeys(ORDER) if name in judged.table]]
        notes = [f"Note: {note}." for note in _notes(judged.table, MOST_ROWS)]
        text = " ".join([*judged.sentences, *notes])
        append_summary(summary_path, "abovechance check", text, table, COLUMNS)
    if gate:
        raise typer.Exit(_status(judged.table, statuses))


def _print(judged: Verdicts, most_rows: int | None) -> None:
    """Print the conclusions, notes, and the columns that people read."""
    print_text(" ".join(judged.sentences) + "\n")
    for note in _notes(judged.table, most_rows):
        tell_note(note)
    unused = [*FOR_PROGRAMS, "note"]
    if len(judged.table) == 1:
        unused.append("bh_tail")
    if "best_prompt_name" in judged.table:
        unused.append("best_prompt")
    table = judged.table.drop(columns=unused, errors="ignore").sort_values("maximum_tail", kind="stable")
    show(table, as_json=False, columns=COLUMNS, most_rows=most_rows, order=ORDER)


def _verdicts(paths: list[Path], given_options: Mapping[str, object], reading: Options) -> Verdicts:
    """Return the verdicts on a study, on tables of best scores, or on other tools' results.

    Parameters
    ----------
    given_options
        {option: its value}, which only other tools' results can have.
    reading
        The options for reading other tools' results.
    """
    if studies := [*filter(_is_study, paths)]:
        refuse(given_options, "with a study's folder, because its stored verdicts are shown")
        if len(paths) > 1:
            raise InputError(f"{studies[0]}: is a study's folder; check it by itself")
        return _of_study(studies[0])
    if tables := list(filter(published_scores.is_score_table, paths)):
        if len(tables) < len(paths):
            raise InputError(f"{tables[0]}: is a table of best scores; check it by itself")
        scores = pd.concat(map(published_scores.read_scores, paths), ignore_index=True)
        refuse(given_options, "with a table of best scores, because its columns contain this information")
        if repeated := published_scores.repeated(scores):
            tell_note(
                f"{counted(repeated, 'row')} with the same source, task and model as an earlier row; "
                "expected one row per best score, with the number of prompts tried in the column prompts"
            )
        if note := published_scores.completed(scores):
            tell_note(note)
        return published_scores.judge_scores(scores)
    return _judged(paths, reading)


def _status(table: pd.DataFrame, statuses: Mapping[str, int]) -> int:
    """Return the exit status of a gate: *no* decides if any score has it, then *unclear*."""
    conclusions = {*table["better_than_chance"].fillna("unclear")}
    return statuses[next((name for name in ("no", "unclear") if name in conclusions), "yes")]


def _cases(table: pd.DataFrame) -> list[Case]:
    """Return a test case for each score."""
    outcomes: dict[str, Literal["passed", "failed", "skipped"]] = {"yes": "passed", "no": "failed"}
    cases = []
    for row, name in zip(table.to_dict("records"), _names(table), strict=True):
        if pd.isna(row["better_than_chance"]):
            cases.append(Case(name, "skipped", "no prompt was evaluated"))
            continue
        conclusion = str(row["better_than_chance"])
        text = f"better than chance: {conclusion} (best accuracy {row['best_accuracy']:.4f}; {row['reason']})"
        accuracy, chance = float(row["best_accuracy"]), float(row["standard_baseline"])
        if conclusion == "no" and accuracy > chance and len(table) == 1:  # several are tested together
            with suppress(ValueError):  # more examples than can be computed
                needed = examples_for_power(chance, accuracy, int(row["prompts"]))
                if needed > row["examples"]:  # else the examples are not what is missing
                    text += (
                        f"; if {accuracy:.4f} is the true accuracy, about {needed:,} examples would show it "
                        "with a probability of 80%"
                    )
        cases.append(Case(name, outcomes.get(conclusion, "skipped"), text))
    return cases


def _names(table: pd.DataFrame) -> list[str]:
    """Return the name of each score."""
    columns = [name for name in ("source", *SETTING) if name in table]
    names = []
    for row in table.to_dict("records"):
        parts = [
            f"{row[column]}-shot" if column == "shots" else str(row[column])
            for column in columns
            if pd.notna(row[column])
        ]
        unnamed = "the score" if len(table) == 1 else f"the score {row['best_accuracy']:g}"
        names.append(printable(", ".join(filter(None, parts))) or unnamed)
    return names


def _notes(table: pd.DataFrame, most_rows: int | None) -> list[str]:
    """Return a note for each score of which rounding leaves something open, in the order of the screen."""
    ordered = table.sort_values("maximum_tail", kind="stable")
    notes = [
        f"{name}: {note}"
        for name, note in zip(_names(ordered), ordered.get("note", []), strict=False)
        if note
    ]
    hidden = len(notes) - len(notes[:most_rows])
    return notes[:most_rows] + ([f"{hidden} more scores have such notes: --all"] if hidden else [])


def _unclear(table: pd.DataFrame) -> list[str]:
    """Return the reason for each unclear conclusion."""
    is_unclear = (table["better_than_chance"] == "unclear").tolist()
    return [f"{case.name}: {case.text}." for case in compress(_cases(table), is_unclear)]


def _is_study(path: Path) -> bool:
    started = (path / "config.yaml").is_file() and (path / "logs").is_dir()
    return started or (path / STUDY_VERDICTS).is_file()


def _of_study(folder: Path) -> Verdicts:
    """The verdicts that a study has stored."""
    path = folder / STUDY_VERDICTS
    if not path.is_file():
        raise InputError(
            f"{folder}: is a study without verdicts ({path} is missing); run it to the end first"
        )
    table = read_table(path)
    needed = {name for name, column in VERDICTS.columns.items() if not column.optional}
    if not needed <= {*table} or table.empty:
        raise InputError(f"{path}: is no table of verdicts; delete it and run the study again")
    if _is_outdated(table, folder / "accuracy", path.stat().st_mtime):
        tell_note("these verdicts are of an earlier run: newer results exist; run the study to the end again")
    if (left_out := int(table["left_out"].sum()) if "left_out" in table else 0) > 0:
        tell_note(
            f"left out because they are longer than the model's context: {counted(left_out, 'prompt')}; "
            f"without a remaining prompt: {counted(int(table['better_than_chance'].isna().sum()), 'setting')}"
        )
    return Verdicts(table)


def _is_outdated(verdicts: pd.DataFrame, folder: Path, written: float) -> bool:
    """Return whether newer accuracies in a study's folder are not those that verdicts are of."""
    files = sorted(folder.glob("*.parquet"))
    if not any(file.stat().st_mtime > written for file in files):
        return False
    present = judge(pd.concat(map(read_table, files), ignore_index=True)).table
    columns = [*SETTING, "prompts", "best_prompt", "best_accuracy", "examples"]
    rows = [
        table.loc[table["best_prompt"].notna(), columns].astype(dict.fromkeys(SETTING, str))
        for table in (verdicts, present)
    ]
    first, second = (table.sort_values([*SETTING]).to_numpy().tolist() for table in rows)
    return bool(first != second)


def _judged(paths: list[Path], options: Options) -> Verdicts:
    """Return the verdicts on other tools' results."""
    imported, metrics, names = imported_of(paths, options)
    accuracy = pd.concat([accuracy_by_prompt(rows) for _, rows in by_setting(imported)], ignore_index=True)
    prompts_in = {setting: len(rows) for setting, rows in by_setting(accuracy)}
    largest = max(prompts_in, key=lambda setting: prompts_in[setting])
    if options.prompts is not None and options.prompts < prompts_in[largest]:
        raise InputError(
            f"--prompts is {options.prompts}, but the results have {prompts_in[largest]} prompts of "
            f"{largest.words}; expected at least as many (check results with different numbers separately)"
        )
    climbed = None
    # else the answers of some prompts are unknown
    if options.prompts is None or {*prompts_in.values()} == {options.prompts}:
        from abovechance.ladder.study import for_verdicts, ladders

        tasks = imported_tasks(rows for _, rows in by_setting(imported))
        climbed = for_verdicts(ladders([rows for _, rows in by_setting(imported)], tasks, {}, seed=0))
    judged = judge(accuracy, climbed=climbed, prompts_tried=options.prompts, metrics=metrics)
    return replace(judged, table=_with_names(judged.table, names))


def _with_names(table: pd.DataFrame, names: Mapping[Setting, Sequence[str]]) -> pd.DataFrame:
    """Return verdicts with the names of the best prompts, if a setting has several prompts."""
    if max(map(len, names.values())) == 1:
        return table
    settings = map(Setting._make, table[SETTING].itertuples(index=False))
    best_names = [
        names[setting][number] for setting, number in zip(settings, table["best_prompt"], strict=True)
    ]
    result = table.copy()
    result.insert([*table].index("best_prompt") + 1, "best_prompt_name", best_names)
    return result
