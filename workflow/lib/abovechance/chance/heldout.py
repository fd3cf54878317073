"""Does the best prompt hold up on held-out data, and which baseline foresees it?

For each of many seeded splits of a setting's examples, the prompt with the best
validation accuracy among t is chosen (the first on ties). Being above a baseline
on the validation split predicts being above the standard baseline on the
held-out test split (Yauney and Mimno, 2024, Section 5.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from abovechance.chance.baselines import BASELINES, TriedPrompts, compared, expected_columns, tail_columns
from abovechance.chance.best_of import is_above
from abovechance.chance.random_baseline import RandomBaseline
from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.columns import Column
from abovechance.core.resampling import clusters_of_names, of_share
from abovechance.core.settings import Setting, setting_of
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.results.response_matrix import ResponseMatrix

OUTCOMES = TableSchema(
    "outcomes",
    {
        **setting_columns(),
        "split": Column.whole("number of the split, from 0"),
        "requested_prompts": Column.whole("requested number of prompts to choose from"),
        "prompts": Column.whole(
            "actual number of prompts to choose from; lower than requested_prompts if fewer prompts exist"
        ),
        "prompt": Column.whole(
            "number of the chosen prompt, which has the best validation accuracy, or the best standardized "
            "score if prompts have different examples; on ties, the lowest number"
        ),
        "validation_examples": Column.whole(
            "number of validation examples on which the chosen prompt is evaluated"
        ),
        "validation_accuracy": Column.share("accuracy of the chosen prompt on the validation split"),
        **expected_columns(),
        **tail_columns(),
        **{
            baseline.log_below_column: Column.number(
                f"log(1 - {baseline.tail_column}), which still differs between tails that round to 1"
            )
            for baseline in BASELINES
        },
        **{
            baseline.above_column: Column.flag(f"whether the validation accuracy is above {baseline.column}")
            for baseline in BASELINES
        },
        "test_examples": Column.whole(
            "number of held-out test examples on which the chosen prompt is evaluated"
        ),
        "test_accuracy": Column.share("accuracy of the chosen prompt on the test split"),
        "test_baseline": Column.share("expected accuracy of one random guesser on the test split"),
        "above_on_test": Column.flag("whether test_accuracy is above test_baseline"),
    },
    "One row per setting, split and number of prompts.",
    file="heldout/outcomes/<model>.parquet",
)

GUESSERS = TableSchema(
    "guessers",
    {
        **OUTCOMES.columns,
        "set": Column.whole(
            "number of the set of random guessers, from 0; the analysis is repeated with each set"
        ),
    },
    "Like heldout/outcomes, but each prompt is replaced by a random guesser. One row per setting, split, "
    "number of prompts and set of guessers.",
    file="heldout/guessers/<model>.parquet",
)

# Where more different baselines than this come together, splits are taken in smaller groups.
FEW_BASELINES = 64


@dataclass(frozen=True)
class Part:
    """One part, validation or test, of every split.

    Attributes
    ----------
    correct
        (prompts, splits) examples that a prompt gets right.
    counts
        (prompts, splits, chances) examples that it is evaluated on, by their chance.
    chances
        (chances,) the different chances of a lucky guess.
    taken_for
        The baseline that all prompts are taken to have, if not their own.
    """

    correct: Ints
    counts: Ints
    chances: Floats
    taken_for: RandomBaseline | None = None

    @cached_property
    def size(self) -> Ints:
        """(prompts, splits) examples that a prompt is evaluated on."""
        return self.counts.sum(axis=-1)

    @cached_property
    def accuracy(self) -> Floats:
        """(prompts, splits) accuracy; 0 where a prompt has no example."""
        return np.divide(self.correct, self.size, out=np.zeros(self.correct.shape), where=self.size > 0)

    @cached_property
    def standard(self) -> Floats:
        """(prompts, splits) the standard random baseline; 0 where a prompt has no example."""
        lucky = self.counts @ self.chances
        return np.divide(lucky, self.size, out=np.zeros(lucky.shape), where=self.size > 0)

    def scale(self, standardized: bool) -> tuple[Floats, Floats]:
        """(prompts, splits) how many correct examples a score of 0 is, and how many more each 1 of it."""
        if not standardized:
            return np.zeros(self.size.shape), np.maximum(self.size, 1).astype(np.float64)
        variance = self.counts @ (self.chances * (1 - self.chances))
        # who cannot but be at the mean is at 0
        return self.counts @ self.chances, np.sqrt(np.where(variance > 0, variance, 1.0))

    @cached_property
    def baselines(self) -> tuple[list[RandomBaseline], Ints]:
        """The different random baselines, and (prompts, splits) which of them is a prompt's."""
        if self.taken_for is not None:
            return [self.taken_for], np.zeros(self.correct.shape, dtype=np.int64)
        rows = self.counts.reshape(-1, len(self.chances))
        first, baseline_of = _different(rows)
        of_groups = [
            RandomBaseline.from_counts(dict(zip(self.chances.tolist(), counts.tolist(), strict=True)))
            if counts.any()
            else RandomBaseline.from_chance(0.0, 1)  # no example: never chosen from
            for counts in rows[first]
        ]
        return of_groups, baseline_of.reshape(self.correct.shape)

    def of_splits(self, splits: slice) -> Part:
        """Return the part of some of the splits."""
        return Part(self.correct[:, splits], self.counts[:, splits], self.chances, self.taken_for)


