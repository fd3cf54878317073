"""The options that several commands have, and what they mean together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from abovechance.chance.random_baseline import MOST_EXAMPLES, MOST_PROMPTS, RandomBaseline
from abovechance.cli.output import check_writable, tell_note
from abovechance.core.csv_table import SHARE
from abovechance.core.errors import InputError


def finite(value: float | None) -> float | None:
    """A number as it is; nan and infinity pass the bounds of an option otherwise."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a number.")
    return value


def share(text: str | None) -> str | None:
    """A number from 0 to 1 as it is written, since its digits count."""
    if text is not None and SHARE.read(text) is None:
        raise typer.BadParameter(f"'{text}' is not a number between 0 and 1{SHARE.hint(text)}.")
    return text


def figure_file(path: Path | None) -> Path | None:
    """The file of a figure, which can be written."""
    return check_writable(path, "--figure", (".png", ".pdf", ".svg")) if path else None


All = Annotated[bool, typer.Option("--all", help="Show all rows, and the details of each task.")]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.9999, help="Confidence level of the intervals.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON with all digits.")]
Examples = Annotated[
    int | None,
    typer.Option(
        "--examples",
        "-n",
        min=1,
        max=MOST_EXAMPLES,
        help="Number of examples that each prompt is evaluated on.",
    ),
]
Chance = Annotated[
    float | None,
    typer.Option(
        "--chance", "-p", min=0, max=1, callback=finite, help="Probability of a lucky guess on an example."
    ),
]
Choices = Annotated[
    str | None,
    typer.Option(
        "--choices",
        "-c",
        help="Number of choices per example (such as 4), or CHOICES:EXAMPLES pairs (such as 2:50,5:50).",
    ),
]
OneChoice = Annotated[
    str | None, typer.Option("--choices", "-c", help="Number of choices of every example (such as 4).")
]
# {command: its example data, in the folder `examples`}
EXAMPLES = {
    "best": "answers.csv",
    "chance": "predictions.csv",
    "check": "scores.csv",
    "compare": "answers.csv",
    "items": "answers.csv",
    "pvi": "pvi.csv",
    "variance": "evaluations.zip",
}
NO_RESULTS: list[str] = []


def example_file(command: str) -> Path:
    """Return the file with the example data of a command."""
    return Path(__file__).parent / "examples" / EXAMPLES[command]


def _remember(context: typer.Context, requested: bool) -> bool:
    context.meta["example"] = requested
    return requested


def results_or_example(context: typer.Context, results: Any) -> Any:
    """Return what the user named, or the example data; one of both is needed."""
    if not context.meta.get("example"):
        if not results or results == Path():
            raise InputError("RESULTS is needed: name files or folders, or use --example")
        return results
    if results and results != Path():
        raise InputError("--example and RESULTS cannot be combined; leave one of them out")
    path = example_file(str(context.info_name))
    tell_note(f"the example data are {path}")
    return path if isinstance(results, Path) else [str(path)]


Results = Annotated[
    list[str],
    typer.Argument(
        help="Files or folders, or - for a CSV from standard input.",
        show_default=False,
        callback=results_or_example,
    ),
]
ResultFiles = Annotated[
    list[str],
    typer.Argument(help="Files or folders.", show_default=False, callback=results_or_example),
]
Example = Annotated[
    bool,
    typer.Option(
        "--example", is_eager=True, callback=_remember, help="Use example data that come with the package."
    ),
]
BestOfPrompts = Annotated[
    int | None,
    typer.Option(
        "--prompts",
        "-t",
        min=1,
        max=MOST_PROMPTS,
        help="Number of prompts tried, if the results do not contain all of them.",
    ),
]
EachFile = Annotated[
    bool,
    typer.Option(
        "--each-file", help="Treat each run (file) as a separate prompt of the same model and task."
    ),
]
Metric = Annotated[
    str | None, typer.Option("--metric", help="Metric or scorer that decides which answers are correct.")
]
Filter = Annotated[
    str | None,
    typer.Option("--filter", help="Filter of lm-evaluation-harness to use, if the log has several."),
]
Epoch = Annotated[
    int | None,
    typer.Option("--epoch", min=1, help="Epoch of an inspect log, if it has several.  [default: 1]"),
]
Prompts = Annotated[
    int, typer.Option("--prompts", "-t", min=1, max=MOST_PROMPTS, help="Number of prompts tried.")
]
Alpha = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        min=1e-12,
        max=0.999,
        callback=finite,
        help="Significance level: the largest p-value that counts as better than chance.  [default: 0.05]",
    ),
]
FigureFile = Annotated[
    Path | None,
    typer.Option(
        "--figure",
        callback=figure_file,
        help="Write a figure to this .png, .pdf or .svg file, and its numbers to a .csv file.",
    ),
]


def refuse(options: Mapping[str, object], because: str) -> None:
    """Raise InputError where an option is given that would be ignored.

    Parameters
    ----------
    options
        {option: its value, or None or False where it is not given}.
    because
        Why it has no effect.
    """
    for option, value in options.items():
        if value is not None and value is not False:
            raise InputError(f"{option} has no effect {because}; leave it out")


def one_chance(chance: float | None, choices: str | None) -> float:
    """Return the chance of every example; InputError where examples differ."""
    value = _chance_option(chance, choices)
    if isinstance(value, float):
        return value
    if ":" in value:
        raise InputError("--choices has several numbers of choices; expected one, such as --choices 4")
    return 1 / _whole(value)


def chance_of_figure(chance: float | None, choices: str | None) -> float:
    """Return the one chance that a figure is drawn for; InputError where examples differ."""
    if choices is not None and ":" in choices:
        raise InputError(
            "--figure requires one number of choices, such as --choices 4; otherwise leave --figure out"
        )
    return one_chance(chance, choices)


def _chance_option(chance: float | None, choices: str | None) -> float | str:
    """Return the one of two options that is given."""
    if chance is not None and choices is None:
        return float(chance)
    if choices is not None and chance is None:
        return choices
    raise InputError(f"expected either --chance or --choices, got {'neither' if choices is None else 'both'}")


def random_baseline(examples: int | None, chance: float | None, choices: str | None) -> RandomBaseline:
    """Return the baseline that the options describe."""
    value = _chance_option(chance, choices)
    if isinstance(value, float) or ":" not in value:
        if examples is None:
            raise InputError(
                "--examples is missing; expected the number of examples that each prompt is evaluated on"
            )
        return RandomBaseline.from_chance(one_chance(chance, choices), examples)
    counts: dict[int, int] = {}
    for part in value.split(","):
        number, _, count = part.partition(":")
        if ":" not in part:
            raise InputError(
                f"--choices has '{part[:30]}' in '{value[:60]}'; expected pairs such as 2:50,5:50"
            )
        counts[_whole(number)] = counts.get(_whole(number), 0) + _whole(count)
    if examples is not None and examples != sum(counts.values()):
        raise InputError(f"--examples is {examples}, but --choices has {sum(counts.values())} examples")
    return RandomBaseline.from_choices(counts)


def _whole(text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 20 or not 1 <= int(text) <= MOST_EXAMPLES:
        expected = f"a number such as 4, or pairs such as 2:50,5:50, with numbers up to {MOST_EXAMPLES:,}"
        raise InputError(f"--choices has '{text[:30]}'; expected {expected}")
    return int(text)


def stated_chance(chance: float | None, choices: str | None) -> float | None:
    """Return the chance of a lucky guess that --chance or --choices states; None without them."""
    return None if chance is None and choices is None else one_chance(chance, choices)
