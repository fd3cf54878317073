"""The command about differences between models."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
import typer

from abovechance.chance.conclusion import probability
from abovechance.chance.multiplicity import adjusted
from abovechance.cli.app import app, example_lines
from abovechance.cli.options import EachFile, Epoch, FigureFile, Filter, Json, Metric, Results, refuse
from abovechance.cli.output import as_rows, check_writable, show, tell_note, write_figure
from abovechance.cli.results import given_paths, predictions_of, responses_of
from abovechance.compare import leaderboard, many
from abovechance.compare.components import variance_components
from abovechance.compare.prompts import over_prompts
from abovechance.compare.responses import TRAININGS, Responses, arrange
from abovechance.compare.seeds import over_seeds
from abovechance.compare.study import (
    LIKE_THESE,
    as_trainings,
    draws_of,
    generalizes,
    over_tasks,
    seed_components,
)
from abovechance.compare.two_models import POWER, Comparison, compare as compare_two
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE, Estimate
from abovechance.core.reading import read_yaml
from abovechance.core.tables import read_table
from abovechance.study.series import compared_as, members

if TYPE_CHECKING:
    from abovechance.importers import Options

ENOUGH = 20  # examples that all prompts have, to say where scores vary


@app.command(
    epilog=example_lines(
        "abovechance compare a.eval b.eval",
        "abovechance compare results/default",
        "abovechance compare leaderboard.csv",
        "abovechance compare logs/a logs/b --seed-deviation 0.012",
    )
)
def compare(
    results: Results,
    seed_deviation: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Standard deviation of such scores over training seeds, to be held against."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.9999, help="Of intervals.")] = CONFIDENCE,
    power: Annotated[
        float | None,
        typer.Option(min=0.01, max=0.9999, help=f"Of planning, for two models; {POWER} without it."),
    ] = None,
    each_file: EachFile = False,
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = None,
    figure: FigureFile = None,
    as_json: Json = False,
) -> None:
    """Whether one model is better than another, or which of many are.

    Of logs, of a study's folder, or of a CSV with a row for each example (example, correct, model, prompt):
    paired on the same examples, and where models have the same prompts on these. Of a leaderboard, a CSV
    with the columns model, accuracy and n (and task): unpaired, which finds less. Of a study with series of
    models, their last checkpoints, the seeds of each as trainings of one model.
    """
    paths = given_paths(results)
    drawn = check_writable(figure, "--figure", (".png", ".pdf")) if figure else None
    boards = [path for path in paths if leaderboard.is_leaderboard(path)]
    if boards and len(paths) > 1:
        raise InputError(f"{boards[0]}: is a leaderboard; right would be to compare it by itself")
    if boards:
        given: dict[str, Any] = {
            "--metric": metric,
            "--filter": filter_,
            "--epoch": epoch,
            "--each-file": each_file,
        }
        given |= {"--seed-deviation": seed_deviation, "--figure": figure, "--power": power}
        refuse(given, "with a leaderboard")
        _leaderboard(leaderboard.read_leaderboard(boards[0]), confidence, as_json)
        return
    from abovechance.importers import Options

    options = Options(None, metric, filter_, epoch, each_file, None, "compare")
    responses = _responses(paths, options)
    if all(len(of.models) > 2 for of in responses):
        refuse({"--power": power}, "with more than two models")
    found = [_compared(of, confidence, power or POWER, seed_deviation) for of in responses]
    if len(found) > 1:
        _adjust_for_tasks(found)
        found += _over_tasks(responses, found, confidence)
    if drawn:
        from abovechance.shown.differences_of_models import score_numbers, scores

        write_figure(scores, score_numbers(responses, confidence), drawn)
    if as_json:
        typer.echo(json.dumps([{**one, **_rows(one)} for one in found], indent=2))
        return
    for one in found:
        (_tell_over_tasks if "tasks" in one else _tell)(one)


def _adjust_for_tasks(found: list[dict[str, Any]]) -> None:
    """Adjust the p-values of all tasks together: of headlines for two models, of pairs for more."""
    p_values = [[one["headline"]["p"]] if "headline" in one else [*one["pairs"]["p"]] for one in found]
    for method in ("holm", "bh"):
        values = iter(adjusted(np.concatenate(p_values), method))
        for one, own in zip(found, p_values, strict=True):
            if "headline" in one:
                one["headline"][method] = float(next(values))
            else:
                one["pairs"][method] = [next(values) for _ in own]


def _over_tasks(
    responses: list[Responses], found: list[dict[str, Any]], confidence: float
) -> list[dict[str, Any]]:
    """The mean over tasks, each counted alike, for each number of shots with several tasks."""
    told = []
    for over in over_tasks([(of, draws_of(of)) for of in responses], confidence):
        if len(over.tasks) < 2:
            continue
        one: dict[str, Any] = {"tasks": over.tasks, "shots": over.shots, "models": [*over.ranks["model"]]}
        if len(one["models"]) == 2:
            own = [each for each in found if each["shots"] == over.shots and each["task"] in over.tasks]
            one["by_task"] = pd.DataFrame(
                [
                    {"task": each["task"], "better": each["models"][0]}
                    | {
                        name: each["headline"][name]
                        for name in ("difference", "low", "high", "p", "holm", "bh")
                    }
                    for each in own
                ]
            )
            pair = over.pairs.iloc[0]
            value, error, low, high, p = (
                float(pair[name]) for name in ("difference", "error", "low", "high", "p")
            )
            estimate = Estimate(value, error, low, high, p)
            one["told"] = _about(over.about) + _verdict(one["models"], Headline("", estimate), confidence)
        told.append(one | {"about": over.about, "ranks": over.ranks, "pairs": over.pairs})
    return told


def _tell_over_tasks(found: dict[str, Any]) -> None:
    """Print the mean over tasks for people."""
    tasks = found["tasks"]
    typer.echo(f"\nMean over {len(tasks)} tasks, {found['shots']}-shot, each task counted alike\n")
    if "told" in found:
        by_task = found["by_task"]
        low, corrected = (int((by_task[name] <= 0.05).sum()) for name in ("p", "holm"))
        typer.echo(
            f"{found['told']} Task by task, {low or 'none'} of {len(tasks)} differences have p <= 0.05, and "
            f"{corrected or 'none'} after Holm's correction for all tasks.\n"
        )
        show(by_task, as_json=False)
    else:
        if found["about"]:
            typer.echo(_about(found["about"]).rstrip() + "\n")
        show(found["ranks"], as_json=False)
        typer.echo("\nAll pairs, the better model first; intervals hold for all of them at once:\n")
        show(found["pairs"], as_json=False)


def _rows(found: dict[str, Any]) -> dict[str, Any]:
    """The tables of what was found as lists of rows."""
    return {name: as_rows(value) for name, value in found.items() if isinstance(value, pd.DataFrame)}


def _responses(paths: list[Path], options: Options) -> list[Responses]:
    """What the models answered, by task and number of shots."""
    studies = [path for path in paths if predictions_of(path)]
    clusters = {
        file.stem: read_table(file).set_index("example")["cluster"]
        for study in studies
        for file in sorted((study / "tasks").glob("*.parquet"))
    }
    table = responses_of(paths, options)
    if compared := _trainings(studies, table):
        table = as_trainings(table, compared)
    found = list(arrange(table, clusters))
    if not found:
        settings = table[["model", "task", "shots"]].drop_duplicates().itertuples(index=False)
        told = "; ".join(f"{model}, {task}, {shots}-shot" for model, task, shots in settings)
        raise InputError(
            f"{paths[0]}: no two models on the same task with the same number of shots: {told}; right would "
            "be results of at least two"
        )
    return found


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
    found = compared_as(models, entries)
    if len(left := [model for model in models if model not in found]):
        tell_note(f"of series, the last checkpoint; {len(left)} earlier ones are left out")
    return found


def _compared(of: Responses, confidence: float, power: float, seed_deviation: float | None) -> dict[str, Any]:
    """The comparison of the models on one task."""
    found: dict[str, Any] = {"task": of.task, "shots": of.shots, "models": of.models, "notes": of.notes}
    found["prompts"] = len(of.prompts)
    if of.several_seeds:
        found["seeds"] = seed_components(of)
    if len(of.models) == 2:
        if headline_of(of, confidence).estimate.value < 0:  # the better model first
            of = of.reversed
        found |= {"models": of.models} | _two_models(of, confidence, power, seed_deviation)
    else:
        found |= _many_models(of, confidence, seed_deviation)
    complete = of.complete
    if len(of.prompts) > 1 and complete.shape[2] >= ENOUGH:
        found["components"] = variance_components(complete, ["models", "prompts", "examples"])
    return found


def _two_models(
    of: Responses, confidence: float, power: float, seed_deviation: float | None
) -> dict[str, Any]:
    """The comparison of two models, the better one first."""
    headline = headline_of(of, confidence)
    scores = of.by_example
    pair = compare_two(scores[0], scores[1], of.clusters, confidence, power)
    row = _flat(pair)
    found: dict[str, Any] = {"headline": headline.row}
    found["told"] = _in_words(of, pair, headline, confidence, power)
    if of.several_seeds and of.repeats == TRAININGS:
        seeds = over_seeds(of.by_seed[0], of.by_seed[1], of.clusters, confidence)
        counts = {"first_seeds": seeds.first_seeds, "second_seeds": seeds.second_seeds}
        over = counts | {"deviation": seeds.deviation} | _row(seeds.difference)
        over |= {"error": seeds.difference.standard_error, "freedom": seeds.difference.freedom}
        found["over_seeds"] = pd.DataFrame([over])
        found["told"] += _beside_seeds(headline.estimate.value, seeds.deviation, "here")
    if seed_deviation is not None:
        found["told"] += _beside_seeds(headline.estimate.value, seed_deviation, "as given")
    if len(of.prompts) > 1:
        pairs = over_prompts(of.scores[0], of.scores[1], of.clusters, confidence)
        kinds = ("mean", "population", "best")
        found["over_prompts"] = pd.DataFrame([{"of": kind} | _row(getattr(pairs, kind)) for kind in kinds])
        if not np.isfinite(of.scores).all():
            row |= _over_these_prompts(of, pairs.mean)
    return found | {"comparison": pd.DataFrame([row])}


def _over_these_prompts(of: Responses, mean: Estimate) -> dict[str, Any]:
    """The comparison if prompts are evaluated on different examples: each prompt's mean counts alike."""
    first, second = (float(np.nanmean(one, axis=1).mean()) for one in of.scores)
    row: dict[str, Any] = {"first": first, "second": second, "test": mean.method} | _row(mean)
    missing = ("unpaired_error", "unpaired_low", "unpaired_high", "gain", "detectable", "needed")
    return row | {"error": mean.standard_error} | dict.fromkeys(missing, np.nan)