def _different(rows: Ints) -> tuple[Ints, Ints]:
    """Return the places of the different rows, and (rows,) which of them each is."""
    sizes = rows.max(axis=0) + 1
    # one number for each row is far faster to sort, where 63 binary digits hold it
    if np.log2(sizes.astype(np.float64)).sum() < 62:
        keys = rows @ np.cumprod([1, *sizes[:-1]]).astype(np.int64)
        _, first, group_of = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, group_of = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, group_of.ravel()  # numpy 2.0 returns another shape


def parts(matrix: ResponseMatrix, chosen: Bools) -> tuple[Part, Part]:
    """Return the counts of each prompt on the validation examples of each split, and on the others.

    Parameters
    ----------
    chosen
        (splits, examples) whether an example is chosen.
    """
    columns = chosen.T.astype(np.float32)  # counts below 2^24 are exact
    correct_counts = (matrix.correct.astype(np.float32) @ columns).astype(np.int64)
    chances, kinds = np.unique(matrix.chance, return_inverse=True)
    of_kind = kinds[:, None] == np.arange(len(chances))
    counts = np.broadcast_to(chosen.astype(np.int64) @ of_kind, (*correct_counts.shape, len(chances)))
    _, total = matrix.counts
    # most prompts are evaluated on most examples, or on all
    if len(missing := np.flatnonzero(~matrix.evaluated.all(axis=0))):
        lacks = ~matrix.evaluated[:, missing, None] & of_kind[missing]
        counts = counts - np.einsum("pek,es->psk", lacks, columns[missing], optimize=True).astype(np.int64)
    remaining = matrix.correct.sum(axis=1)[:, None] - correct_counts
    return Part(correct_counts, counts, chances), Part(remaining, total[:, None] - counts, chances)


