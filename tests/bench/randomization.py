"""How often the randomization test rejects: under the null at the stated rate, else more than others do.

Each study has 299 draws of the gold answers (`make validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from abovechance import Answers, RandomBaseline, randomization_test

EXAMPLES, PROMPTS = 60, 20
Generator = np.random.Generator
Draw = Callable[[Generator], Answers]


def answers(
    predicted: np.ndarray,
    gold: np.ndarray,
    shared: bool = False,
    texts: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
) -> Answers:
    """Predictions (prompts, examples) among two choices, of which one is correct."""
    return Answers(
        predicted=predicted,
        evaluated=np.ones(predicted.shape, bool),
        correct=gold[:, None] == np.arange(2),
        available=np.ones((len(gold), 2), bool),
        shared=shared,
        texts=texts,
        cluster=cluster,
    )


def correlated_answers(
    generator: Generator, common: np.ndarray, share: float = 0.8, prompts: int = PROMPTS
) -> np.ndarray:
    """Predictions of prompts that give a common answer in a share of cases, and any else."""
    identical = generator.random((prompts, EXAMPLES)) < share
    return np.where(identical, common, generator.integers(0, 2, (prompts, EXAMPLES)))


def leaning(generator: Generator, share: float) -> np.ndarray:
    """Labels that are 0 in a share of cases, on the whole."""
    return (generator.random(EXAMPLES) >= share).astype(int)


def in_clusters(values: np.ndarray, size: int) -> np.ndarray:
    """The same value for all examples of a cluster."""
    return np.repeat(values[: EXAMPLES // size], size)


def one_shared(generator: Generator, gold: float, predicted: float) -> Answers:
    """One label stands in every set of choices, beside an example's own: gold and prompts lean to it."""
    texts = np.column_stack([np.zeros(EXAMPLES, int), 1 + np.arange(EXAMPLES)])
    return answers(
        correlated_answers(generator, leaning(generator, predicted)), leaning(generator, gold), texts=texts
    )


def two_sets(generator: Generator) -> Answers:
    """Half of the examples have one set of two labels, half another; gold and prompts lean in each."""
    texts = np.where(np.arange(EXAMPLES)[:, None] % 2, [2, 3], [0, 1])
    return answers(
        correlated_answers(generator, leaning(generator, 0.7)), leaning(generator, 0.7), texts=texts
    )


