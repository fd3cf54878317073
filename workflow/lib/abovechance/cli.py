"""The command line: is this score better than chance?"""

from __future__ import annotations

import atexit
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer

from abovechance import __version__
from abovechance.chance import planning, published_scores
from abovechance.chance.baseline import RandomBaseline
from abovechance.chance.verdicts import Verdict, verdicts
from abovechance.core.errors import InputError
from abovechance.core.files import replacing, write_csv
from abovechance.core.settings import SETTING
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.results.predictions import PREDICTIONS
from abovechance.shown.tables import readable

if TYPE_CHECKING:
    from abovechance.importers import Options


def _examples(*commands: str) -> str:
    """Commands to copy, each on its line of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


app = typer.Typer(
    help="Is a model's best score better than chance, given how many prompts were tried?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Write JSON, with all digits, for programs.")]
Examples = Annotated[
    int | None, typer.Option("--examples", "-n", min=1, help="How many examples prompts are evaluated on.")
]
Chance = Annotated[
    float | None, typer.Option("--chance", "-p", min=0, max=1, help="Chance of a lucky guess on an example.")
]
Choices = Annotated[
    str | None,
    typer.Option("--choices", "-c", help="Choices of an example: 4, or for some each: 2:50,5:50."),
]
Results = Annotated[
    list[Path], typer.Argument(help="Files or folders; - for a CSV from a pipe.", show_default=False)
]
BestOfPrompts = Annotated[
    int | None,
    typer.Option("--prompts", "-t", min=1, help="How many prompts were tried; these are the best's."),
]
EachFile = Annotated[bool, typer.Option("--each-file", help="Each run is another prompt that was tried.")]
Metric = Annotated[
    str | None, typer.Option("--metric", help="Which metric, or scorer, says what is correct.")
]
Filter = Annotated[str | None, typer.Option("--filter", help="Which of lm-evaluation-harness's filters.")]
Epoch = Annotated[int, typer.Option("--epoch", min=1, help="Which of inspect's epochs.")]
Prompts = Annotated[int, typer.Option("--prompts", "-t", min=1, help="How many prompts were tried.")]


@app.command(
    epilog=_examples(
        "abovechance baseline -n 100 -c 2 -t 200",
        "abovechance baseline -c 2:50,5:50 -t 20 --accuracy 0.46",
    )
)
def baseline(
    examples: Examples = None,
    chance: Chance = None,
    choices: Choices = None,
    task: Annotated[
        Path | None, typer.Option("--task", help="A task file, in place of the options before.")
    ] = None,
    prompts: Prompts = 1,
    accuracy: Annotated[
        float | None, typer.Option("--accuracy", "-a", min=0, max=1, help="The best accuracy reached.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The standard and the maximum random baseline; with an accuracy, the verdict on it."""
    if task is None:
        guesser = random_baseline(examples, chance, choices)
    elif (examples, chance, choices) == (None, None, None):
        guesser = RandomBaseline.from_task(task)
    else:
        raise InputError("--task has the examples and choices itself; leave out the other options")
    if accuracy is not None:
        found = asdict(Verdict.of(accuracy, guesser, prompts))
    else:
        found = {
            "examples": guesser.examples,
            "prompts": prompts,
            "standard_baseline": guesser.standard,
            "maximum_baseline": guesser.maximum(prompts),
        }
    show(pd.DataFrame([found]), as_json, upright=True)


@app.command(
    epilog=_examples(
        "abovechance check docs/published_maxima.csv",
        "abovechance check samples_arc_2026-01-01T00-00-00.jsonl --prompts 20",
        "abovechance check helm_runs/",
        "abovechance check logs/ --each-file",
    )
)
def check(
    results: Results,
    prompts: BestOfPrompts = None,
    each_file: EachFile = False,
    chance: Chance = None,
    choices: Choices = None,
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = 1,
    as_json: Json = False,
) -> None:
    """Verdicts for a table of best scores, or for other tools' logs.

    Known are the logs of lm-evaluation-harness, HELM, lighteval and inspect, the published release,
    a CSV with a row a prompt and example, and a CSV with a row a best score (best_accuracy, examples,
    choices or chance, prompts).
    """
    results = [_from_pipe() if str(path) == "-" else path for path in results]
    if len(results) == 1 and published_scores.is_maxima(results[0]):
        judged = published_scores.judge_maxima(published_scores.read_maxima(results[0]))
    else:
        options = _options(prompts, each_file, chance, choices, metric, filter_, epoch)
        predictions = _imported(results, options)
        settings = predictions.groupby(SETTING, observed=True, sort=False)
        accuracy = pd.concat([accuracy_by_prompt(rows) for _, rows in settings], ignore_index=True)
        judged = verdicts(accuracy, prompts)
    show(judged, as_json)
    if not as_json:
        typer.echo(f"\n{published_scores.count(judged)}")


