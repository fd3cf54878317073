"""The command about differences between models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from abovechance.chance.multiplicity import adjusted_together
from abovechance.cli.app import app, example_lines
from abovechance.cli.inputs import (
    clusters_of_studies,
    different_metrics,
    given_paths,
    notes_of,
    predictions_of,
    responses_of_runs,
    runs_of,
)
from abovechance.cli.options import (
    NO_RESULTS,
    All,
    Confidence,
    EachFile,
    Epoch,
    Example,
    FigureFile,
    Filter,
    Json,
    Metric,
    Results,
    refuse,
)
from abovechance.cli.output import as_rows, show, show_json, tell_note, write_figure
from abovechance.cli.screen import print_text
from abovechance.compare import leaderboard, many
from abovechance.compare.comparison import (
    PAIR,
    MeanComparison,
    TaskComparison,
    TwoModelComparison,
    compare_models,
    inference,
)
from abovechance.compare.responses import Responses, TooFewInCommon, arrange
from abovechance.compare.sentences import about_first
from abovechance.compare.study import as_trainings
from abovechance.compare.two_models import POWER
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE
from abovechance.core.reading import read_yaml
from abovechance.core.words import counted, joined
from abovechance.study.series import compared_as, members

if TYPE_CHECKING:
    from abovechance.importers import Options

ONE_MODEL = "left out, because only one model has results: "


@app.command(
    epilog=example_lines(
        "abovechance compare a.eval b.eval",
        "abovechance compare results/default",
        "abovechance compare leaderboard.csv",
        "abovechance compare logs/a logs/b --seed-deviation 0.012",
    )
)
def compare(
    results: Results = NO_RESULTS,
    _example: Example = False,
    seed_deviation: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Known standard deviation of a score over training seeds; differences are compared with it.",
        ),
    ] = None,
    confidence: Confidence = CONFIDENCE,
    power: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=0.9999,
            help=f"Power at which a difference of two models counts as detectable.  [default: {POWER}]",
        ),
    ] = None,
    each_file: EachFile = False,
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = None,
    figure: FigureFile = None,
    show_all: All = False,
    as_json: Json = False,
) -> None:
    """Compare two or more models and test which differences are real.

    RESULTS can be evaluation logs, a study's folder, or a CSV with one row per example (example, correct,
    model, prompt). Models are compared on the same examples and prompts. If a study has seeds and
    checkpoints, only the last checkpoints are compared; with one model and one seed, its checkpoints are. The
    seeds of a model count as its training runs.

    RESULTS can also be a leaderboard: a CSV with the columns model, accuracy, n (number of examples) and
    optionally task. A leaderboard is compared unpaired, which detects only larger differences than a paired
    comparison.
    """
    paths = given_paths(results)
    boards = [path for path in paths if leaderboard.is_leaderboard(path)]
    if boards and len(paths) > 1:
        raise InputError(f"{boards[0]}: is a leaderboard; compare it by itself")
    from abovechance.importers import Options

    options = Options(metric=metric, filter=filter_, epoch=epoch, each_file=each_file, command="compare")
    if boards:
        refused = options.by_name | {"--all": show_all, "--figure": figure, "--power": power}
        refuse(refused | {"--seed-deviation": seed_deviation}, "with a leaderboard")
        _leaderboard(leaderboard.read_leaderboard(boards[0]), confidence, as_json)
        return
    responses, notes = _responses(paths, options)
    if all(len(setting.models) > 2 for setting in responses):
        refuse({"--power": power}, "with more than two models")
    tasks, means = compare_models(responses, confidence, power or POWER, seed_deviation)
    for note in (on_means := _without_mean(tasks, means)):
        tell_note(note)
    if figure:
        from abovechance.shown.differences_of_models import score_numbers, scores

        write_figure(scores, score_numbers(responses, confidence), figure)
    if as_json:
        reports = [*map(_as_object, tasks), *map(_as_object, means)]
        show_json([report | {"notes": [*notes, *on_means, *report.get("notes", [])]} for report in reports])
    else:
        _show(tasks, means, show_all)


def _without_mean(tasks: Sequence[TaskComparison], means: Sequence[MeanComparison]) -> list[str]:
    """Return a note for each number of shots with tasks that are not part of a mean over tasks."""
    notes = []
    for shots in sorted({task.shots for task in tasks}):
        names = [task.task for task in tasks if task.shots == shots]
        averaged = [name for mean in means if mean.shots == shots for name in mean.tasks]
        if averaged and (missing := [name for name in names if name not in averaged]):
            notes.append(
                f"{shots}-shot: the mean over tasks leaves out {', '.join(missing)}, because not all models "
                "have results"
            )
        elif len(names) > 1 and not averaged:
            notes.append(f"{shots}-shot: no mean over tasks, because no two tasks have results of all models")
    return notes


def _show(tasks: Sequence[TaskComparison], means: Sequence[MeanComparison], show_all: bool) -> None:
    """Print comparisons, the means over tasks first."""
    for mean in means:
        _show_mean(mean)
    for task in tasks:
        _show_task(task, show_all)
    if not show_all:
        typer.echo("\nMore about each task: --all")


def _responses(paths: list[Path], options: Options) -> tuple[list[Responses], list[str]]:
    """Return the responses of the models, by task and number of shots, and notes on the results."""
    clusters = clusters_of_studies(paths)
    runs = runs_of(paths, options)
    table = of_trainings(paths, responses_of_runs(runs, paths, options, by_path=True))
    left_out: list[TooFewInCommon] = []
    responses = list(arrange(table, clusters, left_out=left_out))
    if left_out and not responses:
        raise left_out[0]
    if not responses:
        settings = table[["model", "task", "shots"]].drop_duplicates().itertuples(index=False)
        names = "; ".join(f"{model}, {task}, {shots}-shot" for model, task, shots in settings)
        raise InputError(
            f"{paths[0]}: has one model on each task ({names}); expected at least two models on the same "
            "task with the same number of shots, in the column model or in further files"
        )
    notes = [f"left out: {error}" for error in left_out] + _with_one_model(table)
    if metrics := different_metrics(table):
        notes.append(f"models are compared by different metrics: {metrics} (--metric)")
    for note in notes:
        tell_note(note)
    return responses, notes_of(runs) + notes


def _with_one_model(table: pd.DataFrame) -> list[str]:
    """Return a note on the tasks that cannot be compared, because only one model has results."""
    settings = table[["task", "shots", "model"]].drop_duplicates()
    single = settings[~settings.duplicated(["task", "shots"], keep=False)]
    names = [f"{row.task} ({row.shots}-shot, {row.model})" for row in single.itertuples()]
    return [ONE_MODEL + joined(names)] if names else []


def of_trainings(paths: list[Path], table: pd.DataFrame) -> pd.DataFrame:
    """Return responses under the names that models are compared as, with ``seed`` if studies have series."""
    compared = _trainings([path for path in paths if predictions_of(path)], table)
    return as_trainings(table, compared) if compared else table


def _trainings(studies: list[Path], table: pd.DataFrame) -> dict[str, tuple[str, int]]:
    """{model: what it is compared as, its seed} where studies have series of models."""
    entries: dict[str, Any] = {}
    for study in studies:
        if (config := study / "config.yaml").is_file():
            entries |= read_yaml(config).get("models", {})
    models = list(dict.fromkeys(table["model"]))
    series = members({model: entries[model] for model in models if model in entries})
    if not series:
        return {}
    trainings = compared_as(models, entries)
    if len(missing := [model for model in models if model not in trainings]):
        tell_note(
            f"only the last checkpoint of each series is compared; {len(missing)} earlier ones are left out"
        )
    return trainings


def _as_object(result: TaskComparison | MeanComparison) -> dict[str, Any]:
    """A result as JSON has it; tables are lists of rows, and those without rows are left out."""
    report: dict[str, Any] = {}
    for field in fields(result):
        value = getattr(result, field.name)
        if isinstance(value, pd.DataFrame):
            if len(value):
                report[field.name] = as_rows(value)
        elif field.name not in ("sample", "headline", "holm", "bh"):
            report[field.name] = value
    if isinstance(result, TwoModelComparison):
        headline = inference(result.headline) | {"holm": result.holm, "bh": result.bh}
        (report["headline"],) = as_rows(pd.DataFrame([{"about": result.about} | headline]))
    return report


PAIRS = "All pairs of models, with the better model first and simultaneous confidence intervals:"
PAIRS_ORDER = ("first", "second", "difference", "low", "high", "p")


def _show_tables(*tables: tuple[str, pd.DataFrame]) -> None:
    """Print the tables that have rows, each below its heading."""
    for heading, table in tables:
        if len(table):
            print_text(f"\n{heading}\n")
            columns, order = (many.PAIRS, PAIRS_ORDER) if heading == PAIRS else (PAIR, ())
            show(table, as_json=False, upright=len(table) == 1, columns=columns, order=order)


def _show_task(task: TaskComparison, show_all: bool) -> None:
    """Print the comparison on one task."""
    names = f": {' and '.join(task.models)}" if isinstance(task, TwoModelComparison) else ""
    print_text(f"\n{task.task}, {task.shots}-shot{names}\n")
    for note in task.notes:
        tell_note(note)
    if isinstance(task, TwoModelComparison):
        print_text(task.sentence)
        sampled = "these training runs" if len(task.over_seeds) else "these prompts"
        only = f"For {sampled} only (generalizes to similar examples):" if task.about else "In detail:"
        details = [
            (only, task.comparison),
            ("Generalizes to new training seeds and similar examples:", task.over_seeds),
            (
                "Over prompts: these prompts (mean), similar prompts (population), and best prompts (best):",
                task.over_prompts,
            ),
        ]
    else:
        if task.about:
            print_text(about_first(task.about).rstrip() + "\n")
        show(task.ranks, as_json=False, columns=many.RANKS)
        if "below_seed" in task.pairs:
            pairs = counted(len(task.pairs), "pair")
            print_text(
                f"\nOf {pairs} of models, {task.pairs['below_seed'].sum()} have a difference below "
                "--seed-deviation (column below_seed with --all)."
            )
        details = [(PAIRS, task.pairs)]
    if show_all:
        _show_tables(
            *details,
            (f"Variance components of {_units(task.components)}:", task.components),
            (f"Variance components of {_units(task.seeds)}, for each model:", task.seeds),
        )


def _units(components: pd.DataFrame) -> str:
    """Return what the scores are that components are of."""
    return "means over clusters" if (components["source"] == "clusters").any() else "single answers"


def _show_mean(mean: MeanComparison) -> None:
    """Print the comparison by the mean over tasks."""
    typer.echo(f"\nMean over {len(mean.tasks)} tasks, {mean.shots}-shot, with equal weights of tasks\n")
    if mean.sentence:
        print_text(mean.sentence + "\n")
        show(mean.by_task, as_json=False)
        return
    if mean.about:
        print_text(about_first(mean.about).rstrip() + "\n")
    show(mean.ranks, as_json=False, columns=many.RANKS)
    _show_tables((PAIRS, mean.pairs))


def _leaderboard(table: pd.DataFrame, confidence: float, as_json: bool) -> None:
    """Compare the models of a leaderboard, each as if on examples of its own."""
    notes = [*filter(None, table["note"])]
    boards = [(str(task), board) for task, board in table.groupby("task", sort=False) if len(board) > 1]
    if not boards:
        raise InputError("no task has two models; expected at least two rows with the same task")
    compared = {task for task, _ in boards}
    if single := [f"{row.task} ({row.model})" for row in table.itertuples() if row.task not in compared]:
        notes.append(ONE_MODEL + joined(single))
    tables = []
    for task, board in boards:
        accuracies, sizes, names = board["accuracy"], board["n"], board["model"].tolist()
        sample = leaderboard.unpaired(accuracies, sizes, correct_range=board[["lowest", "highest"]])
        pairs = many.pairs(sample, names, confidence)
        hidden = 0
        if (board["lowest"] < board["highest"]).any():
            nearest = many.pairs(leaderboard.unpaired(accuracies, sizes), names, confidence)
            hidden = int((many.differ(nearest, confidence) & ~many.differ(pairs, confidence)).sum())
        if hidden:
            notes.append(
                f"{task}: {counted(hidden, 'pair')} of models would differ if accuracies were not rounded; "
                "other numbers of correct answers round to the same accuracies"
            )
        tables.append((many.ranks(sample, names, confidence, pairs), pairs))
    for note in notes:
        tell_note(note)
    corrected = adjusted_together([pairs["p"] for _, pairs in tables], ("holm", "bh"))
    tables = [
        (ranks, pairs.assign(**of_task)) for (ranks, pairs), of_task in zip(tables, corrected, strict=True)
    ]
    if as_json:
        rows = [
            {"task": task, "ranks": as_rows(ranks), "pairs": as_rows(pairs), "paired": False, "notes": notes}
            for (task, _), (ranks, pairs) in zip(boards, tables, strict=True)
        ]
        show_json(rows)
        return
    typer.echo(
        "This comparison is unpaired, because a leaderboard contains only accuracies. It treats models as "
        "if each had answered different examples. Results for each example allow a paired comparison, which "
        "detects smaller differences."
    )
    for (task, _), (ranks, pairs) in zip(boards, tables, strict=True):
        typer.echo(f"\n{task}\n")
        show(ranks, as_json=False, columns=many.RANKS)
        _show_tables((PAIRS, pairs))
