"""The gate by loops over clusters, prompts and tasks, and every number and sentence of a result."""

from math import inf, isfinite, isnan, log, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.chance.multiplicity import adjusted
from abovechance.compare import over_tasks
from abovechance.compare.comparison import headline_of, sample_of
from abovechance.compare.gate import GATE_TASKS, GateDifference, decide, gate
from abovechance.compare.responses import Responses
from abovechance.core.errors import InputError
from abovechance.core.estimates import Spread, clustered_variance, intraclass
from tests.compare.test_gate import difference_of, of_scores, responses_of

CLUSTERS = np.repeat(np.arange(12), [1, 2, 3, 4] * 3)


def answers(seed: int, prompts: int, accuracy: float = 0.6, examples: int = 30) -> np.ndarray:
    """(models, prompts, examples) right and wrong answers."""
    return (np.random.default_rng(seed).random((2, prompts, examples)) < accuracy).astype(float)


def named(task: str, scores: np.ndarray, clusters: np.ndarray = CLUSTERS) -> Responses:
    responses = of_scores(scores, clusters)
    return Responses(task, 2, *list(vars(responses).values())[2:])


def expected_end(difference: GateDifference, alpha: float, more: float, less: float, low: bool) -> float:
    """The distance of a true value that is q errors away, with a variance that depends on it: a quadratic."""
    quantiles = [
        stats.norm.isf(alpha) if freedom == inf else stats.t(freedom).isf(alpha)
        for freedom in difference.spread.freedoms
    ]
    q = quantiles[-1]
    squared = sum(t**2 * v for t, v in zip(quantiles, difference.spread.variances, strict=True))
    pseudo = (q * difference.unit) ** 2
    slope = difference.unit * max(2 * (more + pseudo) / (more + less + pseudo) - 1, 0)
    value = difference.value if low else -difference.value
    squares = difference.unit if value > 0 else 0.0
    # the mean of squares stays as it is, and less of it is the square of the mean: value**2 - (value - d)**2
    d = max(np.roots([1 + q**2 * squares, -(q**2) * (slope + 2 * squares * value), -squared]).real)
    end = value - d
    assert d == pytest.approx(sqrt(squared + q**2 * (slope * d + squares * (value**2 - end**2))))
    # without any gain or loss, an end is where none is seen with the probability alpha (a Poisson count)
    return d + difference.unit * max(0.5, -log(alpha) - q**2) + (difference.gains + difference.losses) / 2


@pytest.mark.parametrize(
    ("variances", "freedoms"), [((0.002,), (7.5,)), ((0.002,), (inf,)), ((0.001, 0.0005), (1.0, 99.0))]
)
@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize(("gains", "losses"), [(0.001, 0.004), (0.004, 0.001), (0.0, 0.0), (0.3, 0.0)])
def test_ends_of_the_interval_are_roots_of_a_quadratic(variances, freedoms, alpha, gains, losses):
    difference = GateDifference(-0.03, Spread(variances, freedoms), 0.01, gains, losses)
    low = -0.03 - expected_end(difference, alpha, losses, gains, low=True)
    high = -0.03 + expected_end(difference, alpha, gains, losses, low=False)
    assert (difference.low(alpha), difference.high(alpha)) == pytest.approx((low, high))


def test_ends_are_differences_of_shares():
    wide = GateDifference(0.5, Spread((4.0,), (3.0,)), 0.1, 0.1, 0.1)
    assert (wide.low(0.01), wide.high(0.01)) == (-1.0, 1.0)