@app.command(
    "import",
    epilog=_examples(
        "abovechance import helm_runs/ --output helm.parquet",
        "abovechance import logs/ --each-file --output mine.parquet",
    ),
)
def import_(
    results: Results,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .parquet file to write.")],
    each_file: EachFile = False,
    chance: Chance = None,
    choices: Choices = None,
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = 1,
) -> None:
    """Write other tools' logs as a table that a study starts from: `predictions: FILE` in its config."""
    if output.suffix != ".parquet":
        raise InputError(f"--output {output}: right would be a name that ends in .parquet")
    options = _options(None, each_file, chance, choices, metric, filter_, epoch)
    predictions = _imported(results, options)
    facts = {"imported": [str(path) for path in results]}
    with PREDICTIONS.writing_parts(output, facts) as write:
        for _, rows in predictions.groupby(SETTING, observed=True, sort=False):
            write(rows)
    settings = predictions[[*SETTING, "prompt"]].drop_duplicates()
    typer.echo(f"{output}: {len(settings)} prompts in {len(settings.drop_duplicates(SETTING))} settings")


def _from_pipe() -> Path:
    """A CSV from standard input, in a file that lasts as long as the process."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "stdin.csv"
    path.write_text(sys.stdin.read(), encoding="utf-8")
    return path


def _options(
    prompts: int | None,
    each_file: bool,
    chance: float | None,
    choices: str | None,
    metric: str | None,
    filter_: str | None,
    epoch: int,
) -> Options:
    from abovechance.importers import Options

    known = None if chance is None and choices is None else _one_chance(chance, choices)
    return Options(known, metric, filter_, epoch, each_file, prompts)


def _imported(paths: list[Path], options: Options) -> pd.DataFrame:
    """The predictions of other tools' results; what people should know goes to the error stream."""
    from abovechance.importers import combine, read_runs

    runs = read_runs(paths, options)
    for note in dict.fromkeys(note for run in runs for note in run.notes):
        typer.echo(f"note: {note}", err=True)
    return combine(runs, options)


Level = Annotated[
    float, typer.Option("--level", min=1e-12, max=0.999, help="How probable guessing may be to do as well.")
]
FigureFile = Annotated[
    Path | None, typer.Option("--figure", help="Draw it too, to this .png or .pdf, with the numbers as .csv.")
]


@app.command(
    epilog=_examples(
        "abovechance plan -c 2 -t 200 --margin 0.05",
        "abovechance plan -c 2 -n 100 --accuracy 0.62",
        "abovechance plan -c 2 -n 100 -t 200",
    )
)
def plan(
    chance: Chance = None,
    choices: Choices = None,
    examples: Examples = None,
    prompts: Annotated[
        int | None, typer.Option("--prompts", "-t", min=1, help="How many prompts are to be tried.")
    ] = None,
    margin: Annotated[
        float | None, typer.Option("--margin", "-m", help="How far the maximum baseline may be above chance.")
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option("--accuracy", "-a", min=0, max=1, help="A score that chance must not reach."),
    ] = None,
    level: Level = 0.05,
    figure: FigureFile = None,
    as_json: Json = False,
) -> None:
    """How many examples or prompts: with --prompts and --margin, --examples and --accuracy, or --examples
    and --prompts."""
    found: dict[str, Any] = {}
    if prompts is not None and margin is not None:
        found["examples_needed"] = planning.examples_needed(_one_chance(chance, choices), prompts, margin)
    if examples is not None or (choices and ":" in choices):
        guesser = random_baseline(examples, chance, choices)
        if accuracy is not None:
            allowed = planning.prompts_allowed(guesser, accuracy)
            found["prompts_allowed"] = "any number" if allowed is None and not as_json else allowed
        if prompts is not None:
            found["standard_baseline"] = guesser.standard
            found["maximum_baseline"] = guesser.maximum(prompts)
            found["least_accuracy_above_it"] = planning.least_above(guesser, prompts)
            found[f"least_accuracy_at_level_{level:g}"] = planning.least_significant(guesser, prompts, level)
    if not found:
        raise InputError(
            "nothing to plan: give --prompts and --margin, --examples and --accuracy, or --examples and "
            "--prompts"
        )
    show(pd.DataFrame([found], dtype=object), as_json, upright=True)
    if figure is not None:
        from abovechance.shown import baselines

        tried = sorted({1, 10, 100, 1000, prompts or 1})
        _draw(baselines.plan, baselines.plan_numbers(_one_chance(chance, choices), tried), figure)