def _many_models(of: Responses, confidence: float, seed_deviation: float | None) -> dict[str, Any]:
    """The comparison of more than two models."""
    sample = draws_of(of)
    pairs = many.pairs(sample, of.models, confidence)
    if len(of.prompts) > 1:
        pairs["flips_prompts"] = _flips(of, pairs)
    if seed_deviation is not None:
        pairs["below_seed"] = pairs["difference"] < seed_deviation
    ranks = many.ranks(sample, of.models, confidence)
    return {"about": generalizes(of), "ranks": ranks, "pairs": pairs}


def _flips(of: Responses, pairs: pd.DataFrame) -> list[float]:
    """Of each pair, in which share of draws of examples, prompts and seeds the order is the other one."""
    below = many.flips(of.seeds, of.clusters)
    places = {model: place for place, model in enumerate(of.models)}
    both = zip(pairs["first"], pairs["second"], strict=True)
    return [float(below[places[first], places[second]]) for first, second in both]


def _beside_seeds(difference: float, deviation: float, where: str) -> str:
    """How a difference stands beside what a training seed does to the score of one training."""
    if not np.isfinite(deviation):
        return ""
    below = abs(difference) < deviation
    return (
        f" It is {'below' if below else 'not below'} the standard deviation of one training's score over "
        f"seeds, {points(deviation)} ({where}); single trainings that are alike but for the seed differ by "
        f"up to {points(1.96 * math.sqrt(2) * deviation)} in 95 % of cases."
    )