def test_the_p_value_of_worse_is_that_of_the_end_that_touches_0():
    spread = Spread((0.0008,), (9.0,))
    difference = GateDifference(-0.06, spread, 0.01, 0.0005, 0.003)
    p = difference.worse_p()
    assert 1e-6 < p < 0.2
    assert difference.high(p) == pytest.approx(0, abs=1e-9)
    assert difference.high(p * 1.01) < 0 < difference.high(p * 0.99)
    assert GateDifference(0.0, spread, 0.01, 0.1, 0.1).worse_p() == 1.0
    # next to no evidence: half of the weight of an example is added
    assert GateDifference(-0.005, Spread((0.0,), (inf,)), 0.01, 0.0, 0.0).worse_p() == 1.0
    assert GateDifference(-0.9, Spread((1e-8,), (inf,)), 1e-6, 0.0, 1e-8).worse_p() == 1e-12


def test_more_examples_give_more_degrees_of_freedom_unless_prompts_vary():
    of_examples = GateDifference(0.1, Spread((0.05,), (9.0,)), 0.01, 0.004, 0.002).with_examples(4)
    assert (of_examples.value, of_examples.spread) == (0.1, Spread((0.0125,), (36.0,)))
    of_prompts = GateDifference(0.1, Spread((0.02, 0.05), (9.0, 50.0), 0.004), 0.01, 0.004, 0.002)
    assert of_prompts.with_examples(4).spread == Spread((0.02, 0.0125), (9.0, 200.0), 0.001)


@pytest.mark.parametrize(
    ("seed", "prompts", "of_prompts"), [(1, 1, False), (2, 2, False), (6, 6, True), (7, 6, True)]
)
def test_the_difference_on_a_task_by_loops(seed, prompts, of_prompts):
    responses = named("t", answers(seed, prompts))
    difference = difference_of(responses)
    by_example = responses.scores[0].mean(axis=0) - responses.scores[1].mean(axis=0)
    mean = by_example.mean()
    parts = np.array([by_example[number == CLUSTERS].sum() / 30 for number in range(12)])
    moved = [(by_example[number == CLUSTERS] - mean).sum() / 30 for number in range(12)]
    by_examples, freedom = clustered_variance(moved, np.bincount(CLUSTERS), intraclass(by_example, CLUSTERS))
    headline = headline_of(responses)
    assert difference.value == pytest.approx(mean)
    assert difference.spread.standard_error == pytest.approx(headline.standard_error)
    assert difference.spread.variances[-1] == pytest.approx(by_examples)
    assert difference.spread.freedoms[-1] == pytest.approx(freedom)
    assert difference.unit == pytest.approx(sum(size**2 for size in [1, 2, 3, 4] * 3) / 30**2)
    assert difference.gains == pytest.approx(sum(part**2 for part in parts if part > 0))
    assert difference.losses == pytest.approx(sum(part**2 for part in parts if part < 0))
    assert (len(difference.spread.variances) == 2) == of_prompts


def test_names_of_clusters_are_only_names():
    scores = answers(7, 7)
    by_name = np.random.default_rng(0).permutation(40)[CLUSTERS] - 20
    expected, computed = (difference_of(named("t", scores, names)) for names in (CLUSTERS, by_name))
    assert computed.spread.variances == pytest.approx(expected.spread.variances)
    assert (computed.low(0.1), computed.high(0.01)) == pytest.approx((expected.low(0.1), expected.high(0.01)))


def test_tasks_whose_examples_have_the_same_names_may_have_other_clusters():
    tasks = [named("t0", answers(0, 1), CLUSTERS), named("t1", answers(1, 1), np.arange(30))]
    assert sample_of(tasks[0]).examples != sample_of(tasks[1]).examples
    assert gate(tasks, 0.1).examples == 60
    assert sample_of(named("t2", answers(2, 1), CLUSTERS)).examples == sample_of(tasks[0]).examples


def test_equal_answers_have_the_variance_of_none():
    scores = answers(0, 1)
    difference = difference_of(named("t", np.stack([scores[0], scores[0]])))
    assert (difference.value, difference.spread.variances) == (0.0, (0.0,))
    assert (difference.gains, difference.losses) == (0.0, 0.0)
    assert difference.spread.freedoms[0] > 0


