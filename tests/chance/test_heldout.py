"""The held-out study."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.metrics import auc

from abovechance import BestOf, RandomBaseline
from abovechance.chance import heldout
from abovechance.chance.agreement import (
    agreement,
    agreement_by_prompts,
    curves,
    difference,
    heldout_tables,
    of_guessers,
    with_ranks,
)
from abovechance.chance.heldout import (
    GUESSERS,
    OUTCOMES,
    _different,
    all_outcomes,
    guessed_outcomes,
    outcomes,
    parts,
)
from abovechance.core.resampling import of_share, times_drawn
from abovechance.core.settings import Setting
from abovechance.results.response_matrix import ResponseMatrix


def predictions(correct: np.ndarray, chance: float = 0.5) -> pd.DataFrame:
    prompts, examples = correct.shape
    return pd.DataFrame(
        {
            "model": "m",
            "task": "t",
            "shots": 1,
            "prompt": np.repeat(range(prompts), examples),
            "example": np.tile([f"e{i}" for i in range(examples)], prompts),
            "correct": correct.ravel(),
            "chance": chance,
        }
    )


@pytest.fixture
def guesses() -> pd.DataFrame:
    return predictions(np.random.default_rng(0).random((12, 40)) < 0.55)


def study(table: pd.DataFrame, candidates=(1, 5, 12), splits=20, seed=0) -> pd.DataFrame:
    return all_outcomes([table], seed=seed, splits=splits, validation=0.75, prompt_counts=candidates)


def test_splits_are_seeded_three_quarters_and_a_quarter(guesses):
    outcomes = study(guesses)
    assert set(outcomes["validation_examples"]) == {30}
    assert set(outcomes["test_examples"]) == {10}
    pd.testing.assert_frame_equal(outcomes, study(guesses))
    assert not outcomes["validation_accuracy"].equals(study(guesses, seed=1)["validation_accuracy"])


def test_the_validation_part_is_rounded_down():
    outcomes = study(predictions(np.ones((2, 31), bool)), splits=1)
    assert (outcomes["validation_examples"].iloc[0], outcomes["test_examples"].iloc[0]) == (23, 8)


def test_the_best_prompt_on_validation_is_chosen_and_the_first_on_ties(guesses):
    correct = np.zeros((3, 40), bool)
    correct[1:] = True
    by_name = study(predictions(correct), candidates=[3])
    assert set(by_name["prompt"]) == {1}
    matrix = ResponseMatrix.from_predictions(guesses)
    by_name = outcomes(matrix, Setting("m", "t", 1), seed=0, splits=5, validation=0.75, prompt_counts=[12])
    for row in by_name.itertuples():
        total = matrix.correct[row.prompt].sum()
        assert row.validation_accuracy * 30 + row.test_accuracy * 10 == pytest.approx(total)


def test_fewer_prompts_are_drawn_anew_for_each_split_and_more_than_exist_are_all(guesses):
    outcomes = study(guesses, candidates=[1, 12, 200])
    assert outcomes[outcomes["requested_prompts"] == 1]["prompt"].nunique() > 5
    largest = outcomes[outcomes["requested_prompts"] == 200].reset_index(drop=True)
    assert set(largest["prompts"]) == {12}
    all_of_them = outcomes[outcomes["requested_prompts"] == 12].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        largest.drop(columns="requested_prompts"), all_of_them.drop(columns="requested_prompts")
    )


def test_baselines_and_tails_are_those_of_the_validation_part(guesses):
    row = study(guesses).query("prompts == 5").iloc[0]
    baseline = RandomBaseline.from_chance(0.5, 30)
    assert row["maximum_baseline"] == pytest.approx(baseline.maximum(5))
    assert row["maximum_tail"] == pytest.approx(baseline.tail(round(row["validation_accuracy"] * 30), 5))
    assert row["above_maximum"] == (row["validation_accuracy"] > row["maximum_baseline"])
    assert row["above_on_test"] == (row["test_accuracy"] > 0.5)


def test_a_prompt_counts_only_the_examples_it_was_evaluated_on(guesses):
    guesses_without_own = guesses[guesses["example"] != "e" + guesses["prompt"].astype(str)]
    outcomes = study(guesses_without_own, candidates=[12])
    assert set(outcomes["validation_examples"] + outcomes["test_examples"]) == {39}


def test_the_test_part_has_no_example_of_a_cluster_of_the_validation_part():
    """Prompts that guess, and answer the five examples of a cluster alike, are not above chance on others."""
    generator = np.random.default_rng(1)
    clusters = pd.Series(np.repeat(range(20), 5), [f"e{place}" for place in range(100)])
    how = {"seed": 0, "splits": 50, "validation": 0.75, "prompt_counts": [20]}
    of_clusters, of_examples = [], []
    for _ in range(20):
        table = predictions(np.repeat(generator.random((20, 20)) < 0.5, 5, axis=1))
        outcomes = all_outcomes([table], **how, clusters={"t": clusters})
        assert (outcomes["validation_examples"] == 75).all()
        assert np.allclose(outcomes["test_accuracy"] * 5 % 1, 0)  # of 5 whole clusters
        of_clusters.append(outcomes["test_accuracy"].mean())
        of_examples.append(all_outcomes([table], **how)["test_accuracy"].mean())
    assert np.mean(of_clusters) < 0.53 < 0.57 < np.mean(of_examples)
    by_themselves = pd.Series(range(100), clusters.index).sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(
        all_outcomes([table], **how, clusters={"t": by_themselves}), all_outcomes([table], **how)
    )
    guessed = guessed_outcomes(lambda: [table], sets=1, **how, clusters={"t": clusters})
    columns = ["split", "validation_examples"]
    pd.testing.assert_frame_equal(guessed[columns], outcomes[columns])


def test_a_prompt_whose_demonstrations_use_up_a_part_is_not_tried_there():
    table = predictions(np.ones((3, 4), bool))
    table = table[table["example"] != "e" + table["prompt"].astype(str)]
    outcomes = study(table, candidates=[3])
    assert (outcomes["test_examples"] == 1).all()
    assert (outcomes["prompts"] < 3).any()


@pytest.mark.parametrize("whole_split", [False, True])
@pytest.mark.parametrize(("size", "share"), [(24, 0.9), (5, 0.5)])
def test_every_row_is_what_one_would_work_out_by_hand(whole_split, size, share):
    """Of five examples, many prompts have none in one part: they are not tried there."""
    generator, splits, setting = np.random.default_rng(5), 6, Setting("m", "t", 8)
    table = predictions(generator.random((7, size)) < 0.4).assign(shots=8)  # so that prompts may lack 8
    chances = {f"e{i}": 1 / (2 + i % 3) for i in range(size)}
    table = table.assign(chance=table["example"].map(chances))[generator.random(len(table)) < share]
    matrix = ResponseMatrix.from_predictions(table)
    chance = np.array([chances[str(name)] for name in matrix.examples])
    how = {"seed": 3, "splits": splits, "validation": 0.75, "prompt_counts": [4, 1, 4, 50]}
    outcomes = all_outcomes([table], **how, whole_split=whole_split)
    assert set(outcomes.columns) == set(OUTCOMES.columns)
    assert outcomes.index.is_unique
    assert outcomes["split"].tolist() == np.repeat(range(splits), 3).tolist()
    assert outcomes["requested_prompts"].tolist() == [1, 4, 50] * splits
    examples = np.argsort(np.random.default_rng(setting.seed(3, "examples")).random((splits, size)), axis=1)
    orders = np.argsort(np.random.default_rng(setting.seed(3, "prompts")).random((splits, 7)), axis=1)
    unusable = 0
    for row in outcomes.itertuples():
        inside = np.isin(np.arange(size), examples[row.split, : size * 3 // 4])
        usable = [
            p
            for p in orders[row.split]
            if all((matrix.evaluated[p] & part).any() for part in (inside, ~inside))
        ]
        unusable += 7 - len(usable)
        subset = sorted(usable[: row.requested_prompts])
        mine = {p: matrix.evaluated[p] & inside for p in subset}
        accuracy = {p: matrix.correct[p][mine[p]].mean() for p in subset}
        best = max(subset, key=lambda p: (accuracy[p], -p))
        baseline = {p: RandomBaseline(chance[mine[p]]) for p in subset}
        if whole_split:
            baseline = dict.fromkeys(subset, RandomBaseline.from_chance(chance.mean(), size * 3 // 4))
        several, test = BestOf(list(baseline.values())), matrix.evaluated[best] & ~inside
        assert (row.prompt, row.prompts) == (best, min(row.requested_prompts, len(usable)))
        assert (row.validation_examples, row.test_examples) == (mine[best].sum(), test.sum())
        assert row.validation_accuracy == pytest.approx(accuracy[best])
        assert row.test_accuracy == pytest.approx(matrix.correct[best][test].mean())
        assert row.standard_baseline == pytest.approx(baseline[best].standard)
        assert row.maximum_baseline == pytest.approx(several.maximum)
        assert row.standard_tail == pytest.approx(BestOf([baseline[best]]).tail(accuracy[best]))
        assert row.maximum_tail == pytest.approx(several.tail(accuracy[best]))
        assert row.above_standard == (accuracy[best] > baseline[best].standard + 1e-9)
        assert row.above_maximum == (accuracy[best] > several.maximum + 1e-9)
        assert row.test_baseline == pytest.approx(chance[test].mean())
        assert row.above_on_test == (row.test_accuracy > chance[test].mean() + 1e-9)
    assert bool(unusable) == (size == 5)


def test_parts_that_no_prompt_can_be_chosen_and_tested_on_have_no_outcome():
    table = predictions(np.ones((2, 3), bool))
    single = table[table["example"] == "e" + table["prompt"].astype(str)]
    assert study(single, candidates=[1, 2]).empty


def test_scores_of_parts_are_counts_or_standardized():
    """A prompt without examples, or with only sure answers, has the score 0."""
    counts = np.array([[[0, 0, 0], [1, 0, 0]], [[0, 4, 0], [0, 0, 3]]])
    part = heldout.Part(np.array([[0, 1], [3, 3]]), counts, np.array([0.25, 0.5, 1.0]), taken_for=None)
    centre, unit = part.scale(standardized=False)
    assert centre.tolist() == [[0, 0], [0, 0]]
    assert unit.tolist() == [[1, 1], [4, 3]]
    centre, unit = part.scale(standardized=True)
    assert centre.tolist() == [[0, 0.25], [2, 3]]
    assert unit.tolist() == [[1, np.sqrt(3 / 16)], [1, 1]]
    taken_for = RandomBaseline.from_chance(0.5, 4)
    assert replace(part, taken_for=taken_for).of_splits(slice(1, 2)).taken_for is taken_for


def test_prompts_on_other_examples_are_chosen_by_their_standardized_scores():
    generator = np.random.default_rng(11)
    table = predictions(generator.random((5, 40)) < 0.6)
    table = table[(table["prompt"] > 1) | (table["example"].str[1:].astype(int) < 16)]
    matrix, by_name = ResponseMatrix.from_predictions(table), study(table, candidates=[5])
    examples = np.argsort(
        np.random.default_rng(Setting("m", "t", 1).seed(0, "examples")).random((20, 40)), axis=1
    )
    remaining = []
    for row in by_name.itertuples():
        inside = matrix.evaluated & np.isin(np.arange(40), examples[row.split, :30])
        if not (matrix.evaluated & ~inside).any(axis=1).all():
            continue  # a prompt has no example to be tested on
        size, correct = inside.sum(axis=1), (matrix.correct & inside).sum(axis=1)
        scores = (correct - size / 2) / np.sqrt(size / 4)
        several = BestOf([RandomBaseline.from_chance(0.5, int(n)) for n in size], standardized=True)
        best = int(scores.argmax())
        remaining.append((correct / size).argmax() != best)
        expected = 0.5 + several.maximum * np.sqrt(size[best] / 4) / size[best]
        assert row.prompt == best
        assert row.validation_accuracy == correct[best] / size[best]
        assert row.maximum_baseline == pytest.approx(min(expected, 1))
        assert row.maximum_tail == pytest.approx(several.tail(scores[best]))
        assert row.standard_tail == pytest.approx(
            RandomBaseline.from_chance(0.5, int(size[best])).tail(correct[best])
        )
        assert row.above_maximum == (scores[best] > several.maximum)
        assert row.above_standard == (correct[best] > size[best] / 2)
    assert any(remaining)
    assert len(remaining) > 12


def test_the_way_of_the_paper_is_asked_for(guesses):
    usual = study(guesses)
    guesses_without_own = guesses[guesses["example"] != "e" + guesses["prompt"].astype(str)]
    how = {"seed": 0, "splits": 20, "validation": 0.75, "prompt_counts": [1, 5, 12]}
    pd.testing.assert_frame_equal(usual, all_outcomes([guesses], **how, whole_split=False))
    counts = all_outcomes([guesses_without_own], **how, whole_split=True)
    assert set(counts["maximum_baseline"]) == {
        RandomBaseline.from_chance(0.5, 30).maximum(t) for t in (1, 5, 12)
    }
    assert study(guesses_without_own)["maximum_baseline"].nunique() > 3


def test_guessers_are_lucky_at_their_chance_and_each_set_in_its_own_way(guesses):
    how = {"seed": 4, "splits": 3, "validation": 0.75, "prompt_counts": [12]}
    outcomes = guessed_outcomes(lambda: [guesses], sets=2, **how)
    assert set(outcomes.columns) == set(GUESSERS.columns)
    assert outcomes.index.is_unique
    for number in range(2):
        generator = np.random.default_rng(Setting("m", "t", 1).seed(4, f"guessers {number}"))
        lucky = guesses.assign(correct=generator.random(len(guesses)) < 0.5)
        expected = all_outcomes([lucky], **how)
        group = outcomes[outcomes["set"] == number].drop(columns="set").reset_index(drop=True)
        pd.testing.assert_frame_equal(group, expected)


def test_agreement_by_prompts_tells_what_repeats_once(guesses):
    table = pd.concat(
        [study(part, candidates=[1, 5, 12, 50, 200]) for part in (guesses, guesses[guesses["prompt"] < 4])]
    )
    result = agreement_by_prompts(table)
    assert result.columns.tolist() == [
        *(
            "requested_prompts",
            "prompts",
            "predictor",
            "outcomes",
            "above_on_test_share",
            "accuracy",
            "precision",
            "recall",
        ),
        *("auroc", "aupr", "tail_auroc", "tail_aupr"),
    ]
    assert result["requested_prompts"].tolist() == [1, 1, 5, 5, 12, 12]
    assert result["prompts"].tolist() == [1, 1, 5, 5, 12, 12]
    expected = agreement(table[table["requested_prompts"] == 5], [])
    pd.testing.assert_frame_equal(
        result[result["requested_prompts"] == 5]
        .drop(columns=["requested_prompts", "prompts"])
        .reset_index(drop=True),
        expected,
    )


def test_agreement_is_precision_recall_and_areas():
    table = pd.DataFrame(
        {
            "above_on_test": [True, True, False, False],
            "above_standard": [True, True, True, True],
            "above_maximum": [True, False, True, False],
            "standard_log_below": np.log1p([-0.1, -0.2, -0.3, -0.4]),
            "maximum_log_below": np.log1p([-0.1, -0.4, -0.3, -0.2]),
        }
    )
    by_name = agreement(table, []).set_index("predictor")
    assert by_name.loc["standard", ["accuracy", "precision", "recall"]].tolist() == [0.5, 0.5, 1.0]
    assert by_name.loc["maximum", ["accuracy", "precision", "recall"]].tolist() == [0.5, 0.5, 0.5]
    assert by_name["auroc"].tolist() == [0.5, 0.5]
    assert by_name.loc["standard", "tail_auroc"] == 1
    assert by_name.loc["maximum", "tail_auroc"] == 0.5
    lines = curves(table)
    assert lines.columns.tolist() == ["curve", "predictor", "score", "x", "y"]
    assert lines.index.is_unique
    kinds = lines[["curve", "predictor", "score"]].drop_duplicates()
    assert len(kinds) == 8
    for predictor in ("standard", "maximum"):
        rows = lines[lines["predictor"] == predictor]
        (point,) = rows.query("curve == 'roc' and score == 'decision'").itertuples()
        assert (point.x, point.y) == ((1, 1) if predictor == "standard" else (0.5, 0.5))
        roc = rows.query("curve == 'roc' and score == 'tail'")
        assert auc(roc["x"], roc["y"]) == pytest.approx(by_name.loc[predictor, "tail_auroc"])
        (point,) = rows.query("curve == 'pr' and score == 'decision'").itertuples()
        assert (point.x, point.y) == tuple(by_name.loc[predictor, ["recall", "precision"]])


@pytest.mark.parametrize("seed", range(4))
def test_agreement_is_scikit_learns(seed):
    generator = np.random.default_rng(seed)
    truth = generator.random(50) < 0.4
    above = generator.random(50) < np.where(truth, 0.7, 0.2)
    score = -generator.random(50)
    table = pd.DataFrame({"above_on_test": truth, "above_standard": above, "above_maximum": ~above})
    table = table.assign(standard_log_below=score, maximum_log_below=-1 - score)
    by_name = agreement(table, []).set_index("predictor")
    for predictor, guess, rows in (("standard", above, score), ("maximum", ~above, -1 - score)):
        expected = {
            "outcomes": 50,
            "above_on_test_share": truth.mean(),
            "accuracy": metrics.accuracy_score(truth, guess),
            "precision": metrics.precision_score(truth, guess),
            "recall": metrics.recall_score(truth, guess),
            "auroc": metrics.roc_auc_score(truth, guess),
            "aupr": metrics.average_precision_score(truth, guess),
            "tail_auroc": metrics.roc_auc_score(truth, rows),
            "tail_aupr": metrics.average_precision_score(truth, rows),
        }
        assert by_name.loc[predictor].to_dict() == pytest.approx(expected)
        lines = curves(table).query(f"predictor == '{predictor}' and score == 'decision'").set_index("curve")
        assert lines.loc["roc", ["x", "y"]].tolist() == [guess[~truth].mean(), guess[truth].mean()]
        assert lines.loc["pr", ["x", "y"]].tolist() == [expected["recall"], expected["precision"]]
        line = curves(table).query(f"predictor == '{predictor}' and score == 'tail' and curve == 'pr'")
        precision, recall, _ = metrics.precision_recall_curve(truth, rows)
        assert (line["x"].tolist(), line["y"].tolist()) == (recall.tolist(), precision.tolist())


def test_what_has_no_cases_is_missing():
    table = pd.DataFrame({"above_on_test": [False, False], "above_standard": [True, False]})
    table = table.assign(above_maximum=False, standard_log_below=-1.0, maximum_log_below=-2.0)
    by_name = agreement(table, []).set_index("predictor")
    assert by_name["above_on_test_share"].tolist() == [0, 0]
    assert by_name["accuracy"].tolist() == [0.5, 1]
    assert by_name.loc["standard", "precision"] == 0
    assert np.isnan(by_name.loc["maximum", "precision"])
    assert by_name[["recall", "auroc", "aupr", "tail_auroc", "tail_aupr"]].isna().all(axis=None)
    all_up = agreement(table.assign(above_on_test=True), []).set_index("predictor")
    assert all_up["tail_auroc"].isna().all()
    assert all_up["tail_aupr"].tolist() == [1, 1]
    assert all_up["aupr"].tolist() == [1, 1]
    none = agreement(table[:0], []).set_index("predictor")
    assert none["outcomes"].tolist() == [0, 0]
    assert none.drop(columns="outcomes").isna().all(axis=None)
    missed = table.assign(above_on_test=[False, True], above_standard=False)
    assert agreement(missed, [])["aupr"].tolist() == [0.5, 0.5]
    assert agreement(table[:0], ["above_on_test"]).columns[:2].tolist() == ["above_on_test", "predictor"]


def test_outcomes_that_all_agree_have_no_curve_and_no_area(guesses):
    outcomes = study(predictions(np.ones((2, 40), bool)))
    assert curves(outcomes).empty
    assert curves(outcomes).columns.tolist() == ["curve", "predictor", "score", "x", "y"]
    assert agreement(outcomes, [])["auroc"].isna().all()


@pytest.mark.parametrize("share", [1.0, 0.9, 0.3])
def test_parts_are_counted_as_one_would_count_them_by_hand(share):
    generator = np.random.default_rng(7)
    evaluated = generator.random((6, 25)) < share
    correct = (generator.random((6, 25)) < 0.5) & evaluated
    chance = generator.choice([0.2, 0.25, 0.5], 25)
    chosen = generator.random((4, 25)) < 0.6
    ids, unknown = np.arange(25).astype(str), np.full(correct.shape, -1)
    matrix = ResponseMatrix(np.arange(6), ids, evaluated, correct, unknown, chance)
    for part, inside in zip(parts(matrix, chosen), (chosen, ~chosen), strict=True):
        baselines, place_of = part.baselines
        for prompt in range(6):
            for split in range(4):
                mine = evaluated[prompt] & inside[split]
                assert part.size[prompt, split] == mine.sum()
                assert part.correct[prompt, split] == (correct[prompt] & inside[split]).sum()
                if mine.any():
                    assert baselines[place_of[prompt, split]] == RandomBaseline(chance[mine])
                    assert part.standard[prompt, split] == pytest.approx(chance[mine].mean())


def test_more_splits_leave_the_earlier_ones_as_they_are(guesses):
    few, many = study(guesses, splits=5), study(guesses, splits=20)
    pd.testing.assert_frame_equal(few, many[many["split"] < 5].reset_index(drop=True))


def test_many_different_baselines_are_taken_in_smaller_groups_with_the_same_result(guesses, monkeypatch):
    guesses_without_own = guesses[guesses["example"] != "e" + guesses["prompt"].astype(str)]
    chances = {f"e{i}": 1 / (2 + i % 7) for i in range(40)}
    guesses_without_own = guesses_without_own.assign(chance=guesses_without_own["example"].map(chances))
    monkeypatch.setattr(heldout, "FEW_BASELINES", 10**9)
    whole = study(guesses_without_own)
    monkeypatch.setattr(heldout, "FEW_BASELINES", 2)
    pd.testing.assert_frame_equal(study(guesses_without_own), whole)


def test_different_counts_are_different_baselines_where_no_number_holds_them():
    """18 chances of 15 examples: one whole number for each row would overflow."""
    rows = np.random.default_rng(0).integers(0, 16, (40, 18))
    rows[7] = rows[3]
    first, chosen = _different(rows)
    assert len(first) == 39
    assert (rows[first][chosen] == rows).all()
    few, places = _different(rows[:, :3])
    assert (rows[:, :3][few][places] == rows[:, :3]).all()


@pytest.mark.parametrize(
    ("examples", "share", "expected"), [(90, 0.7, 63), (10, 0.75, 7), (3, 0.1, 0), (200, 0.29, 58)]
)
def test_a_share_of_examples_is_not_one_less_by_rounding(examples, share, expected):
    assert of_share(examples, share) == expected


def test_what_ranks_outcomes_tells_apart_what_tails_do_not():
    """At 30 of 75, 1 - F^200 is 1 in floating point, and so it is at 29."""
    correct = np.zeros((1, 200, 100), bool)
    correct[0, :, :45] = True
    outcomes = study(predictions(correct[0]), candidates=[200], splits=50)
    assert outcomes["maximum_tail"].nunique() < outcomes["maximum_log_below"].nunique()
    row = outcomes.iloc[0]
    baseline = RandomBaseline.from_chance(0.5, int(row["validation_examples"]))
    correct_places = round(row["validation_accuracy"] * baseline.examples)
    assert row["maximum_log_below"] == pytest.approx(200 * baseline.log_cdf(correct_places - 1))
    assert row["standard_log_below"] == pytest.approx(baseline.log_cdf(correct_places - 1))


def test_guessers_who_do_well_on_one_part_do_badly_on_the_other(guesses):
    how = {"seed": 0, "splits": 50, "validation": 0.75, "prompt_counts": [12]}
    outcomes = guessed_outcomes(lambda: [guesses], sets=20, **how)
    assert (len(outcomes), outcomes["set"].nunique()) == (1000, 20)
    chosen = RandomBaseline.from_chance(0.5, 30).maximum(12)
    assert outcomes["validation_accuracy"].mean() == pytest.approx(chosen, abs=0.03)
    assert of_guessers(outcomes, ["requested_prompts"])["tail_auroc"].iloc[0] < 0.35
    assert agreement(with_ranks(outcomes), [])["tail_auroc"].iloc[0] < 0.4
    ranks = with_ranks(outcomes)["standard_log_below"]
    assert ranks.max() == 1
    assert ranks.groupby(outcomes["set"]).mean().tolist() == pytest.approx([51 / 100] * 20)
    pd.testing.assert_frame_equal(outcomes, guessed_outcomes(lambda: [guesses], sets=20, **how))


def some_outcomes(tasks: int, rows: int = 30) -> pd.DataFrame:
    generator = np.random.default_rng(3)
    size = tasks * rows
    truth = generator.random(size) < 0.6
    score = np.round(truth + generator.normal(0, 1.5, (2, size)), 1)
    return pd.DataFrame(
        {
            "task": np.repeat([f"t{i}" for i in range(tasks)], rows),
            "above_on_test": truth,
            "above_standard": score[0] > -1,
            "above_maximum": score[1] > 0,
            "standard_log_below": score[0],
            "maximum_log_below": score[1],
        }
    )


def test_the_difference_of_baselines_is_that_of_their_agreements():
    table = some_outcomes(8)
    estimate, expected = difference(table).set_index("measure"), agreement(table, []).set_index("predictor")
    for measure in ("accuracy", "auroc", "tail_auroc"):
        for predictor in ("standard", "maximum"):
            assert estimate.loc[measure, predictor] == pytest.approx(expected.loc[predictor, measure])
        gain = estimate.loc[measure, "maximum"] - estimate.loc[measure, "standard"]
        assert estimate.loc[measure, "difference"] == pytest.approx(gain)
        assert estimate.loc[measure, "low"] < gain < estimate.loc[measure, "high"]


@pytest.mark.slow
def test_its_interval_is_that_of_resampled_tasks():
    table = some_outcomes(6)
    generator, gains = np.random.default_rng(1), []
    parts = [part for _, part in table.groupby("task")]
    for _ in range(1000):
        sample = pd.concat([parts[i] for i in generator.integers(0, 6, 6)])
        values = agreement(sample, []).set_index("predictor")["tail_auroc"]
        gains.append(values["maximum"] - values["standard"])
    row = difference(table).set_index("measure").loc["tail_auroc"]
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(gains, [0.025, 0.975]), abs=0.015)


def test_five_tasks_have_an_interval_and_it_is_seeded():
    estimate = difference(some_outcomes(5))
    assert estimate[["low", "high"]].notna().all(axis=None)
    pd.testing.assert_frame_equal(estimate, difference(some_outcomes(5), 10_000, 0))
    assert not estimate.equals(difference(some_outcomes(5), seed=1))


def test_of_few_tasks_there_is_no_interval():
    estimate = difference(some_outcomes(4))
    assert estimate[["low", "high"]].isna().all(axis=None)
    assert estimate["difference"].notna().all()
    none = difference(some_outcomes(8).assign(above_on_test=True)).set_index("measure")
    assert none.loc[["auroc", "tail_auroc"], "difference"].isna().all()
    empty = difference(some_outcomes(8)[:0])
    assert empty.columns.tolist() == estimate.columns.tolist()
    assert empty["measure"].tolist() == estimate["measure"].tolist()
    assert empty["standard"].isna().all()


def test_each_baseline_stands_beside_what_guessers_have_of_it():
    """By number of prompts, and for the largest number by model and by task."""
    few = some_outcomes(2).assign(requested_prompts=5, prompts=5)
    many = some_outcomes(3).assign(requested_prompts=20, prompts=18)
    table = pd.concat([few, many], ignore_index=True)
    table["model"] = np.where(np.arange(len(table)) % 3, "m", "n")
    sets = [table.sample(frac=0.8, random_state=seed).assign(set=seed) for seed in range(3)]
    tables = {schema.name: rows for schema, rows in heldout_tables(table, pd.concat(sets))}
    assert [*tables] == ["heldout_by_prompts", "heldout_by_model", "heldout_by_task", "heldout_difference"]
    largest = table[table["requested_prompts"] == 20]
    pd.testing.assert_frame_equal(tables["heldout_difference"], difference(largest))
    for name, by, part in (
        ("heldout_by_prompts", "requested_prompts", table),
        ("heldout_by_model", "model", largest),
        ("heldout_by_task", "task", largest),
    ):
        rows = tables[name]
        assert len(rows) == 2 * part[by].nunique()
        for _, row in rows.iterrows():
            expected = agreement(part[part[by] == row[by]], []).set_index("predictor").loc[row["predictor"]]
            for measure in ("outcomes", "above_on_test_share", "accuracy", "auroc", "tail_auroc"):
                assert row[measure] == pytest.approx(expected[measure]), (name, measure)
            for measure in ("accuracy", "auroc", "tail_auroc"):
                values = []
                for rows_of_set in sets:
                    rows_of_set = rows_of_set[
                        rows_of_set.index.isin(part.index) & (rows_of_set[by] == row[by])
                    ]
                    of_set = agreement(rows_of_set, []).set_index("predictor")
                    values.append(of_set.loc[row["predictor"], measure])
                assert row[f"guessers_{measure}"] == pytest.approx(np.mean(values)), (name, measure)
    assert tables["heldout_by_prompts"]["prompts"].tolist() == [5, 5, 18, 18]
    # a model that no set of guessers has
    without = pd.concat(sets)[lambda rows: rows["model"] != "n"]
    _, (_, rows), *_ = heldout_tables(table, without)
    assert rows.set_index("model")["guessers_auroc"].isna().to_dict() == {"m": False, "n": True}


def test_differences_are_missing_without_pairs_and_without_resamples():
    """If only one task has outcomes above chance, resamples without this task have no area."""
    table = some_outcomes(6)
    table["above_on_test"] = (table["task"] == "t0") & table["above_on_test"]
    rows = difference(table, resamples=400).set_index("measure")
    assert rows.loc["auroc", ["low", "high"]].notna().all()
    draws = times_drawn(6, 400, np.random.default_rng(0))
    parts = dict([*table.groupby("task")])
    gains = []
    for times in draws:
        sample = pd.concat([parts[f"t{task}"] for task in range(6) for _ in range(int(times[task]))])
        if sample["above_on_test"].any():
            values = agreement(sample, []).set_index("predictor")["auroc"]
            gains.append(values["maximum"] - values["standard"])
    assert 0 < len(gains) < 400
    expected = np.quantile(gains, [0.025, 0.975])
    assert rows.loc["auroc", ["low", "high"]].tolist() == pytest.approx(expected.tolist())
    assert difference(table, resamples=1, seed=0).shape == (3, 6)


def test_no_outcome_has_no_share_above_chance():
    (first, second) = agreement(some_outcomes(2)[:0], []).to_dict("records")
    for row in (first, second):
        assert row.pop("outcomes") == 0
        del row["predictor"]
        assert all(np.isnan(value) for value in row.values())
