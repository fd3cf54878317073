"""PVI and its mean: the definitions, and what follows from them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from abovechance.core.errors import InputError
from abovechance.pvi import bits, by_group, over_choices, pvi, v_information
from abovechance.pvi.table import _measured

logprobs = arrays(float, st.shared(st.integers(1, 30), key="n"), elements=st.floats(-50, 0))


def test_a_coin_is_one_bit_and_knowing_it_is_worth_one():
    assert bits(np.log([1, 0.5, 0.25])).tolist() == pytest.approx([0, 1, 2])
    assert pvi(np.log([0.5, 0.5, 0.5]), np.log([1, 0.5, 0.25])).tolist() == pytest.approx([1, 0, -1])


def test_an_impossible_answer_is_infinitely_hard_and_one_that_always_was_is_none():
    assert pvi([-1.0], [-np.inf]).tolist() == [-np.inf]
    with pytest.raises(InputError, match="answer 1 of 2 is impossible with the input and without"):
        pvi([-1.0, -np.inf], [-1.0, -np.inf])


@pytest.mark.parametrize(("wrong", "message"), [(0.5, "is 0.5; expected at most 0"), (np.nan, "is nan")])
def test_what_is_no_log_likelihood_is_named(wrong, message):
    with pytest.raises(InputError, match=f"log-likelihood 1 of 2 {message}"):
        bits([-1, wrong])
    with pytest.raises(InputError, match="2 null scores for 1 scores"):
        pvi([-1, -1], [-1])


@given(logprobs, logprobs)
def test_it_is_the_difference_of_two_entropies(null, with_input):
    assert np.allclose(pvi(null, with_input), bits(null) - bits(with_input))
    assert np.allclose(pvi(null, with_input), -pvi(with_input, null))
    assert not pvi(null, null).any()


@given(arrays(float, (7, 2), elements=st.floats(-30, 0)), st.lists(st.integers(0, 1), min_size=7, max_size=7))
def test_of_two_choices_the_right_one_is_chosen_exactly_below_one_bit(scores, answers):
    """Of probabilities that are renormalized over the choices."""
    sure = over_choices(scores.ravel(), np.arange(0, 14, 2)).reshape(7, 2)
    hardness = bits(sure[range(7), answers])
    chosen = scores[range(7), answers] > scores[range(7), [1 - answer for answer in answers]]
    far = np.abs(scores[:, 0] - scores[:, 1]) > 1e-9
    assert ((hardness < 1) == chosen)[far].all()


@given(
    arrays(float, 12, elements=st.floats(-30, 0)),
    st.sampled_from([[0, 3, 5], [0], [0, 1, 11], [*range(0, 12, 2)]]),
)
def test_renormalized_probabilities_sum_to_one_for_each_example(scores, starts):
    logprobs = over_choices(scores, starts)
    assert np.allclose(np.add.reduceat(np.exp(logprobs), starts), 1)
    parts = zip(np.split(scores, starts[1:]), np.split(logprobs, starts[1:]), strict=True)
    assert all(np.allclose(before - before[0], after - after[0]) for before, after in parts)


def test_the_interval_is_students_where_examples_are_by_themselves():
    values = np.random.default_rng(1).normal(0.3, 2, 40)
    estimate = v_information(values)
    low, high = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((values.mean(), low, high))
    assert (estimate.examples, estimate.freedom) == (40, 39)


def test_an_example_that_stands_ten_times_says_no_more_than_once():
    values = np.random.default_rng(1).normal(0.3, 2, 12)
    often = v_information(np.repeat(values, 10), np.repeat(np.arange(12), 10))
    assert often[:6] == pytest.approx(v_information(values)[:6])
    assert often.examples == 120


def test_95_of_100_intervals_of_uneven_clusters_hold_the_mean():
    generator, held_out = np.random.default_rng(3), 0
    for _ in range(1000):
        sizes = generator.integers(1, 6, 40)
        clusters = np.repeat(np.arange(40), sizes)
        values = generator.normal(0, 1, 40)[clusters] + generator.normal(0, 1, sizes.sum())
        estimate = v_information(values, clusters)
        held_out += estimate.low <= 0 <= estimate.high
    assert 0.93 <= held_out / 1000 <= 0.97


def test_one_cluster_has_no_interval_and_no_example_no_mean():
    assert np.isnan(v_information([1.0, 2.0], ["a", "a"])[1:5]).all()
    assert np.isnan(v_information([]).value)


def test_classes_are_as_if_each_were_alone():
    table = by_group([1.0, 5.0, 3.0], ["no", "yes", "no"], clusters=[0, 1, 2])
    assert [*table] == ["no", "yes"]
    assert table["no"] == pytest.approx(v_information([1.0, 3.0]))
    assert table["yes"].value == 5


@pytest.mark.parametrize("over", ["vocabulary", "choices"])
def test_choices_that_gain_alike_are_no_rivals(over):
    """Two choices that tie with the input and without it: no label is better by rounding."""
    generator = np.random.default_rng(0)
    null, logprob = (np.repeat(-generator.integers(8, 100, 200) / 32, 2) for _ in range(2))
    starts = np.arange(0, 400, 2)
    measured = _measured(null, logprob, np.tile([True, False], 200), starts, over)
    assert (measured["rival_pvi"] == measured["pvi"]).all()
    if over == "choices":
        assert (measured["pvi"] == 0).all()
    assert (pvi(np.full(100, np.log(0.1)), np.log(np.arange(1, 101) / 100) + np.log(0.1)) >= 0).sum() == 1


@pytest.mark.parametrize("starts", [[5], [0, -1], [0, 2, 1], [], [1], [0, 0], [0, 3], [[0]], [-1, 1]])
def test_where_choices_start_is_from_0_on(starts):
    with pytest.raises(InputError, match="examples do not start at 0 and then at ever later"):
        over_choices([-1.0, -2.0, -3.0], starts)


@pytest.mark.parametrize("logprob", [np.nan, np.inf])
def test_choices_need_log_likelihoods(logprob):
    with pytest.raises(InputError, match=f"choice 1: the log-likelihood is {logprob}; expected a finite one"):
        over_choices([-1.0, logprob, -3.0], [0, 2])


def test_a_missing_value_has_no_mean():
    for mean in (v_information, lambda values: by_group(values, ["a", "b", "b"])):
        with pytest.raises(InputError, match="value 1 of 3 is missing; expected PVI in bits"):
            mean([1.0, np.nan, 3.0])


@pytest.mark.parametrize("nats", [1.0, 10.0, 500.0])
def test_pvi_of_the_same_gain_is_the_same(nats):
    generator = np.random.default_rng(1)
    for gain in generator.uniform(0, 3, 20):
        null = -generator.uniform(0.9, 1, 200) * nats - 4
        assert np.ptp(pvi(null, null + gain)) == 0
    assert pvi([-1e300], [-2.0])[0] == pytest.approx(1e300 / np.log(2))