@pytest.fixture
def several() -> list[Responses]:
    """Three tasks of other sizes, on the last of which the candidate is much worse."""
    tasks = [named(f"t{number}", answers(number, 2)) for number in range(2)]
    bad = np.stack([answers(5, 2, 0.2)[0], answers(6, 2, 0.9)[1]])
    return [*tasks, named("t2", bad, np.arange(30))]


def test_the_mean_over_tasks_counts_each_alike(several):
    result = gate(several, 0.1, 0.1)
    differences = [difference_of(task) for task in several]
    sample = over_tasks.together([sample_of(task) for task in several])
    by_example = [(task.scores[0] - task.scores[1]).mean(axis=0) for task in several]
    # the first two have the same examples and clusters, and some of these are single examples of the third
    by_name = {f"c{number}": 0.0 for number in range(12)} | {f"e{place}": 0.0 for place in range(30)}
    weights = dict.fromkeys(by_name, 0.0)
    for task in (0, 1):
        for place, number in enumerate(CLUSTERS):
            name = f"e{place}" if (number == CLUSTERS).sum() == 1 else f"c{number}"
            by_name[name] += by_example[task][place] / 90
            weights[name] += 1 / 90
    for place in range(30):
        by_name[f"e{place}"] += by_example[2][place] / 90
        weights[f"e{place}"] += 1 / 90
    parts = [*by_name.values()]
    gains, losses = (sum(part**2 for part in parts if part * sign > 0) for sign in (1, -1))
    single_parts = sum(difference.gains + difference.losses for difference in differences) / 9
    mean = GateDifference(
        float(np.mean([difference.value for difference in differences])),
        sample.difference(0, 1).spread,
        min(0.1 / 3 * max((gains + losses) / single_parts, 1), sum(weight**2 for weight in weights.values())),
        gains,
        losses,
    )
    assert result.difference == pytest.approx(mean.value)
    assert (result.low, result.high) == pytest.approx((mean.low(0.1), mean.high(0.1)))
    assert (result.margin, result.alpha, result.examples) == (0.1, 0.1, 90)
    assert result.about == "for these 2 prompts only"
    p_values = adjusted([difference.worse_p() for difference in [*differences, mean]], "holm")
    assert list(result.tasks.columns) == list(GATE_TASKS)
    for row, task, difference, p in zip(
        result.tasks.to_dict("records"), several, differences, p_values, strict=False
    ):
        candidate, reference = (scores.mean() for scores in task.scores)
        expected = {
            "task": task.task,
            "shots": 2,
            "examples": 30,
            "candidate": pytest.approx(candidate),
            "reference": pytest.approx(reference),
            "difference": pytest.approx(difference.value),
            "low": pytest.approx(difference.low(0.1)),
            "high": pytest.approx(difference.high(0.1)),
            "worse_holm": pytest.approx(p),
            "decision": decide(difference, 0.1, 0.1),
        }
        assert row == expected


def test_tasks_on_the_same_examples_and_prompts_vary_together():
    tasks = [named(name, answers(7, 6)) for name in ("cloze", "letters")]
    alone = difference_of(tasks[0])
    spread = over_tasks.together([*map(sample_of, tasks)]).difference(0, 1).spread
    # of equal answers, the mean of two tasks varies as one
    assert spread.variances == pytest.approx(alone.spread.variances)
    assert spread.freedoms == alone.spread.freedoms
    mean = GateDifference(alone.value, spread, alone.unit, alone.gains, alone.losses)
    result = gate(tasks, 0.0, 0.2)
    assert (result.low, result.high) == pytest.approx((mean.low(0.2), mean.high(0.2)))
    assert result.decision == "cannot tell"
    assert isnan(result.needed)  # more examples do not reduce what the prompts vary


