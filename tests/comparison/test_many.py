"""Orders of many models, several prompts, and where scores vary."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from abovechance.compare import (
    compare,
    over_prompts,
    paired,
    pairs,
    ranks,
    together,
    unpaired,
    variance_components,
)
from abovechance.comparison.many import _letters
from abovechance.core.errors import InputError


def responses(skills: list[float], examples: int = 300, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    hard = generator.normal(size=examples)
    noise = generator.normal(0, 0.7, (len(skills), examples))
    return (np.array(skills)[:, None] + hard + noise > 0).astype(float)


def test_pairs_are_those_of_two_models_and_adjusted_for_their_number():
    scores = responses([0.0, 0.1, 1.0])
    table = pairs(paired(scores), ["a", "b", "c"]).set_index(["first", "second"])
    for (one, other), row in table.iterrows():
        pair = compare(scores["abc".index(one)], scores["abc".index(other)])
        assert row["difference"] == pytest.approx(pair.difference)
        assert row["difference"] >= 0
        assert row["p"] == pytest.approx(pair.p)
        assert row["error"] == pytest.approx(pair.error, rel=0.1)
        # for all pairs at once, so wider than for one
        assert row["low"] < pair.t_low
        assert row["high"] > pair.t_high
    assert (table["holm"] >= table["bh"]).all()
    assert (table["bh"] >= table["p"]).all()
    assert table["flips"].between(0, 0.5).all()


def test_ranks_are_sure_where_models_differ_and_open_where_they_do_not():
    table = ranks(paired(responses([0.0, 0.02, 1.5, 1.52], examples=600)), list("abcd")).set_index("model")
    assert set(table.index[:2]) == {"c", "d"}
    assert table.loc[["c", "d"], ["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2]] * 2
    assert table.loc[["a", "b"], ["rank_low", "rank_high"]].to_numpy().tolist() == [[3, 4]] * 2
    assert table["groups"].to_dict() == {"c": "a", "d": "a", "a": "b", "b": "b"}
    assert table["best"].sum() == pytest.approx(1)
    assert table.loc[["a", "b"], "best"].max() == 0


def test_intervals_of_ranks_hold_the_true_ranks_of_all_models_at_once():
    """Five models of which two are equal; at least 95 % of studies, but for the draws."""
    skills, held = [0.0, 0.0, 0.3, 0.6, 0.9], []
    for seed in range(150):
        table = ranks(paired(responses(skills, 150, seed), draws=400), list("abcde")).set_index("model")
        true = {"e": (1, 1), "d": (2, 2), "c": (3, 3), "a": (4, 5), "b": (4, 5)}
        held.append(
            all(
                table.loc[name, "rank_low"] <= high and table.loc[name, "rank_high"] >= low
                for name, (low, high) in true.items()
            )
        )
    assert np.mean(held) >= 0.92


@given(st.integers(1, 7), st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_two_share_a_letter_unless_they_differ(count, drawn):
    names = [f"m{place}" for place in range(count)]
    differ = {(names[one], names[other]) for one, other in drawn if one < other < count}
    letters = _letters(names, differ)
    for place, one in enumerate(names):
        assert letters[one]
        for other in names[place + 1 :]:
            assert bool(set(letters[one]) & set(letters[other])) == ((one, other) not in differ)


def test_unpaired_models_are_two_proportions():
    table = pairs(unpaired([0.7, 0.6], [400, 500], draws=20_000), ["a", "b"])
    error = np.sqrt(0.7 * 0.3 / 400 + 0.6 * 0.4 / 500)
    assert table["error"].iloc[0] == pytest.approx(error, rel=0.03)
    assert table["p"].iloc[0] == pytest.approx(2 * stats.norm.sf(0.1 / error), rel=0.2)
    assert table["high"].iloc[0] - 0.1 == pytest.approx(1.96 * error, rel=0.04)
    same = pairs(unpaired([1.0, 1.0], 10), ["a", "b"])
    assert same["p"].tolist() == [1]
    assert same[["low", "high"]].to_numpy().tolist() == [[0, 0]]


def test_tasks_together_count_alike():
    first, second = paired(responses([0.0, 0.5], 50)), paired(responses([0.4, 0.0], 5000, seed=1))
    both = together([first, second])
    assert both.scores == pytest.approx((first.scores + second.scores) / 2)
    assert both.draws.std(axis=0) == pytest.approx(
        np.hypot(first.draws.std(axis=0), second.draws.std(axis=0)) / 2, rel=0.1
    )


def test_a_score_that_is_missing_is_told():
    with pytest.raises(InputError, match="right would be models and examples, all there"):
        paired([[1, np.nan], [0, 1]])


def of_prompts(offsets: float, seed: int = 0, prompts: int = 8, examples: int = 200) -> np.ndarray:
    """Two models whose prompts matter by themselves."""
    generator = np.random.default_rng(seed)
    own = generator.normal(0, offsets, (2, prompts, 1))
    hard, noise = generator.normal(size=examples), generator.normal(0, 0.5, (2, prompts, examples))
    return (own + hard + noise > 0).astype(float)


def test_over_prompts_like_these_is_wider_where_prompts_matter():
    scores = of_prompts(0.5)
    found = over_prompts(*scores)
    assert found.mean.difference == pytest.approx(scores[0].mean() - scores[1].mean())
    pair = compare(scores[0].mean(axis=0), scores[1].mean(axis=0))
    assert (found.mean.low, found.mean.high) == pytest.approx((pair.low, pair.high), abs=0.01)
    widths = {name: getattr(found, name).high - getattr(found, name).low for name in ("mean", "population")}
    assert widths["population"] > 2 * widths["mean"]
    best = scores.mean(axis=2).max(axis=1)
    assert found.best.difference == pytest.approx(best[0] - best[1])
    one = over_prompts(scores[0][:1], scores[1][:1])
    assert one.mean == one.best
    assert np.isnan(one.population.low)


def test_prompts_like_these_hold_the_truth():
    """Two models that differ in nothing but which prompts they like."""
    found = [over_prompts(*of_prompts(0.4, seed), draws=400) for seed in range(200)]
    held = {
        name: np.mean([getattr(one, name).low <= 0 <= getattr(one, name).high for one in found])
        for name in ("mean", "population")
    }
    assert held["population"] >= 0.9
    assert held["mean"] < 0.7  # these prompts, not others


def test_prompts_that_are_not_evaluated_on_their_demonstrations_are_compared_on_the_others():
    scores = of_prompts(0.3, prompts=4, examples=40)
    scores[:, [0, 1, 2, 3], [5, 6, 7, 8]] = np.nan
    found = over_prompts(*scores)
    expected = np.nanmean(scores, axis=2).mean(axis=1)
    assert found.mean.difference == pytest.approx(expected[0] - expected[1])
    scores[0, 0, 0] = np.nan
    with pytest.raises(InputError, match="a score is missing of one model"):
        over_prompts(*scores)


def test_components_are_those_that_made_the_scores():
    generator = np.random.default_rng(0)
    models, prompts, examples = (generator.normal(0, s, n) for s, n in ((2.0, 40), (1.0, 40), (3.0, 60)))
    noise = generator.normal(0, 0.5, (40, 40, 60))
    together = generator.normal(0, 1.5, (40, 1, 60))
    scores = models[:, None, None] + prompts[:, None] + examples + together + noise
    table = variance_components(scores, ["models", "prompts", "examples"]).set_index("of")["variance"]
    assert table["models x prompts x examples"] == pytest.approx(0.25, rel=0.05)
    assert table["models x examples"] == pytest.approx(2.25, rel=0.1)
    assert table["prompts x examples"] == pytest.approx(0, abs=0.02)
    for name, values in (("models", models), ("prompts", prompts), ("examples", examples)):
        assert table[name] == pytest.approx(values.var(ddof=1), rel=0.1)


def test_components_of_two_factors_are_the_textbooks():
    """By the mean squares of a table without repetition."""
    scores = np.array([[3.0, 5.0, 4.0], [6.0, 9.0, 6.0]])
    rows = 3 * ((scores.mean(axis=1) - scores.mean()) ** 2).sum()
    columns = 2 * ((scores.mean(axis=0) - scores.mean()) ** 2).sum() / 2
    rest = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    residual = (rest**2).sum() / 2
    table = variance_components(scores, ["prompts", "examples"])
    assert table["of"].tolist() == ["prompts", "examples", "prompts x examples"]
    assert table["variance"].tolist() == pytest.approx(
        [(rows - residual) / 3, (columns - residual) / 2, residual]
    )
    assert table["share"].sum() == pytest.approx(1)
    assert table["deviation"].iloc[2] == pytest.approx(np.sqrt(residual / 6))


def test_of_one_number_of_a_factor_nothing_can_be_said():
    for scores, factors, told in (
        (np.ones((1, 5)), ["prompts", "examples"], "there is one of prompts"),
        (np.ones((2, 5)), ["examples"], "2 dimensions for 1 factors"),
        (np.array([[1, np.nan], [1, 1]]), ["prompts", "examples"], "a score is missing"),
    ):
        with pytest.raises(InputError, match=told):
            variance_components(scores, factors)
    assert np.isnan(variance_components(np.ones((3, 4)), ["prompts", "examples"])["share"]).all()
    assert isinstance(variance_components(np.eye(3), ["a", "b"]), pd.DataFrame)