class Headline(NamedTuple):
    """The inference that answers whether one of two models is better, the first less the second.

    Attributes
    ----------
    about
        What it holds for; empty if that is examples like these.
    """

    about: str
    estimate: Estimate

    @property
    def row(self) -> dict[str, Any]:
        """As a row of a table."""
        return {"about": self.about} | _row(self.estimate)


def _row(difference: Estimate) -> dict[str, float]:
    """A difference as a row of a table."""
    return {"difference": difference.value} | {
        name: getattr(difference, name) for name in ("low", "high", "p")
    }


NEEDED = {"needed": Column.whole("number of examples needed to find a difference of this size")}


def _flat(pair: Comparison) -> dict[str, Any]:
    """A comparison as a row of a table."""
    unpaired = pair.unpaired
    row = pair._asdict() | _row(pair.difference) | {"test": pair.difference.method}
    row |= {"error": pair.difference.standard_error, "unpaired_error": unpaired.standard_error}
    row |= {"unpaired_low": unpaired.low, "unpaired_high": unpaired.high}
    return {name: row[name] for name in COMPARISON}


COMPARISON = [
    *("examples", "clusters", "first", "second", "difference", "low", "high", "p", "test", "error"),
    *("unpaired_error", "unpaired_low", "unpaired_high", "gain", "better", "worse", "detectable", "needed"),
]


def headline_of(of: Responses, confidence: float) -> Headline:
    """The inference that generalizes as far as results allow: over seeds or prompts, and over examples."""
    about = generalizes(of)
    if of.several_seeds:
        return Headline(about, over_seeds(of.by_seed[0], of.by_seed[1], of.clusters, confidence).difference)
    if len(of.prompts) > 1:
        over = over_prompts(of.scores[0], of.scores[1], of.clusters, confidence)
        if about == LIKE_THESE and np.isfinite(over.population.p):
            return Headline(about, over.population)
        return Headline(f"for these {len(of.prompts)} prompts only", over.mean)
    scores = of.by_example
    return Headline(about, compare_two(scores[0], scores[1], of.clusters, confidence).difference)


