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


def settings_shown(accuracy: pd.DataFrame, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model, task, shots and tasks that are shown: those asked for where there are such.

    Parameters
    ----------
    options
        Of ``model``, ``task``, ``shots`` and ``tasks``. Of what is left out, or not in the
        data of what is named before it, the first is taken.
    """
    rows, chosen = accuracy, {}
    for name in SETTING:
        available = rows[name].unique().tolist()
        chosen[name] = options[name] if options.get(name) in available else available[0]
        rows = rows[rows[name] == chosen[name]]
    of_model = accuracy[accuracy["model"] == chosen["model"]]["task"].unique().tolist()
    tasks = [task for task in options.get("tasks", []) if task in of_model]
    return chosen | {"tasks": tasks or of_model[:4]}


def draw(
    accuracy: pd.DataFrame, outcomes: pd.DataFrame, options: Mapping[str, Any], pairs: Mapping[str, str]
) -> Drawn:
    """Figures 1, 3, 4, 5 and 10 of the paper: name, figure and plotted numbers of each.

    Parameters
    ----------
    accuracy
        The table ``accuracy``.
    outcomes
        The released outcomes on held-out data, or own ones.
    options
        See ``shown``.
    pairs
        {base model: the instruction-tuned model made from it}.
    """
    chosen = settings_shown(accuracy, options)
    of_model = accuracy[accuracy["model"] == chosen["model"]]
    of_setting = of_model[(of_model["task"] == chosen["task"]) & (of_model["shots"] == chosen["shots"])]
    numbers = guessers_numbers(of_setting)
    yield "guessers", guessers(numbers, verdicts(of_setting).iloc[0]), numbers
    of_tasks = of_model[of_model["task"].isin(chosen["tasks"])]
    order = {task: place for place, task in enumerate(chosen["tasks"])}
    of_tasks = of_tasks.sort_values("task", key=lambda tasks: tasks.map(order), kind="stable")
    numbers = expected_maximum_numbers(of_tasks)
    yield "chosen_tasks", expected_maximum(numbers), numbers
    numbers = pair_numbers(accuracy[accuracy["task"] == chosen["task"]], pairs, ("pair", "shots", "tuned"))
    yield "base_and_tuned", expected_maximum(numbers, panel="pair"), numbers
    ranked = outcomes if "maximum_log_below" in outcomes else _with_scores(outcomes)
    numbers = curves(most_prompts(ranked)).assign(source="prompts")
    yield (
        "published_agreement",
        agreement_curves(numbers, agreement(most_prompts(ranked), [])),
        numbers,
    )
    numbers = roc_by_prompts_numbers(ranked)
    yield "roc_by_prompts", roc_by_prompts(numbers), numbers


def draw_pair(accuracy: pd.DataFrame, base: str, tuned: str | None) -> Drawn:
    """Yield all results of a base model and the one that was tuned from it (full results of the paper)."""
    numbers = pair_numbers(accuracy, {base: tuned or ""}, ("task", "shots", "tuned"))
    yield f"pair_{base}", expected_maximum(numbers), numbers


def pair_numbers(accuracy: pd.DataFrame, pairs: Mapping[str, str], by: tuple[str, ...]) -> pd.DataFrame:
    """Return expected maxima of base and tuned models; a model without a pair is a base model."""
    base_of = {tuned: base for base, tuned in pairs.items()}
    models = accuracy["model"].astype(str)
    name = models.map(lambda model: base_of.get(model, model))
    available = set(models)
    label = {
        base: f"{base} / {pairs[base]}" if pairs.get(base) in available else base for base in name.unique()
    }
    table = accuracy.assign(pair=name.map(label), tuned=models.isin(base_of))
    selected = name.isin(pairs) if pairs else name.notna()
    return expected_maximum_numbers(table[selected], by)


def _with_scores(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Released outcomes with what ranks them: the released distribution functions."""
    with np.errstate(divide="ignore"):
        return outcomes.assign(
            standard_log_below=np.log(outcomes["standard_cdf"]),
            maximum_log_below=np.log(outcomes["maximum_cdf"]),
        )