@pytest.mark.parametrize(("gains", "losses"), [(3, 0), (0, 2), (6, 4), (0, 0)])
def test_copies_of_a_task_tell_no_more_than_the_task(gains, losses):
    alone = gate(counted(150, gains, losses), 0.05)
    reference = np.arange(150) >= gains
    candidate = np.arange(150) < 150 - losses
    scores = np.stack([candidate, reference]).astype(float)[:, None]
    copies = gate([named(f"t{number}", scores, np.arange(150)) for number in range(5)], 0.05)
    assert (copies.low, copies.high) == pytest.approx((alone.low, alone.high), abs=1e-4)
    assert copies.decision == alone.decision


@pytest.mark.parametrize("lacking", [1, 10])
def test_tasks_that_share_all_but_some_examples_are_not_independent(lacking):
    """Of five copies of a task, each lacks others of its examples; ids of clusters are shared like names."""
    generator = np.random.default_rng(1)
    candidate = (generator.random(150) < 0.5).astype(float)
    reference = np.where(generator.random(150) < 0.2, 1 - candidate, candidate)
    scores, names = np.stack([candidate, reference]), np.array([f"e{number}" for number in range(150)])
    alone = gate([of_names("t", scores, names)], 0.05)
    tasks = []
    for number in range(5):
        rows = np.delete(np.arange(150), range(number * lacking, (number + 1) * lacking))
        tasks.append(of_names(f"t{number}", scores[:, rows], names[rows]))
    together = gate(tasks, 0.05)
    assert together.high - together.low == pytest.approx(alone.high - alone.low, rel=0.08)
    apart_names = [of_names(f"t{n}", scores, np.char.add(f"t{n}", names)) for n in range(5)]
    independent = gate(apart_names, 0.05)
    assert independent.high - independent.low < 0.6 * (alone.high - alone.low)


def test_models_in_another_order_have_the_same_clusters():
    sample = sample_of(of_names("t", answers(0, 1)[:, 0], np.array([f"e{number}" for number in range(30)])))
    assert sample.names[:2] == (("example", "e0"), ("example", "e1"))
    turned = sample.reordered([1, 0])
    assert (turned.names, turned.weights.tolist()) == (sample.names, sample.weights.tolist())
    assert sample_of(named("t", answers(0, 1))).names[:2] == (("example", "0"), ("cluster", 1))


def of_names(task: str, scores: np.ndarray, names: np.ndarray) -> Responses:
    """The responses of two models, each with one prompt and one seed."""
    by_seed = [row[None, None] for row in scores]
    return Responses(
        task, 0, ["a", "b"], ["p"], [*names], scores[:, None], by_seed, np.arange(len(names)), []
    )


def test_an_example_of_two_tasks_moves_the_mean_by_its_weight_in_both_at_most():
    names = np.array([f"e{number}" for number in range(100)])
    scores = np.ones((2, 100))
    scores[0, :2] = 0.0
    tasks = [of_names("few", scores[:, :10], names[:10]), of_names("many", scores, names)]
    mean = GateDifference.from_sample(over_tasks.together([*map(sample_of, tasks)]))
    weights = np.where(np.arange(100) < 10, (1 / 10 + 1 / 100) / 2, 1 / 100 / 2)
    assert mean.unit == pytest.approx((weights**2).sum())
    result = gate(tasks, 0.0)
    assert (result.low, result.high) == pytest.approx((mean.low(0.05), mean.high(0.05)))


def test_tasks_with_the_same_examples_and_other_losses_tell_more_than_one():
    """Of five tasks, each with losses of its own; a cluster moves the mean by as much as one of one task."""
    scores = np.ones((5, 2, 1, 150))
    for number in range(5):
        scores[number, 0, 0, 10 * number : 10 * number + 4] = 0
    tasks = [named(f"t{number}", scores[number], np.arange(150)) for number in range(5)]
    together, alone = gate(tasks, 0.05), gate(tasks[:1], 0.05)
    assert together.high - together.low < 0.7 * (alone.high - alone.low)