@app.command(
    epilog=_examples(
        "abovechance power -c 2 -n 100 -t 20 --accuracy 0.6",
        "abovechance power -c 2 -t 20 --accuracy 0.6 --wanted 0.9",
    )
)
def power(
    accuracy: Annotated[
        float, typer.Option("--accuracy", "-a", min=0, max=1, help="True accuracy of the better prompts.")
    ],
    chance: Chance = None,
    choices: Choices = None,
    examples: Examples = None,
    prompts: Prompts = 1,
    better: Annotated[int, typer.Option(min=1, help="How many of the prompts have that accuracy.")] = 1,
    level: Level = 0.05,
    wanted: Annotated[float, typer.Option(min=0.001, max=0.999, help="The power that is wanted.")] = 0.8,
    figure: FigureFile = None,
    as_json: Json = False,
) -> None:
    """How probably a prompt that is better than chance is found; without --examples, how many it takes."""
    found: dict[str, Any] = {"accuracy": accuracy, "prompts": prompts, "better": better, "level": level}
    if examples is None and not (choices and ":" in choices):
        one = _one_chance(chance, choices)
        found["wanted"] = wanted
        examples = planning.examples_for_power(one, accuracy, prompts, better, level, wanted)
        found["examples_needed"] = examples
    else:
        guesser = random_baseline(examples, chance, choices)
        found["power"] = planning.power(guesser, accuracy, prompts, better, level)
    show(pd.DataFrame([found], dtype=object), as_json, upright=True)
    if figure is not None:
        from abovechance.shown import baselines

        one = _one_chance(chance, choices)
        accuracies = np.linspace(one, min(1.0, one + 0.4), 41).tolist()
        numbers = planning.power_curve(
            one, [examples or 100], sorted({1, 10, 100, prompts}), accuracies, level
        )
        _draw(baselines.power_lines, numbers, figure)


def _one_chance(chance: float | None, choices: str | None) -> float:
    """The chance of every example; InputError where examples differ."""
    if (chance is None) == (choices is None):
        raise InputError("one of --chance and --choices is needed, and not both")
    if chance is not None:
        return chance
    if ":" in choices:
        raise InputError(
            "how many examples are needed is asked for one number of choices, such as --choices 4"
        )
    return 1 / _whole(choices)


def _draw(draw: Callable[[pd.DataFrame], Any], numbers: pd.DataFrame, path: Path) -> None:
    """Write a figure in the format of its suffix, and its numbers beside it."""
    if path.suffix not in (".png", ".pdf", ".svg"):
        raise InputError(f"--figure {path}: right would be a name that ends in .png, .pdf or .svg")
    drawn = draw(numbers)
    with replacing(path) as beside:
        drawn.savefig(beside)
    write_csv(numbers, path.with_suffix(".csv"))


def random_baseline(examples: int | None, chance: float | None, choices: str | None) -> RandomBaseline:
    """The baseline that the options describe."""
    if (chance is None) == (choices is None):
        raise InputError("one of --chance and --choices is needed, and not both")
    if chance is not None or ":" not in choices:
        if examples is None:
            raise InputError("--examples is needed: how many examples prompts are evaluated on")
        return RandomBaseline.of(chance if chance is not None else 1 / _whole(choices), examples)
    counts = {}
    for part in choices.split(","):
        number, _, some = part.partition(":")
        counts[_whole(number)] = counts.get(_whole(number), 0) + _whole(some)
    if examples is not None and examples != sum(counts.values()):
        raise InputError(f"--examples is {examples}, but --choices has {sum(counts.values())} examples")
    return RandomBaseline.from_choices(counts)


def _whole(text: str) -> int:
    if not text.strip().isdigit() or int(text) < 1:
        raise InputError(f"--choices has '{text}'; right would be a number such as 4, or 2:50,5:50")
    return int(text)


def show(table: pd.DataFrame, as_json: bool, upright: bool = False) -> None:
    """Print a table for people, or as JSON: one object, or a list of rows."""
    if as_json:
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        typer.echo(json.dumps(rows[0] if upright else rows, indent=2))
        return
    shown = readable(table)
    if upright:
        width = max(map(len, shown.columns))
        typer.echo("\n".join(f"{name:<{width}}  {shown[name].iloc[0]}" for name in shown.columns))
    else:
        typer.echo(shown.to_string(index=False))


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"abovechance {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Is a model's best score better than chance, given how many prompts were tried?"""


def main() -> None:
    """Run a command; a mistake in what it was given is one line and exit status 1."""
    try:
        app()
    except ValueError as error:  # InputError among them
        typer.echo(f"abovechance: error: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