def label_pairs(generator: Generator, size: int) -> Answers:
    """Each two labels stand in few examples; gold and prompts lean to the first."""
    texts = 2 * (np.arange(EXAMPLES)[:, None] // size) + np.arange(2)
    return answers(
        correlated_answers(generator, leaning(generator, 0.9)), leaning(generator, 0.8), texts=texts
    )


def pool(generator: Generator, labels: int, weight: float) -> Answers:
    """Four of a pool of labels stand in each set; gold and prompts lean to a quarter of the pool."""
    weights = np.where(np.arange(labels) < labels // 4, weight, 1.0)
    texts = generator.random((EXAMPLES, labels)).argsort(axis=1)[:, :4]
    shares = weights[texts].cumsum(axis=1) / weights[texts].sum(axis=1, keepdims=True)
    sample = (generator.random((PROMPTS + 2, EXAMPLES, 1)) > shares).sum(axis=2)
    gold, common, rows = sample[0], sample[1], sample[2:]
    return Answers(
        predicted=np.where(generator.random(rows.shape) < 0.8, common, rows),
        evaluated=np.ones(rows.shape, bool),
        correct=gold[:, None] == np.arange(4),
        available=np.ones((EXAMPLES, 4), bool),
        shared=False,
        texts=texts,
    )


def other_answers(generator: Generator, skill: float = 0.0) -> Answers:
    """Four choices each: the example's answer, and three that are other examples' answers."""
    answer = np.arange(EXAMPLES) % (EXAMPLES // 2)
    remaining = [
        generator.choice(np.setdiff1d(answer, [gold_answer]), 3, replace=False) for gold_answer in answer
    ]
    order = generator.permuted(np.tile(np.arange(4), (EXAMPLES, 1)), axis=1)
    texts = np.take_along_axis(np.column_stack([answer, remaining]), order, axis=1)
    gold = (order == 0).argmax(axis=1)
    common = np.where(generator.random(EXAMPLES) < skill, gold, generator.integers(0, 4, EXAMPLES))
    identical = generator.random((PROMPTS, EXAMPLES)) < 0.8
    return Answers(
        predicted=np.where(identical, common, generator.integers(0, 4, identical.shape)),
        evaluated=np.ones(identical.shape, bool),
        correct=gold[:, None] == np.arange(4),
        available=np.ones((EXAMPLES, 4), bool),
        shared=False,
        texts=texts,
    )


def pool_of_pairs(generator: Generator) -> Answers:
    """Pairs of examples with the same three of six labels and gold answer; prompts lean to two labels."""
    texts = np.repeat(generator.permuted(np.tile(np.arange(6), (EXAMPLES // 2, 1)), axis=1)[:, :3], 2, axis=0)
    weights = np.where(texts < 2, 3.0, 1.0)
    shares = weights.cumsum(axis=1) / weights.sum(axis=1, keepdims=True)
    sample = np.repeat((generator.random((2, EXAMPLES // 2, 1)) > shares[::2]).sum(axis=2), 2, axis=1)
    predicted = np.where(
        generator.random((PROMPTS, EXAMPLES)) < 0.9, sample[1], generator.integers(0, 3, (PROMPTS, EXAMPLES))
    )
    return Answers(
        predicted=predicted,
        evaluated=np.ones(predicted.shape, bool),
        correct=sample[0][:, None] == np.arange(3),
        available=np.ones((EXAMPLES, 3), bool),
        shared=False,
        texts=texts,
        cluster=np.arange(EXAMPLES) // 2,
    )


def two_correct(generator: Generator) -> Answers:
    """Two of five choices are correct, from a pool of twelve; gold and prompts lean to three labels."""
    texts = generator.random((EXAMPLES, 12)).argsort(axis=1)[:, :5]
    weights = np.where(texts < 3, 4.0, 1.0)

    def chosen(number: int) -> np.ndarray:
        # the probability of a set is in proportion to the product of its weights
        sets = np.array([*combinations(range(5), number)])
        odds = weights[:, sets].prod(axis=2)
        shares = odds.cumsum(axis=1) / odds.sum(axis=1, keepdims=True)
        return sets[(generator.random((EXAMPLES, 1)) > shares).sum(axis=1)]

    common = chosen(1)[:, 0]
    identical = generator.random((PROMPTS, EXAMPLES)) < 0.8
    return Answers(
        predicted=np.where(identical, common, generator.integers(0, 5, identical.shape)),
        evaluated=np.ones(identical.shape, bool),
        correct=(chosen(2)[:, :, None] == np.arange(5)).any(axis=1),
        available=np.ones((EXAMPLES, 5), bool),
        shared=False,
        texts=texts,
    )


def groups(generator: Generator, size: int, shared: bool) -> Answers:
    """Examples in clusters of the same gold answer, of which prompts give the same answer."""
    gold = in_clusters(leaning(generator, 0.6) if shared else generator.integers(0, 2, EXAMPLES), size)
    common = in_clusters(generator.integers(0, 2, EXAMPLES), size)
    return answers(
        correlated_answers(generator, common, 0.95), gold, shared, cluster=np.arange(EXAMPLES) // size
    )


def swapped(generator: Generator) -> Answers:
    """Pairs with parts swapped: the other answer is correct, and prompts give the other answer too."""
    flip = np.arange(EXAMPLES) % 2
    gold = in_clusters(generator.integers(0, 2, EXAMPLES), 2) ^ flip
    common = in_clusters(generator.integers(0, 2, EXAMPLES), 2) ^ flip
    return answers(correlated_answers(generator, common, 0.95), gold, True, cluster=np.arange(EXAMPLES) // 2)


def skilled(generator: Generator, share: float, texts: bool = False) -> Answers:
    """40 prompts of one skill (68 % right) that give the same answer in this share of cases."""
    gold = generator.integers(0, 2, EXAMPLES)
    common = np.where(generator.random(EXAMPLES) < 0.36, gold, generator.integers(0, 2, EXAMPLES))
    own_answers = generator.random((40, EXAMPLES)) < 0.36
    values = np.where(own_answers, gold, generator.integers(0, 2, (40, EXAMPLES)))
    first = np.column_stack([np.zeros(EXAMPLES, int), 1 + np.arange(EXAMPLES)]) if texts else None
    return answers(np.where(generator.random((40, EXAMPLES)) < share, common, values), gold, texts=first)


NULLS: dict[str, Draw] = {
    "each example has separate choices": lambda g: answers(
        correlated_answers(g, leaning(g, 0.7)), g.integers(0, 2, EXAMPLES)
    ),
    "two labels for all examples, one of them 70 % of the gold answers and of the predictions": lambda g: (
        answers(correlated_answers(g, leaning(g, 0.7)), leaning(g, 0.7), shared=True)
    ),
    "one label in each set of choices, 70 % of the gold answers and of the predictions": lambda g: one_shared(
        g, 0.7, 0.7
    ),
    "one label in each set of choices, 50 % of the gold answers, 90 % of the predictions": lambda g: (
        one_shared(g, 0.5, 0.9)
    ),
    "one label in each set of choices, 80 % of the gold answers, 90 % of the predictions": lambda g: (
        one_shared(g, 0.8, 0.9)
    ),
    "two sets of two labels, one of each set 70 % of the gold answers and of the predictions": two_sets,
    "15 pairs of labels, the first 80 % of the gold answers, 90 % of the predictions": lambda g: label_pairs(
        g, 4
    ),
    "four choices of 12 labels; 3 are correct, and predicted, 3 times as often as the others": lambda g: pool(
        g, 12, 3
    ),
    "four choices of 20 labels; 5 are correct, and predicted, 5 times as often as the others": lambda g: pool(
        g, 20, 5
    ),
    "four choices: the gold answer, and those of three other examples": other_answers,
    "five choices of 12 labels, two of them correct": two_correct,
    "clusters of two examples with the same three choices of 6 labels (90 % equal)": pool_of_pairs,
    "clusters of two examples, separate choices (95 % equal)": lambda g: groups(g, 2, False),
    "clusters of four examples, separate choices (95 % equal)": lambda g: groups(g, 4, False),
    "clusters of two examples, two labels for all (95 % equal)": lambda g: groups(g, 2, True),
    "clusters of four examples, two labels for all (95 % equal)": lambda g: groups(g, 4, True),
    "clusters of two examples; in the second, parts are swapped and the other label is correct": swapped,
}
SKILLS: dict[str, Draw] = {
    "independent": lambda g: skilled(g, 0.0),
    "50 % equal": lambda g: skilled(g, 0.5),
    "95 % equal": lambda g: skilled(g, 0.95),
    "95 % equal; one label in each set of choices": lambda g: skilled(g, 0.95, texts=True),
    "20 prompts, 80 % equal; choices are gold answers of other examples, 30 % known": lambda g: other_answers(
        g, 0.3
    ),
}


def rejections(draw: Draw, studies: int, statistic: str = "accuracy") -> dict[str, float]:
    """The share of studies in which each test rejects at 0.05."""
    generator = np.random.default_rng(0)
    results = []
    for _ in range(studies):
        study, seed = draw(generator), int(generator.integers(2**31))
        p_value = randomization_test(study, seed, 299, statistic).p_value
        plain = randomization_test(replace(study, texts=None, cluster=None), seed, 299, statistic).p_value
        rejected = {"randomization test": p_value, "that ignores shared labels and clusters": plain}
        if statistic == "accuracy":
            best, prompts = int(study.is_correct.sum(axis=1).max()), len(study.predicted)
            baseline = RandomBaseline.from_chance(float(study.chance.mean()), EXAMPLES)
            rejected["maximum tail"] = baseline.tail(best, prompts)
            rejected["Bonferroni correction"] = prompts * baseline.tail(best)
        results.append({name: float(value <= 0.05) for name, value in rejected.items()})
    return pd.DataFrame(results).mean().to_dict()


def nulls(studies: int) -> Iterator[dict[str, object]]:
    """Prompts without skill: at most 0.05 is right."""
    for name, draw in NULLS.items():
        yield {"20 prompts without skill, 80 % equal": name, **rejections(draw, studies)}
    name = "two labels for all examples, one of them 70 % of the gold answers and of the predictions"
    macro = rejections(NULLS[name], studies, "macro_f1")
    yield {"20 prompts without skill, 80 % equal": f"{name}; macro F1", **macro}


def skills(studies: int) -> Iterator[dict[str, object]]:
    """Prompts with a true accuracy of 68 %: the power."""
    for name, draw in SKILLS.items():
        yield {"40 prompts with a true accuracy of 68 %": name, **rejections(draw, studies)}
