"""Commands that need no results: ``baseline``, ``plan`` and ``power``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

from abovechance.chance import planning
from abovechance.chance.baselines import expected_accuracies
from abovechance.chance.random_baseline import MOST_PROMPTS, RandomBaseline
from abovechance.chance.verdicts import JUDGED, Verdict
from abovechance.cli.app import app, example_lines
from abovechance.cli.options import (
    Alpha,
    Chance,
    Choices,
    Examples,
    FigureFile,
    Json,
    Prompts,
    chance_of_figure,
    finite,
    one_chance,
    random_baseline,
    refuse,
    share,
)
from abovechance.cli.output import expanded, show, tell_note, write_figure
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.study.own_tasks import task_chances


@app.command(
    epilog=example_lines(
        "abovechance baseline -n 100 -c 2 -t 200",
        "abovechance baseline -c 2:50,5:50 -t 20 --accuracy 0.46",
    )
)
def baseline(
    examples: Examples = None,
    chance: Chance = None,
    choices: Choices = None,
    task: Annotated[
        Path | None, typer.Option("--task", help="Task file with the examples and their choices.")
    ] = None,
    prompts: Prompts = 1,
    accuracy: Annotated[
        str | None,
        typer.Option(
            "--accuracy",
            "-a",
            metavar="FLOAT",
            callback=share,
            help="Best accuracy, with the reported number of digits.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute the random baselines. With --accuracy, test whether an accuracy is better than chance."""
    if task is None:
        guesser = random_baseline(examples, chance, choices)
    else:
        options = {"--examples": examples, "--chance": chance, "--choices": choices}
        refuse(options, "with --task, because the task file contains the examples and their choices")
        guesser = RandomBaseline(task_chances(expanded(task, "--task")))
    if accuracy is not None:
        verdict = Verdict.from_accuracy(accuracy, guesser, prompts)
        report = {"accuracy": verdict.accuracy, "examples": guesser.examples, "prompts": prompts}
        report |= verdict.judgement | verdict.conclusion | ({"note": verdict.note} if verdict.note else {})
    else:
        report = {"examples": guesser.examples, "prompts": prompts} | expected_accuracies(guesser, prompts)
    show(pd.DataFrame([report]), as_json, upright=True, columns=JUDGED)


@app.command(
    epilog=example_lines(
        "abovechance plan -c 2 -t 200 --margin 0.05",
        "abovechance plan -c 2 -n 100 --accuracy 0.62",
        "abovechance plan -c 2 -n 100 -t 200",
        "abovechance plan --candidates 30 --difference 0.1 --accuracy 0.6",
    )
)
def plan(
    chance: Chance = None,
    choices: Choices = None,
    examples: Examples = None,
    prompts: Annotated[
        int | None,
        typer.Option(
            "--prompts", "-t", min=1, max=MOST_PROMPTS, help="Number of prompts that you plan to try."
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            "-m",
            callback=finite,
            help="Largest allowed difference between the maximum random baseline and chance.",
        ),
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(
            "--accuracy",
            "-a",
            min=0,
            max=1,
            callback=finite,
            help="Accuracy that the maximum random baseline must stay below; with --candidates, the accuracy "
            "of the start (default: 0.5).",
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(min=1, help="Number of candidates that a search will compare with its start."),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, callback=finite, help="True difference from the start that must be found."
        ),
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(
            min=0, max=0.999, help="Pearson's correlation of the answers of two candidates.  [default: 0.5]"
        ),
    ] = None,
    alpha: Alpha = None,
    figure: FigureFile = None,
    as_json: Json = False,
) -> None:
    """Plan the number of examples or prompts of an evaluation.

    With --prompts and --margin, the command computes the number of examples. With --examples and --prompts,
    it computes the lowest accuracy that is better than chance. With --examples and --accuracy, it computes
    the largest number of prompts for which the maximum baseline is below this accuracy.

    With --candidates and --difference, it computes the number of validation examples of a prompt search: the
    best candidate, which is better than the start by this difference, is then found with a power of 0.8.
    --accuracy is the accuracy of the start.
    """
    if candidates is not None:
        guesser_options = {
            "--chance": chance,
            "--choices": choices,
            "--examples": examples,
            "--prompts": prompts,
        }
        refuse(guesser_options | {"--margin": margin, "--figure": figure}, "with --candidates")
        show(_plan_search(candidates, difference, accuracy, correlation, alpha), as_json, upright=True)
        return
    refuse({"--difference": difference, "--correlation": correlation}, "without --candidates")
    has_examples = examples is not None or (choices is not None and ":" in choices)
    refuse({"--margin": margin, "--alpha": alpha} if prompts is None else {}, "without --prompts")
    refuse({"--accuracy": accuracy, "--alpha": alpha} if not has_examples else {}, "without --examples")
    if figure is not None:
        single_chance = chance_of_figure(chance, choices)
    report: dict[str, Any] = {}
    if prompts is not None and margin is not None:
        report["examples_needed"] = planning.examples_needed(one_chance(chance, choices), prompts, margin)
    if has_examples:
        guesser = random_baseline(examples, chance, choices)
        report |= _limits(guesser, prompts, accuracy, ALPHA if alpha is None else alpha)
    if not report and (figure is None or prompts is None):
        raise InputError(
            "nothing to plan: use --prompts with --margin, --examples with --accuracy or with --prompts, or "
            "--candidates with --difference"
        )
    if report:
        if not as_json:
            words = {"prompts_allowed": "any number"}
            report = {n: words.get(n, "none") if value is None else value for n, value in report.items()}
        show(pd.DataFrame([report], dtype=object), as_json, upright=True)
    if figure is not None:
        from abovechance.shown import baselines

        prompt_counts = sorted({1, 10, 100, 1000, prompts or 1})
        write_figure(baselines.plan, baselines.plan_numbers(single_chance, prompt_counts), figure)