def test_a_prompt_on_few_examples_counts_with_its_weight_in_the_variance():
    scores = np.full((2, 2, 200), np.nan)
    scores[:, 0], scores[:, 1, :4] = 1.0, 1.0
    scores[0, 0, :20] = 0.0
    result = gate([named("t", scores, np.arange(200))], 0.1)
    assert result.decision == "cannot tell"
    assert result.low < -0.3
    # the two prompts are given, so that more examples do decide
    assert isfinite(result.needed)


def test_equal_answers_under_prompts_with_other_examples_are_not_worse():
    scores = np.full((2, 2, 300), np.nan)
    scores[:, 0, :200] = scores[:, 1, 100:] = np.arange(200) % 2
    result = gate([named("t", scores, np.arange(300))], 0.05)
    assert (result.decision, result.difference) == ("not worse", 0.0)
    assert -0.05 < result.low < 0 < result.high < 0.05


def test_intervals_over_seeds_are_as_wide_as_those_of_the_comparison():
    generator = np.random.default_rng(0)
    levels = generator.normal(0.6, 0.05, (2, 2))
    by_seed = [
        (generator.random((2, 1, 300)) < levels[model][:, None, None]).astype(float) for model in (0, 1)
    ]
    scores = np.stack([seeds.mean(axis=0) for seeds in by_seed])
    names = [f"e{number}" for number in range(300)]
    responses = Responses(
        "t", 0, ["candidate", "reference"], ["p"], names, scores, by_seed, np.arange(300), []
    )
    for alpha in (0.05, 0.01):
        headline, difference = headline_of(responses, 1 - 2 * alpha), difference_of(responses)
        assert difference.high(alpha) - difference.low(alpha) > 0.98 * (headline.high - headline.low)


def test_one_task_is_not_adjusted_and_two_tasks_have_their_mean_as_a_third(several):
    alone = gate(several[2:], 0.1)
    assert alone.tasks["worse_holm"].tolist() == pytest.approx([difference_of(several[2]).worse_p()])
    assert (alone.decision, alone.worse_tasks) == ("worse", [])
    two = gate(several[1:], 0.1)
    least = min(difference_of(task).worse_p() for task in several[1:])
    assert two.tasks["worse_holm"].min() == pytest.approx(3 * least)
    assert (two.decision, two.worse_tasks) == ("worse", ["t2 (2-shot)"])


def test_where_the_mean_is_worse_and_no_task_is_nothing_can_be_told_after_adjustment():
    generator = np.random.default_rng(2)
    tasks = []
    for number in range(12):
        reference = (generator.random(60) < 0.6).astype(float)
        candidate = np.where(generator.random(60) < 0.035, 0.0, reference)
        tasks.append(of_scores(np.stack([candidate, reference])[:, None], np.arange(60)))
        tasks[-1] = Responses(f"t{number}", 0, *list(vars(tasks[-1]).values())[2:])
    result = gate(tasks, 0.0)
    assert result.high < 0
    assert result.worse_tasks == []
    p_values = adjusted([difference_of(task).worse_p() for task in tasks], "holm")
    assert result.decision in ("worse", "cannot tell")
    assert min(p_values) > 0.05


def counted(examples: int, gains: int, losses: int) -> list[Responses]:
    reference = np.arange(examples) >= gains
    candidate = np.arange(examples) < examples - losses
    return responses_of(candidate.astype(float), reference.astype(float))


def test_so_many_examples_decide_and_fewer_do_not():
    result = gate(counted(100, 6, 4), 0.03)
    assert result.decision == "cannot tell"
    difference = difference_of(counted(100, 6, 4)[0])

    def decides(examples: float) -> bool:
        more = difference.with_examples(examples / 100)
        error = more.spread.standard_error
        return (
            stats.norm.cdf((more.low(0.05) + 0.03) / error) + stats.norm.cdf(-more.high(0.05) / error) >= 0.8
        )

    assert decides(result.needed)
    assert not decides(result.needed - 1)