def outcomes(
    matrix: ResponseMatrix,
    setting: Setting,
    seed: int,
    splits: int,
    validation: float,
    prompt_counts: Sequence[int],
    whole_split: bool = False,
    clusters: Ints | None = None,
) -> pd.DataFrame:
    """Return one row for every split and number of prompts tried: the columns of ``outcomes``.

    Parameters
    ----------
    setting
        With the seed it decides the splits. More splits leave the earlier ones as they are.
    validation
        Share of the examples in the validation split, rounded down to whole examples; with ``clusters``, of
        the clusters.
    prompt_counts
        Numbers of prompts to choose from. Above the number that exist, all are tried. Below
        it, the prompts are drawn anew for each split.
    whole_split
        Whether the validation baselines are those of the whole split, also for prompts that
        are evaluated on less of it, and the mean chance is that of every example (the paper's
        way), and not those of each prompt's own examples. It is for examples without clusters.
    clusters
        (examples,) the same number for examples that belong together, from 0: they are in the same part of a
        split. Each is by itself unless given.

    If prompts have very different examples (``ResponseMatrix.uneven``), the best prompt is the one with the
    highest standardized score, as in ``Verdict.from_prompts``. With ``whole_split``, accuracies decide.
    """
    prompts, examples = matrix.correct.shape
    number, cluster = (examples, slice(None)) if clusters is None else (int(clusters.max()) + 1, clusters)
    chosen = np.zeros((splits, number), dtype=bool)
    places = _shuffled(setting.seed(seed, "examples"), splits, number)
    np.put_along_axis(chosen, places[:, : of_share(number, validation)], True, axis=1)
    chosen = chosen[:, cluster]
    order = _shuffled(setting.seed(seed, "prompts"), splits, prompts)
    on_validation, on_test = parts(matrix, chosen)
    if whole_split:
        taken_for = RandomBaseline.from_chance(float(matrix.chance.mean()), of_share(examples, validation))
        on_validation = replace(on_validation, taken_for=taken_for)
    standardized = not whole_split and matrix.uneven(setting.shots)
    table = _outcomes(on_validation, on_test, order, np.array(prompt_counts), standardized)
    return table.assign(prompt=matrix.prompts[table["prompt"]])


def _shuffled(seed: int, rows: int, length: int) -> Ints:
    """(rows, length) a shuffle of 0, 1, ... in each row, decided by the seed."""
    generator = np.random.default_rng(seed)
    return np.argsort(generator.random((rows, length)), axis=1)


