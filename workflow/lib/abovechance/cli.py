"""The command line: is this score better than chance?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from abovechance import __version__
from abovechance.baseline import RandomBaseline, whole
from abovechance.errors import InputError
from abovechance.maxima import count, judge_maxima, read_maxima
from abovechance.tables import readable
from abovechance.verdicts import judge

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
Prompts = Annotated[int, typer.Option("--prompts", "-t", min=1, help="How many prompts were tried.")]


@app.command(
    epilog="Examples:  abovechance baseline -n 100 -c 2 -t 200    "
    "abovechance baseline -c 2:50,5:50 -t 20 --accuracy 0.46"
)
def baseline(
    examples: Examples = None,
    chance: Chance = None,
    choices: Choices = None,
    prompts: Prompts = 1,
    accuracy: Annotated[
        float | None,
        typer.Option("--accuracy", "-a", min=0, max=1, help="The best accuracy that was reached."),
    ] = None,
    as_json: Json = False,
) -> None:
    """The standard and the maximum random baseline; with an accuracy, the verdict on it."""
    guesser = random_baseline(examples, chance, choices)
    found: dict[str, Any] = {
        "examples": guesser.examples,
        "prompts": prompts,
        "standard_baseline": guesser.standard,
        "maximum_baseline": guesser.maximum(prompts),
    }
    if accuracy is not None:
        correct = int(whole(accuracy * guesser.examples))
        found |= {
            "best_accuracy": accuracy,
            "standard_tail": guesser.tail(correct),
            "maximum_tail": guesser.tail(correct, prompts),
            "verdict": judge(accuracy, guesser.standard, found["maximum_baseline"]),
        }
    show(pd.DataFrame([found]), as_json, upright=True)


@app.command(epilog="Example:  abovechance check docs/published_maxima.csv")
def check(
    results: Annotated[
        Path,
        typer.Argument(help="A CSV of best accuracies: best_accuracy, examples, choices or chance, prompts."),
    ],
    as_json: Json = False,
) -> None:
    """Verdicts for a table of best scores, and how many the maximum baseline changes."""
    judged = judge_maxima(read_maxima(results))
    show(judged, as_json)
    if not as_json:
        typer.echo(f"\n{count(judged)}")


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
    except InputError as error:
        typer.echo(f"abovechance: error: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