def _limits(
    guesser: RandomBaseline, prompts: int | None, accuracy: float | None, alpha: float
) -> dict[str, float | None]:
    """Return what a known number of examples allows.

    The largest number of prompts is None if it is unlimited, a least accuracy if not even 1 is enough.
    """
    limits: dict[str, float | None] = {}
    if accuracy is not None:
        limits["prompts_allowed"] = planning.prompts_allowed(guesser, accuracy)
    if prompts is not None:
        limits |= expected_accuracies(guesser, prompts)
        limits["least_accuracy_above_maximum_baseline"] = planning.least_above(guesser, prompts)
        limits[f"least_accuracy_at_alpha_{alpha:g}"] = planning.least_significant(guesser, prompts, alpha)
    return limits


def _plan_search(
    candidates: int,
    difference: float | None,
    accuracy: float | None,
    correlation: float | None,
    alpha: float | None,
) -> pd.DataFrame:
    """Return the number of validation examples of a search, as one row."""
    from abovechance.best.planning import POWER, examples_for_difference, largest_correlation

    if difference is None:
        raise InputError("--candidates needs --difference, such as --difference 0.05")
    plan: dict[str, Any] = {
        "difference": difference,
        "candidates": candidates,
        "accuracy": 0.5 if accuracy is None else accuracy,
        "correlation": 0.5 if correlation is None else correlation,
        "alpha": ALPHA if alpha is None else alpha,
    }
    examples = examples_for_difference(**plan)
    possible = largest_correlation(plan["accuracy"], min(plan["accuracy"] + difference, 1.0))
    if plan["correlation"] > possible:
        tell_note(f"answers with these accuracies correlate by at most {possible:.3f}, so this is assumed")
        plan["correlation"] = possible
    return pd.DataFrame([plan | {"power": POWER, "examples_needed": examples}], dtype=object)


@app.command(
    epilog=example_lines(
        "abovechance power -c 2 -n 100 -t 20 --accuracy 0.6",
        "abovechance power -c 2 -t 20 --accuracy 0.6 --target-power 0.9",
    )
)
def power(
    accuracy: Annotated[
        float,
        typer.Option(
            "--accuracy",
            "-a",
            min=0,
            max=1,
            callback=finite,
            help="True accuracy of the prompts that are better than chance.",
        ),
    ],
    chance: Chance = None,
    choices: Choices = None,
    examples: Examples = None,
    prompts: Prompts = 1,
    better: Annotated[
        int, typer.Option(min=1, help="Number of prompts with this true accuracy; the others guess.")
    ] = 1,
    alpha: Alpha = None,
    target_power: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=0.999,
            callback=finite,
            help="Target power, if --examples is not given.  [default: 0.8]",
        ),
    ] = None,
    figure: FigureFile = None,
    as_json: Json = False,
) -> None:
    """Compute the power to find a prompt that is better than chance.

    With one chance and without --examples, compute the number of examples that reaches the target power.
    """
    alpha = ALPHA if alpha is None else alpha
    report: dict[str, Any] = {"accuracy": accuracy, "prompts": prompts, "better": better, "alpha": alpha}
    if figure is not None:
        single_chance = chance_of_figure(chance, choices)
    if examples is None and not (choices and ":" in choices):
        single_chance = one_chance(chance, choices)
        target_power = 0.8 if target_power is None else target_power
        report["target_power"] = target_power
        examples = planning.examples_for_power(single_chance, accuracy, prompts, better, alpha, target_power)
        report["examples_needed"] = examples
    else:
        refuse(
            {"--target-power": target_power},
            "with --examples or a mixture of choices, because the command then computes the power",
        )
        guesser = random_baseline(examples, chance, choices)
        report["power"] = planning.power(guesser, accuracy, prompts, better, alpha)
    show(pd.DataFrame([report], dtype=object), as_json, upright=True)
    if figure is not None:
        from abovechance.shown import baselines

        accuracies = np.linspace(single_chance, min(1.0, single_chance + 0.4), 41).tolist()
        numbers = planning.power_curve(
            single_chance, [examples or 100], sorted({1, 10, 100, prompts}), accuracies, alpha, better
        )
        write_figure(partial(baselines.power_lines, better=better, target=target_power), numbers, figure)