def _in_words(of: Responses, pair: Comparison, headline: Headline, confidence: float, power: float) -> str:
    """What a comparison of two models says, the better one first."""
    if pair.better == pair.worse == 0 and len(of.prompts) == 1:
        most = 1 - (1 - confidence) ** (1 / pair.clusters)
        told = (
            f"Both have the same score on each of {pair.examples} examples. On others like these they may "
            f"differ, on up to {most:.0%} of them ({confidence:.0%} bound)."
        )
    else:
        told = _verdict(of.models, headline, confidence)
    told = _about(headline.about) + told
    planned = ""
    if np.isfinite(pair.detectable) and not headline.about:
        planned = (
            f" With {pair.examples} examples, a true difference of {points(pair.detectable)} is found with a "
            f"probability of {power:.0%}"
        )
        planned += (
            f"; one of this size with {pair.needed:,.0f} examples." if np.isfinite(pair.needed) else "."
        )
    return told + planned


def _about(about: str) -> str:
    """What a sentence holds for, before it."""
    return f"{about[0].upper()}{about[1:]}: " if about else ""


def _verdict(models: list[str], headline: Headline, confidence: float) -> str:
    """Which of two models is better, the first one being ahead."""
    found = headline.estimate
    low, high = 100 * found.low, 100 * found.high
    interval = f"{confidence:.0%} interval {low:.1f} to {high:.1f}, " if np.isfinite(low) else ""
    known = f"p = {probability(found.p)}" if np.isfinite(found.p) else "p is not known"
    ahead, evidence = points(found.value), f"({interval}{known})"
    if abs(found.value) < 1e-12:
        return f"Both have the same score {evidence}."
    if found.p <= 1 - confidence:
        return f"{models[0]} is better by {ahead} {evidence}."
    return f"No difference can be told from noise. {models[0]} is ahead by {ahead} {evidence}."


def points(share: float) -> str:
    """A difference of two shares in words."""
    return f"{100 * share:.1f} points"


def _tell(found: dict[str, Any]) -> None:
    """Print what was found for people."""
    typer.echo(f"\n{found['task']}, {found['shots']}-shot: {', '.join(found['models'])}\n")
    for note in found["notes"]:
        tell_note(note)
    if "comparison" in found:
        typer.echo(found["told"] + "\n")
        if found["headline"]["about"]:
            only = "these trainings" if "over_seeds" in found else "these prompts"
            typer.echo(f"For {only} only, and examples like these:\n")
        show(found["comparison"], as_json=False, upright=True, columns=NEEDED)
    else:
        if found["about"]:
            typer.echo(_about(found["about"]).rstrip() + "\n")
        show(found["ranks"], as_json=False)
        typer.echo("\nAll pairs, the better model first; intervals hold for all of them at once:\n")
        show(found["pairs"], as_json=False)
    if "over_seeds" in found:
        typer.echo("\nFor trainings like these, with other seeds, and examples like these:\n")
        show(found["over_seeds"], as_json=False, upright=True)
    if "over_prompts" in found:
        typer.echo("\nOver prompts: these prompts, prompts like these, and the best one of each model:\n")
        show(found["over_prompts"], as_json=False)
    if "components" in found:
        typer.echo("\nWhere single answers vary:\n")
        show(found["components"], as_json=False)
    if "seeds" in found and len(found["seeds"]):
        typer.echo("\nWhere single answers of one model vary:\n")
        show(found["seeds"], as_json=False)


def _leaderboard(table: pd.DataFrame, confidence: float, as_json: bool) -> None:
    """What a leaderboard says, each model as if on examples of its own."""
    told: list[dict[str, Any]] = []
    for note in filter(None, table["note"]):
        tell_note(note)
    for task, own in table.groupby("task", sort=False):
        names = own["model"].tolist()
        if len(names) < 2:
            continue
        drawn = many.unpaired(own["accuracy"], own["n"])
        ranks, pairs = many.ranks(drawn, names, confidence), many.pairs(drawn, names, confidence)
        told.append({"task": str(task), "ranks": ranks, "pairs": pairs})
    if not told:
        raise InputError("no two models on one task; expected at least two rows of a task")
    _adjust_for_tasks(told)
    if as_json:
        typer.echo(json.dumps([{**one, **_rows(one), "paired": False} for one in told], indent=2))
        return
    typer.echo(
        "Unpaired, since only accuracies are known: as if each model had examples of its own. Results "
        "example by example find smaller differences."
    )
    for one in told:
        typer.echo(f"\n{one['task']}\n")
        show(one["ranks"], as_json=False)
        typer.echo("\nAll pairs, the better model first; intervals hold for all of them at once:\n")
        show(one["pairs"], as_json=False)