def _outcomes(
    on_validation: Part, on_test: Part, order: Ints, prompt_counts: Ints, standardized: bool
) -> pd.DataFrame:
    """Return the outcomes of all splits where (splits, prompts) ``order`` is that of trying prompts."""
    baselines, baseline_of = on_validation.baselines
    splits = len(order)
    if len(baselines) > FEW_BASELINES and splits > 1:
        tables = []
        for half in (slice(0, splits // 2), slice(splits // 2, splits)):
            halves = on_validation.of_splits(half), on_test.of_splits(half)
            part = _outcomes(*halves, order[half], prompt_counts, standardized)
            tables.append(part.assign(split=part["split"] + half.start))
        return pd.concat(tables, ignore_index=True)
    # In a tiny task, a prompt's own demonstrations can use up a part: such prompts come last.
    usable = ((on_validation.size > 0) & (on_test.size > 0)).T
    order = np.take_along_axis(order, np.argsort(~np.take_along_axis(usable, order, 1), 1, "stable"), 1)
    exist = usable.sum(axis=1)
    split, count_place = (index.ravel() for index in np.indices((splits, len(prompt_counts))))
    many = np.minimum(prompt_counts[count_place], exist[split])
    split, count_place, many = (
        split[many > 0],
        count_place[many > 0],
        many[many > 0],
    )  # none where a part is empty
    centre, unit = on_validation.scale(standardized)
    scores = (on_validation.correct - centre) / unit
    best = _first_best(scores.T, order)[split, many - 1]
    among = np.take_along_axis(baseline_of.T, order, 1)[:, :, None] == np.arange(len(baselines))
    is_baseline = baseline_of.T[split, best][:, None] == np.arange(len(baselines))
    counts = np.cumsum(among, axis=1)[split, many - 1]
    choice = TriedPrompts(baselines, is_baseline.astype(np.int64), counts, standardized)
    score = scores[best, split]
    against = compared(score, choice)
    test_accuracy = on_test.accuracy[best, split]
    return pd.DataFrame(
        {
            "split": split,
            "requested_prompts": prompt_counts[count_place],
            "prompts": many,
            "prompt": best,
            "validation_examples": on_validation.size[best, split],
            "validation_accuracy": on_validation.accuracy[best, split],
            **{baseline.column: comparison.expected for baseline, comparison in against.items()},
            **{baseline.tail_column: comparison.tail for baseline, comparison in against.items()},
            # tails near 1 are all 1 in floating point: these tell them apart
            **{baseline.log_below_column: comparison.log_below for baseline, comparison in against.items()},
            **{baseline.above_column: comparison.above for baseline, comparison in against.items()},
            "test_examples": on_test.size[best, split],
            "test_accuracy": test_accuracy,
            "test_baseline": on_test.standard[best, split],
            "above_on_test": is_above(test_accuracy, on_test.standard[best, split]),
        }
    )


def _first_best(accuracy: Floats, order: Ints) -> Ints:
    """(splits, prompts) the best of the first t + 1 prompts in order; the lowest number on ties."""
    ranking = np.argsort(-accuracy, axis=1, kind="stable")
    rank = np.empty_like(ranking)
    np.put_along_axis(rank, ranking, np.arange(ranking.shape[1])[None], axis=1)
    best_rank = np.minimum.accumulate(np.take_along_axis(rank, order, axis=1), axis=1)
    return np.take_along_axis(ranking, best_rank, axis=1)


def all_outcomes(
    settings: Iterable[pd.DataFrame],
    seed: int,
    splits: int,
    validation: float,
    prompt_counts: Iterable[int],
    whole_split: bool = False,
    clusters: Mapping[str, pd.Series[int]] | None = None,
) -> pd.DataFrame:
    """Return the table ``outcomes`` of all settings.

    Parameters
    ----------
    settings
        The predictions of one setting after another.
    seed, splits, validation, prompt_counts, whole_split
        See ``outcomes``.
    clusters
        {task: the cluster of each example}, for tasks whose clusters are known.
    """
    prompt_counts = sorted(set(prompt_counts))
    tables = []
    for predictions in settings:
        setting = setting_of(predictions)
        matrix = ResponseMatrix.from_predictions(predictions)
        of_task = (clusters or {}).get(setting.task)
        of_examples = None if of_task is None else clusters_of_names(map(str, matrix.examples), of_task)
        table = outcomes(matrix, setting, seed, splits, validation, prompt_counts, whole_split, of_examples)
        tables.append(setting.label(table))
    return OUTCOMES.together(tables)


def guessed_outcomes(
    settings: Callable[[], Iterable[pd.DataFrame]], seed: int, sets: int, **how: Any
) -> pd.DataFrame:
    """Return the table ``guessers``: outcomes of random guessers in place of prompts.

    What a validation part has, the test part lacks: guessers who do well on one do badly on the other. So
    being above a baseline foresees even less of them than nothing, and their outcomes are what those of
    prompts are to be compared with. Each set is a study of its own: agreement is that of one at a time.

    Parameters
    ----------
    settings
        Gives the predictions of one setting after another, anew each time.
    seed, how
        See ``all_outcomes``; the seed decides the guesses too.
    sets
        Number of times that all settings' prompts are replaced.
    """
    parts = [
        all_outcomes((_guessed(part, seed, number) for part in settings()), seed, **how).assign(set=number)
        for number in range(sets)
    ]
    return pd.concat(parts, ignore_index=True)


def _guessed(predictions: pd.DataFrame, seed: int, number: int) -> pd.DataFrame:
    """Return the predictions of one setting as random guessers have them right."""
    generator = np.random.default_rng(setting_of(predictions).seed(seed, f"guessers {number}"))
    lucky = generator.random(len(predictions)) < predictions["chance"].to_numpy()
    return predictions.assign(correct=lucky)
