"""Stored scores once more, as if examples had been evaluated one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats

from abovechance.chance.random_baseline import RandomBaseline
from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.columns import Column
from abovechance.core.estimates import ALPHA
from abovechance.items.adaptive import WAYS, begin, replay
from abovechance.items.matrices import Matrix
from abovechance.items.questions import Question, better_of_two, better_than
from abovechance.items.response_theory import Items, fit
from abovechance.items.splits import at_random, by_group

PAIRS = 20  # of models, at most
REPLAYS = {
    "question": Column.text("the decision that the evaluation must reach"),
    "way": Column.text("method for choosing the next example"),
    "evaluations": Column.whole("number of decisions replayed"),
    "examples": Column.number("mean number of examples that are evaluated until the decision"),
    "available": Column.number("mean number of examples that could be evaluated"),
    "share": Column.share(
        "share of the available examples evaluated until the decision, averaged over decisions"
    ),
    "wrong": Column.share("share of decisions that differ from the decision after all examples"),
    "wrong_limit": Column.share(
        "upper 95 % confidence bound for the share of wrong decisions (Clopper and Pearson)"
    ),
}
STANDARD, MAXIMUM, MODELS = "above the standard baseline", "above the maximum baseline", "which of two models"


class Replay(NamedTuple):
    """One evaluation that was replayed."""

    question: str
    way: str
    examples: int
    available: int
    wrong: bool


def replays(
    matrix: Matrix,
    groups: Mapping[str, str],
    chance: Mapping[str, float],
    prompts: int,
    alpha: float = ALPHA,
    seed: int = 0,
) -> pd.DataFrame:
    """Return how many examples decide a verdict against chance, and which of two models is better.

    The item response model is fitted to models of other groups, as for a model that is new.

    Parameters
    ----------
    matrix
        Responses of 0 and 1.
    groups
        {model: its training}, which is held out as a whole.
    chance
        {example: chance of a lucky guess}.
    prompts
        Number of prompts of each setting, chosen at random; two models that are compared have the same
        number.
    alpha
        The most that a wrong decision may be probable.

    Returns
    -------
    DataFrame
        One row per question and way (``adaptive.WAYS``); see ``of_task.ADAPTIVE``.
    """
    outcomes = [*_all_replays(matrix, groups, chance, prompts, alpha, seed)]
    rows = []
    for (question, way), group in pd.DataFrame(outcomes, columns=Replay._fields).groupby(
        ["question", "way"], sort=False
    ):
        count, wrong = len(group), int(group["wrong"].sum())
        rows.append(
            [
                *(question, way, count, group["examples"].mean(), group["available"].mean()),
                *((group["examples"] / group["available"]).mean(), wrong / count, most_wrong(wrong, count)),
            ]
        )
    return pd.DataFrame(rows, columns=[*REPLAYS])


def most_wrong(wrong: int, count: int) -> float:
    """Return the upper 95 % confidence bound of the share of wrong decisions (Clopper and Pearson)."""
    return float(stats.beta.ppf(0.95, wrong + 1, count - wrong)) if wrong < count else 1.0


def _all_replays(
    matrix: Matrix,
    groups: Mapping[str, str],
    chance: Mapping[str, float],
    prompts: int,
    alpha: float,
    seed: int,
) -> Iterator[Replay]:
    rows = matrix.rows
    of_row = rows["model"].map(groups).to_numpy()
    chances = np.array([chance[example] for example in matrix.examples])
    prompts_tried = rows.groupby(["model", "shots"])["prompt"].transform("size").to_numpy()
    generator = np.random.default_rng(seed)
    chosen = np.zeros(len(rows), dtype=bool)
    for places in rows.groupby(["model", "shots"], sort=False).indices.values():
        chosen[generator.permutation(places)[:prompts]] = True
    for train, test in _halves(of_row, seed):
        trained = _Trained.on(matrix.scores[train])
        for place in test[chosen[test]]:
            scores = matrix.scores[place]
            mask = np.isfinite(scores) & trained.known_items
            if mask.any():
                baseline = RandomBaseline(chances[mask])
                count = int(mask.sum())
                named = {STANDARD: baseline.standard, MAXIMUM: baseline.maximum(int(prompts_tried[place]))}
                for name, value in named.items():
                    question = better_than(value, count)
                    yield from trained.each_way(name, question, mask, [scores], alpha, seed + int(place))
    yield from _two_models(matrix, of_row, prompts, alpha, generator, seed)


def _halves(of_row: NDArray[np.object_], seed: int) -> list[tuple[Ints, Ints]]:
    """The rows to fit to and those to replay, model by model; where there is one, its prompts by halves."""
    if len(set(of_row)) > 1:
        return [*by_group(of_row.tolist(), seed=seed)]
    if len(of_row) < 2:
        return []
    first, second = at_random(len(of_row), 0.5, seed)
    return [(first, second), (second, first)]


def _two_models(
    matrix: Matrix, of_row: NDArray[np.object_], prompts: int, alpha: float, generator: Generator, seed: int
) -> Iterator[Replay]:
    """Yield pairs of models of different groups, where others are left to fit to: the same prompts."""
    rows = matrix.rows
    group_of = dict(zip(rows["model"], of_row, strict=True))
    pairs = [pair for pair in combinations(group_of, 2) if group_of[pair[0]] != group_of[pair[1]]]
    if len(set(of_row)) < 3:
        return
    for number in generator.permutation(len(pairs))[:PAIRS]:
        first_pair, second_pair = pairs[number]
        trained = _Trained.on(matrix.scores[~np.isin(of_row, [group_of[first_pair], group_of[second_pair]])])
        sides = [rows[rows["model"] == model].reset_index() for model in (first_pair, second_pair)]
        common_prompts = sides[0].merge(sides[1], on=["shots", "prompt"])[["index_x", "index_y"]].to_numpy()
        for first, second in generator.permutation(common_prompts)[:prompts]:
            scores = [matrix.scores[first], matrix.scores[second]]
            mask = np.isfinite(scores).all(axis=0) & trained.known_items
            if mask.any():
                yield from trained.each_way(MODELS, better_of_two(), mask, scores, alpha, seed + int(first))


class _Trained(NamedTuple):
    """The model that is fitted to some rows, and of which items it is."""

    items: Items
    known_items: Bools

    @classmethod
    def on(cls, train: Floats) -> _Trained:
        mask = np.isfinite(train).sum(axis=0) > 0
        responses = train[:, mask]
        return cls(fit(responses[np.isfinite(responses).any(axis=1)]), mask)

    def each_way(
        self, name: str, question: Question, mask: Bools, responses: list[Floats], alpha: float, seed: int
    ) -> Iterator[Replay]:
        """Replay the responses that are there by each way."""
        responses_known = [scores[mask] for scores in responses]
        truth = question.answer(
            float(sum(responses_known[0] - responses_known[1]))
            if len(responses_known) > 1
            else float(responses_known[0].sum())
        )
        items = self.items.only(mask[self.known_items])
        for way in WAYS:
            outcome = replay(begin(question, int(mask.sum()), items, way, alpha, seed), *responses_known)
            yield Replay(name, way, len(outcome.evaluated), int(mask.sum()), outcome.decision != truth)
