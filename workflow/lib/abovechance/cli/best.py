"""The command about the best of several candidates."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import pandas as pd
import typer

from abovechance.best.candidates import Candidates
from abovechance.best.files import LOOKS_LIKE, ReportedScores, from_rows, is_candidates_file, read_candidates
from abovechance.best.selection import DRAWS
from abovechance.best.summary import CANDIDATES, Best, judge_best, judge_reported
from abovechance.cli.app import app, example_lines
from abovechance.cli.inputs import clusters_of_studies, given_paths, responses_of
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
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE
from abovechance.core.resampling import clusters_of_names
from abovechance.core.settings import SETTING, Setting, by_setting

if TYPE_CHECKING:
    from abovechance.importers import Options

MOST_ROWS = 10


class Search(NamedTuple):
    """The candidates of one search, and what they are about."""

    setting: Setting | None
    candidates: Candidates | ReportedScores
    start: str | None


@app.command(
    epilog=example_lines(
        "abovechance best gepa_result.json",
        "abovechance best candidates.csv --start seed --figure best.png",
        "abovechance best results/default",
        "abovechance best logs/ --each-file",
    )
)
def best(
    results: Results = NO_RESULTS,
    _example: Example = False,
    start: Annotated[
        str | None,
        typer.Option(
            help="Name of the candidate that the search started with.  [default: the first one of a search]",
            show_default=False,
        ),
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.999,
            help="Latent (tetrachoric) correlation of two candidates' answers, if only scores are known.  "
            "[default: 0]",
        ),
    ] = None,
    confidence: Confidence = CONFIDENCE,
    draws: Annotated[
        int,
        typer.Option(
            min=100,
            max=10**6,
            help="Number of random exchanges for the p-values; fewer for very many scores.",
        ),
    ] = DRAWS,
    each_file: EachFile = False,
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = None,
    figure: FigureFile = None,
    show_all: All = False,
    as_json: Json = False,
) -> None:
    """Estimate how much of the best score is luck.

    RESULTS can be the result of a prompt search: JSON of GEPA or DSPy, or a CSV with one row per candidate
    and example (candidate, example, score, optionally cluster). If only scores are known, the CSV has the
    columns candidate, score and examples. RESULTS can also be a study's folder or evaluation logs: then the
    prompts of each setting are the candidates. Scores are numbers from 0 to 1.
    """
    from abovechance.importers import Options

    options = Options(metric=metric, filter=filter_, epoch=epoch, each_file=each_file, command="best")
    searches = _searches(given_paths(results), start, options)
    if not any(isinstance(search.candidates, ReportedScores) for search in searches):
        refuse({"--correlation": correlation}, "because the answers to each example are known")
    if figure and len(searches) > 1:
        raise InputError(
            f"--figure shows one search, but RESULTS has {len(searches)} settings; use the results of one"
        )
    judged = [_judge(search, correlation or 0.0, confidence, draws) for search in searches]
    if figure:
        from abovechance.shown.candidates import candidate_numbers, candidates_figure

        write_figure(candidates_figure, candidate_numbers(judged[0]), figure)
    if as_json:
        objects = [_as_object(search, result) for search, result in zip(searches, judged, strict=True)]
        show_json(objects[0] if searches[0].setting is None else objects)
        return
    for search, result in zip(searches, judged, strict=True):
        if search.setting is not None:
            typer.echo(f"\n{search.setting.words}\n")
        print_text(" ".join(result.sentences) + "\n")
        if len(searches) == 1 or show_all:
            most_rows = None if show_all else MOST_ROWS
            show(result.candidates, as_json=False, columns=CANDIDATES, most_rows=most_rows)
    if len(searches) > 1 and not show_all:
        typer.echo("The candidates of each setting: --all")


def _searches(paths: list[Path], start: str | None, options: Options) -> list[Search]:
    """Return the candidates in files; ``options`` are for logs of other tools."""
    files = list(filter(is_candidates_file, paths))
    if not files:
        return _of_prompts(paths, start, options)
    if len(paths) > 1:
        raise InputError(f"{files[0]}: has the candidates of one search; use it by itself")
    refuse(options.by_name, "with the candidates of a search")
    candidates = read_candidates(paths[0])
    if isinstance(candidates, Candidates):
        return [Search(None, candidates, candidates.names[0] if start is None else start)]
    if start is not None:
        raise InputError("--start needs the scores on each example; leave it out")
    return [Search(None, candidates, None)]


def _of_prompts(paths: list[Path], start: str | None, options: Options) -> list[Search]:
    """Return the prompts of each setting in logs, tables and study folders."""
    from abovechance.importers import UnknownResults

    try:
        table = responses_of(paths, options)
    except UnknownResults as error:
        raise InputError(f"{error}; or the candidates of a search: {LOOKS_LIKE}") from None
    table = table.rename(columns={"prompt": "candidate"}).astype({"candidate": str, "example": str})
    clusters = clusters_of_studies(paths)
    prompts_of = [
        (setting, from_rows(_with_clusters(rows, clusters.get(setting.task)), setting.words, setting.shots))
        for setting, rows in by_setting(table)
        if rows["candidate"].nunique() > 1
    ]
    if not prompts_of:
        setting, _ = next(by_setting(table))
        raise InputError(
            f"{paths[0]}: has a single prompt in each setting, such as {setting.words}; expected several, "
            "or use --each-file if each file is another prompt"
        )
    settings = len(table.drop_duplicates(SETTING))
    if len(prompts_of) < settings:
        tell_note(f"settings with a single prompt are left out: {settings - len(prompts_of)} of {settings}")
    comparable = [
        (setting, prompts) for setting, prompts in prompts_of if prompts.evaluated.sum(axis=0).max() > 1
    ]
    if comparable and len(comparable) < len(prompts_of):
        tell_note(
            "settings in which no two prompts have a common example are left out: "
            f"{len(prompts_of) - len(comparable)} of {settings}"
        )
    return [Search(setting, prompts, start) for setting, prompts in comparable or prompts_of]


def _with_clusters(rows: pd.DataFrame, clusters: pd.Series[int] | None) -> pd.DataFrame:
    """Return rows with the column ``cluster``, if the clusters of the task are known."""
    if clusters is None:
        return rows
    examples = rows["example"].unique().tolist()
    codes = clusters_of_names(examples, clusters).tolist()
    return rows.assign(cluster=rows["example"].map(dict(zip(examples, codes, strict=True))))


def _judge(search: Search, correlation: float, confidence: float, draws: int) -> Best:
    candidates = search.candidates
    if isinstance(candidates, ReportedScores):
        return judge_reported(
            candidates.scores, candidates.examples, candidates.names, correlation, confidence
        )
    place = None if search.start is None else candidates.place(search.start)
    return judge_best(candidates, place, confidence, draws)


def _as_object(search: Search, result: Best) -> dict[str, Any]:
    """A result as JSON has it."""
    report: dict[str, Any] = {} if search.setting is None else dict(search.setting._asdict())
    for name in (
        *("chosen", "examples", "mean", "observed", "expected_by_luck", "luck_low", "luck_high", "p"),
        *("debiased", "low", "high", "confidence"),
    ):
        report[name] = getattr(result, name)
    report |= {name: getattr(result, name) for name in ("draws", "draws_start") if getattr(result, name)}
    if result.assumption:
        report["assumption"] = result.assumption
    if result.start is not None and result.difference is not None:
        difference = pd.DataFrame([asdict(result.difference)])
        (report["difference"],) = as_rows(difference)
        report |= {"start": result.start, "p_start": result.p_start}
    return report | {"candidates": as_rows(result.candidates, CANDIDATES)}