def test_a_loss_is_decided_from_the_other_end():
    result = gate(counted(60, 1, 5), 0.0)
    assert result.decision == "cannot tell"
    difference = difference_of(counted(60, 1, 5)[0])
    more = difference.with_examples(result.needed / 60)
    assert more.high(0.05) + stats.norm.ppf(0.8) * more.spread.standard_error == pytest.approx(0, abs=1e-4)


def test_one_example_more_is_the_least_that_is_asked_for():
    scores = np.array([0.0, 1.0] * 20)
    small = gate(responses_of(scores, scores), 0.0)
    assert isnan(small.needed)  # equal answers never exclude a loss of any size
    for margin in np.linspace(0.05, 0.1, 40):
        result = gate(responses_of(scores, scores), float(margin))
        if result.decision == "cannot tell":
            assert result.needed >= 41
    assert isnan(result.needed)


SENTENCES = [
    (
        counted(100, 30, 0),
        0.02,
        "The candidate is better than the reference (+30.0 points, 90% interval +21.0 to +39.8).",
    ),
    (counted(400, 4, 4), 0.05, "The candidate is not worse than the reference by 5 points or more ("),
    (
        counted(100, 0, 30),
        0.015,
        "The candidate is worse than the reference (-30.0 points, 90% interval -39.8 to -21.0).",
    ),
    (
        counted(100, 3, 3),
        0.015,
        "The results do not exclude that the candidate is worse by 1.5 points or more (",
    ),
    (counted(100, 3, 3), 0.01, "The results do not exclude that the candidate is worse by 1 point or more ("),
]


@pytest.mark.parametrize(("responses", "margin", "beginning"), SENTENCES)
def test_sentences(responses, margin, beginning):
    sentence = gate(responses, margin).sentence
    assert sentence.startswith(beginning)
    result = gate(responses, margin)
    ending = ")."
    if result.decision == "cannot tell":
        ending = (
            "). If the true difference is +0.0 points, the gate would decide with a probability of 80% with "
            f"about {np.ceil(result.needed):,.0f} examples instead of 100."
        )
    assert sentence.endswith(ending)


def test_sentences_of_several_tasks_and_prompts(several):
    sentence = gate(several, 0.1).sentence
    assert sentence.startswith(
        "For these 2 prompts only: The candidate is worse on t2 (2-shot) (mean of 3 tasks: -"
    )
    first = gate([named("a", answers(7, 2)), named("b", answers(8, 3))], 0.5)
    assert first.about == "for these 2 prompts only; for these 3 prompts only"
    ended = gate([named("t", answers(9, 2))], 0.0)
    if isnan(ended.needed):
        assert ended.sentence.endswith(
            ") More examples alone would not decide, if the observed difference is the true one."
        ) or ended.sentence.endswith("if the observed difference is the true one.")


@pytest.mark.parametrize(
    ("margin", "alpha", "message"),
    [
        (-0.1, 0.05, "margin is -0.1; expected a number from 0 to 1"),
        (1.5, 0.05, "margin is 1.5; expected a number from 0 to 1"),
        (0.1, 0.5, "alpha is 0.5; expected a number above 0 and below 0.5"),
        (0.1, 0.0, "alpha is 0.0; expected a number above 0 and below 0.5"),
    ],
)
def test_impossible_values_in_full(margin, alpha, message):
    with pytest.raises(InputError) as error:
        gate(counted(10, 1, 1), margin, alpha)
    assert str(error.value) == message
    assert gate(counted(10, 1, 1), 1.0).decision == gate(counted(10, 1, 1), 1).decision
    with pytest.raises(InputError) as error:
        gate([], 0.1)
    assert str(error.value) == "candidate and reference have no task in common"
    assert isinstance(gate(counted(10, 1, 1), 0.0).tasks, pd.DataFrame)
