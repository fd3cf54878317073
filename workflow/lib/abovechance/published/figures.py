"""The paper's figures of released predictions: which settings each shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from abovechance.chance.agreement import agreement, curves, most_prompts
from abovechance.chance.verdicts import verdicts
from abovechance.core.settings import SETTING
from abovechance.shown.expected_maximum import expected_maximum, expected_maximum_numbers
from abovechance.shown.guessers import guessers, guessers_numbers
from abovechance.shown.roc import agreement_curves, roc_by_prompts, roc_by_prompts_numbers

Drawn = Iterator[tuple[str, Figure, pd.DataFrame]]


def shown(accuracy: pd.DataFrame, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The model, task, shots and tasks that are shown: those asked for where there are such.

    Parameters
    ----------
    asked
        Of ``model``, ``task``, ``shots`` and ``tasks``. Of what is left out, or not in the
        data of what is named before it, the first is taken.
    """
    rows, found = accuracy, {}
    for name in SETTING:
        there = rows[name].unique().tolist()
        found[name] = asked[name] if asked.get(name) in there else there[0]
        rows = rows[rows[name] == found[name]]
    of_model = accuracy[accuracy["model"] == found["model"]]["task"].unique().tolist()
    tasks = [task for task in asked.get("tasks", []) if task in of_model]
    return found | {"tasks": tasks or of_model[:4]}


def draw(
    accuracy: pd.DataFrame, outcomes: pd.DataFrame, asked: Mapping[str, Any], pairs: Mapping[str, str]
) -> Drawn:
    """Figures 1, 3, 4, 5 and 10 of the paper: name, figure and plotted numbers of each.

    Parameters
    ----------
    accuracy
        The table ``accuracy``.
    outcomes
        The released outcomes on held-out data, or own ones.
    asked
        See ``shown``.
    pairs
        {base model: the instruction-tuned model made from it}.
    """
    chosen = shown(accuracy, asked)
    of_model = accuracy[accuracy["model"] == chosen["model"]]
    one = of_model[(of_model["task"] == chosen["task"]) & (of_model["shots"] == chosen["shots"])]
    numbers = guessers_numbers(one)
    yield "guessers", guessers(numbers, verdicts(one).iloc[0]), numbers
    some = of_model[of_model["task"].isin(chosen["tasks"])]
    order = {task: place for place, task in enumerate(chosen["tasks"])}
    some = some.sort_values("task", key=lambda tasks: tasks.map(order), kind="stable")
    numbers = expected_maximum_numbers(some)
    yield "chosen_tasks", expected_maximum(numbers), numbers
    numbers = pair_numbers(accuracy[accuracy["task"] == chosen["task"]], pairs, ("pair", "shots", "tuned"))
    yield "base_and_tuned", expected_maximum(numbers, panel="pair"), numbers
    ranked = outcomes if "maximum_log_below" in outcomes else _with_scores(outcomes)
    numbers = curves(most_prompts(ranked)).assign(of="prompts")
    yield (
        "published_agreement",
        agreement_curves(numbers, agreement(most_prompts(ranked), [])),
        numbers,
    )
    numbers = roc_by_prompts_numbers(ranked)
    yield "roc_by_prompts", roc_by_prompts(numbers), numbers


def draw_pair(accuracy: pd.DataFrame, base: str, tuned: str | None) -> Drawn:
    """All results of a base model and the one that was tuned from it (full results of the paper)."""
    numbers = pair_numbers(accuracy, {base: tuned or ""}, ("task", "shots", "tuned"))
    yield f"pair_{base}", expected_maximum(numbers), numbers


def pair_numbers(accuracy: pd.DataFrame, pairs: Mapping[str, str], by: tuple[str, ...]) -> pd.DataFrame:
    """Expected maxima of base and tuned models; a model without a pair is a base model."""
    base_of = {tuned: base for base, tuned in pairs.items()}
    models = accuracy["model"].astype(str)
    name = models.map(lambda model: base_of.get(model, model))
    there = set(models)
    label = {base: f"{base} / {pairs[base]}" if pairs.get(base) in there else base for base in name.unique()}
    table = accuracy.assign(pair=name.map(label), tuned=models.isin(base_of))
    wanted = name.isin(pairs) if pairs else name.notna()
    return expected_maximum_numbers(table[wanted], by)


def _with_scores(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Released outcomes with what ranks them: the released distribution functions."""
    with np.errstate(divide="ignore"):
        return outcomes.assign(
            standard_log_below=np.log(outcomes["standard_cdf"]),
            maximum_log_below=np.log(outcomes["maximum_cdf"]),
        )
