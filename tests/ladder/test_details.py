"""The ladder and floors in full: whole tables, clusters, random seeds, and missing parts of tasks."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.best.selection import sign_flips
from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.ladder import Guesser, Situation, climb, guessers as guessers_module
from abovechance.ladder.climbing import DRAWS
from abovechance.ladder.floors import above_floor
from abovechance.ladder.guessers import listed_places
from abovechance.ladder.study import CLIMBED, for_verdicts, guesser_counts, ladders
from abovechance.metrics.texts import best_of
from abovechance.study.formats import apply_format
from abovechance.study.tasks import as_table
from tests.ladder.test_ladder import BY_NAME, planted, predictions_of, task_of

UNIFORM = BY_NAME["uniform"]


def ladder_rows(*rows: tuple[str, int, str, float, bool]) -> pd.DataFrame:
    """Return a table of (task, shots, guesser, its accuracy, whether it is beaten)."""
    names = ["task", "shots", "guesser", "guesser_accuracy", "beaten"]
    return pd.DataFrame(rows, columns=names).assign(model="m")


def test_columns_of_verdicts():
    ladder = ladder_rows(
        ("a", 1, "uniform", 0.25, True),
        ("a", 1, "position", 0.3, True),
        ("a", 1, "longest choice", 0.4, False),
        ("b", 1, "uniform", 0.25, False),
        ("b", 1, "position", 0.3, True),
        ("b", 2, "uniform", 0.25, True),
    )
    table = for_verdicts(ladder)
    assert [*table.columns] == ["model", "task", "shots", *CLIMBED]
    assert table["beaten_guesser"].fillna("").tolist() == ["position", "", "uniform"]
    assert table["unbeaten_guesser"].fillna("").tolist() == ["longest choice", "uniform", ""]
    assert [*for_verdicts(ladder.iloc[:0]).columns] == [*table.columns]


def test_counts_of_guessers_are_whole_tables():
    ladder = ladder_rows(
        ("a", 1, "uniform", 0.2, True),
        ("a", 1, "mine", 0.5, True),
        ("a", 1, "position", 0.3, False),
        ("b", 1, "uniform", 0.4, True),
        ("b", 1, "position", 0.5, True),
        ("c", 1, "uniform", 0.3, False),
        ("c", 1, "position", 0.7, False),
    )
    verdicts = pd.DataFrame(
        {
            "task": ["b", "a", "c"],
            "better_than_chance": ["no", "yes", "yes"],
            "position": ["above", "above", "between"],
            # columns that both tables have are not keys
            "guesser_accuracy": 9.0,
            "beaten": False,
        }
    ).assign(model="m", shots=1)
    expected = pd.DataFrame(
        [
            ("uniform", "guessing at random", 3, 0.3, 0.3, 2, 2, 1, 2, 2),
            ("position", BY_NAME["position"].caption, 3, 0.5, 0.3, 1, 2, 0, 2, 1),
            ("mine", "", 1, 0.5, 0.2, 1, 1, 1, 1, 1),
        ],
        columns=[
            *("guesser", "guesses", "settings", "guesser_accuracy", "uniform_accuracy", "beaten"),
            *("better", "better_beaten", "above", "above_beaten"),
        ],
    )
    pd.testing.assert_frame_equal(guesser_counts(ladder, verdicts), expected, check_dtype=False)
    none = guesser_counts(ladder.iloc[:0], verdicts)
    assert [*none.columns] == [*expected.columns]
    assert none.empty


def test_settings_without_choices_are_left_out_and_the_next_ones_are_not():
    generator = np.random.default_rng(0)
    task = planted(generator, 40, 0.5)
    correct = task["correct"].map(lambda flags: [*flags].index(True)).to_numpy()
    answers = np.where(generator.random((2, 40)) < 0.6, correct, (correct + 1) % 4)
    judged = predictions_of(answers, task)
    unknown = judged.assign(task="other")
    labels = task_of([(f"q {n}", ["yes", "no"], int(n % 4 == 0)) for n in range(40)])
    of_labels = predictions_of(np.zeros((2, 40), dtype=int), labels).assign(task="labels")
    prompts = pd.DataFrame({"prompt": [0, 1], "demonstrations": [["0", "2"], ["0"]]})
    nulls = {"labels": of_labels.assign(correct=True)}
    table = ladders(
        [unknown, judged, of_labels],
        {"t": task, "labels": labels, "other": task.iloc[:3]},
        {("labels", 1): prompts},
        3,
        lambda setting: nulls.get(setting.task),
    )
    assert table["task"].unique().tolist() == ["t", "labels"]
    whole = {
        "t": climb(judged, task, seed=3),
        "labels": climb(of_labels, labels, {0: ["no", "yes"], 1: ["no"]}, nulls["labels"], seed=3),
    }
    assert 0 < climb(judged, task, seed=0)["guesser_tail"].iloc[-1] != whole["t"]["guesser_tail"].iloc[-1] < 1
    # the best prompt's last demonstration is "yes", which is correct in three of four examples
    assert {"choices only", "last demonstration"} <= {*whole["labels"]["guesser"]}
    for name, expected in whole.items():
        part = table[table["task"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(part, expected, check_like=True, check_dtype=False)


def test_a_setting_without_a_verdict_counts():
    ladder = ladder_rows(("a", 1, "uniform", 0.2, True), ("b", 1, "uniform", 0.4, True))
    verdicts = pd.DataFrame({"task": ["a"], "better_than_chance": "yes", "position": "above"})
    counts = guesser_counts(ladder, verdicts.assign(model="m", shots=1))
    assert counts[["settings", "better", "above"]].iloc[0].tolist() == [2, 1, 1]


def test_demonstrations_belong_to_their_prompts():
    labels = task_of([(f"q {n}", ["yes", "no"], int(n % 4 == 0)) for n in range(40)])
    predictions = predictions_of(np.zeros((2, 40), dtype=int), labels)
    predictions["prompt"] = predictions["prompt"].map({0: 7, 1: 3})
    situations = []
    guesser = Guesser("seen", "", lambda situation: situations.append(situation))
    climb(predictions, labels, {3: ["no"], 7: ["yes"], 9: ["no"]}, guessers=[guesser])
    climb(predictions, labels, guessers=[guesser])
    with_labels, without = situations
    assert [*map(list, with_labels.demonstrations)] == [["no"], ["yes"]]  # prompts in ascending order
    assert without.demonstrations is None
    ladder = climb(predictions, labels, {3: ["no"], 7: ["yes"]}).set_index("guesser")
    # the best prompts are equal, so the first one is prompt 3
    copied = ladder.loc["last demonstration"] if "last demonstration" in ladder.index else None
    assert copied is None or copied["guesser_accuracy"] in (0.25, 0.75)


def test_answers_without_the_question_are_those_of_the_same_prompt_and_example():
    labels = task_of([(f"q {n}", ["yes", "no"], int(n % 4 == 0)) for n in range(8)])
    predictions = predictions_of(np.zeros((2, 8), dtype=int), labels)
    nulls = predictions.assign(correct=predictions["example"].isin(["1", "5"]) & (predictions["prompt"] == 1))
    more = nulls.assign(prompt=nulls["prompt"] + 5, correct=True)
    nulls = pd.concat([more, nulls.sample(frac=1, random_state=0).iloc[:-1]])  # a row is missing
    situations = []
    climb(predictions, labels, None, nulls, guessers=[Guesser("seen", "", lambda s: situations.append(s))])
    expected = np.zeros((2, 8))
    expected[1, [1, 5]] = 1
    missing = nulls.iloc[len(more) :]
    removed = {(row.prompt, row.example) for row in missing.itertuples()}
    for prompt, example in product(range(2), range(8)):
        if (prompt, str(example)) not in removed:
            expected[prompt, example] = 0
    np.testing.assert_array_equal(situations[0].null_scores, expected)


@pytest.mark.parametrize("together", [False, True])
def test_the_tail_is_that_of_sign_flips_of_clusters(together):
    """All signs of twelve examples, or of their six pairs."""
    generator = np.random.default_rng(1)
    task = planted(generator, 12, 0.7).assign(cluster=np.arange(12) // 2 if together else np.arange(12))
    gold = task["correct"].map(lambda flags: [*flags].index(True)).to_numpy()
    answers = np.where(generator.random((3, 12)) < 0.8, gold, (gold + 1) % 4)
    predictions = predictions_of(answers, task)
    ladder = climb(predictions, task).set_index("guesser")
    correct = (answers == gold).astype(float)
    best = int(correct.sum(axis=1).argmax())
    differences = correct - BY_NAME["longest choice"].scores(Situation(task))
    sums = differences.reshape(3, 6, 2).sum(axis=2) if together else differences
    sums = sums / np.sqrt((sums**2).sum(axis=1, keepdims=True))
    signs = np.array([*product((-1, 1), repeat=sums.shape[1])])
    reached = (signs @ sums.T).max(axis=1) >= sums[best].sum() - 1e-9
    assert ladder.loc["longest choice", "guesser_tail"] == pytest.approx(reached.mean())


def test_only_evaluated_examples_count():
    task = task_of([(f"q {n}", [f"{n}a", f"{n}bb"], 1) for n in range(6)] + [("q", ["xa", "xbb"], 0)] * 4)
    task["example"] = [str(n) for n in range(10)]
    predictions = predictions_of(np.ones((2, 10), dtype=int), task)
    fewer = predictions[~((predictions["prompt"] == 0) & predictions["example"].isin(["6", "7", "8", "9"]))]
    ladder = climb(fewer, task).set_index("guesser")
    row = ladder.loc["longest choice"]  # is correct on the six examples of the best prompt
    assert (row["best_accuracy"], row["guesser_accuracy"], row["guesser_tail"]) == (1.0, 1.0, 1.0)


def test_random_signs_follow_the_setting_the_guesser_and_the_seed():
    task = planted(np.random.default_rng(2), 80, 0.4)
    gold = task["correct"].map(lambda flags: [*flags].index(True)).to_numpy()
    answers = np.where(np.random.default_rng(3).random((5, 80)) < 0.5, gold, (gold + 1) % 4)
    predictions = predictions_of(answers, task)
    ladder = climb(predictions, task).set_index("guesser")
    pd.testing.assert_frame_equal(ladder, climb(predictions, task, seed=0).set_index("guesser"))
    name, setting = "longest choice", Setting("m", "t", 1)
    differences = (answers == gold) - BY_NAME[name].scores(Situation(task))
    best = int((answers == gold).sum(axis=1).argmax())
    for seed in (0, 1):
        tail = sign_flips(differences, np.arange(80), DRAWS, setting.seed(seed, name))[best]
        assert climb(predictions, task, seed=seed).set_index("guesser").loc[name, "guesser_tail"] == tail
    assert sign_flips(differences, np.arange(80), DRAWS, setting.seed(0, name))[best] != tail


def test_uniform_is_a_rung_once_and_equal_guessers_are_none():
    task = planted(np.random.default_rng(4), 30, 0.5)
    predictions = predictions_of(np.full((2, 30), 3), task)
    for shift, expected in ((0.0, ["uniform"]), (1e-8, ["uniform", "near"]), (-0.1, ["uniform"])):
        near = Guesser("near", "", lambda s, shift=shift: UNIFORM.scores(s) + shift)
        assert climb(predictions, task, guessers=[UNIFORM, near])["guesser"].tolist() == expected
    two = [Guesser(name, "", lambda s: UNIFORM.scores(s) + 0.2) for name in ("z", "a")]
    ladder = climb(predictions, task, guessers=two)
    assert ladder["guesser"].tolist() == ["uniform", "z", "a"]  # equal ones stay in their order
    assert ladder.index.tolist() == [0, 1, 2]
    perfect = Guesser("one", "", lambda s: np.ones(len(s.task)))
    assert climb(predictions, task, guessers=[perfect])["guesser_accuracy"].iloc[-1] == 1.0


LABELS = task_of(
    [
        ("alpha beta", ["yes", "no", "maybe"], 0),
        ("beta gamma", ["no", "yes", "maybe"], 0),
        ("delta", ["maybe", "yes", "no"], 1),
        ("", ["yes", "no", "maybe"], 2),
        ("gamma beta", ["yes", "no", "maybe"], 1),
    ]
)


def test_demonstrations_with_unknown_and_missing_labels():
    situation = Situation(LABELS, [["no", "yes", "yes", "no"], ["other"], [], ["yes"]])
    rows = BY_NAME["demonstrations' majority"].scores(situation)
    yes, no = [1, 0, 1, 0, 0], [0, 1, 0, 0, 1]
    np.testing.assert_allclose(rows, [np.mean([yes, no], axis=0), [1 / 3] * 5, [1 / 3] * 5, yes])
    assert BY_NAME["last demonstration"].scores(Situation(LABELS, None)) is None
    different = LABELS.assign(choices=[["a", "b", "c"], *LABELS["choices"].iloc[1:]])
    assert BY_NAME["last demonstration"].scores(Situation(different, [["a"]])) is None


def test_nearest_neighbours_without_a_common_word():
    scores = BY_NAME["nearest neighbour"].scores(Situation(LABELS))
    # 0: nearest are 1 and 4, both "no"; 1 and 4 are equal; 2 and 3 have no word in common with others
    np.testing.assert_allclose(scores, [0, 1, 1 / 3, 1 / 3, 1])
    pairs = [("one two", ["a", "b"], 0), ("one two", ["a", "b"], 1), ("one two", ["a", "b"], 1)]
    scores = BY_NAME["nearest neighbour"].scores(Situation(task_of(pairs).assign(cluster=range(3))))
    np.testing.assert_allclose(scores, [0, 0.5, 0.5])  # ties are averaged
    empty = task_of([("", ["a", "b"], 0), ("!", ["a", "b"], 1)])
    assert BY_NAME["nearest neighbour"].scores(Situation(empty)) is None


def test_other_objects_are_no_guessers():
    with pytest.raises(InputError, match="guesser 'mine': expected a Guesser or a function of a Situation"):
        guessers_module._as_guesser("mine", 3)
    guesser = guessers_module._as_guesser("mine", len)
    assert (guesser.name, guesser.caption, guesser.scores, guesser.draws) == (
        "mine",
        "the guesser mine",
        len,
        False,
    )
    assert guessers_module._as_guesser("x", guesser) is guesser


FLOOR = [[0.0, 0.0, 1.0], [0.0, 0.5, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.5]]
BETTER = [[1.0, 1.0, 1.0], [0.5, 1.0, 1.0], [1.0, 1.0, 1.0], [0.5, 0.5, 0.5]]


def test_a_comparison_with_floors_is_whole():
    worse = [[0.0] * 3] * 4
    result = above_floor({"z": BETTER, "a": worse}, {"z": worse, "b": FLOOR, "y": worse}, k=2, tries=6)
    assert (result.k, result.best, result.floor, result.tries, result.examples) == (2, "z", "b", 6, 4)
    better, floor = (np.array([best_of(row, 2) for row in rows]) for rows in (BETTER, FLOOR))
    assert result.values == pytest.approx({"z": better.mean(), "a": 0.0})
    assert result.floors == pytest.approx({"z": 0.0, "b": floor.mean(), "y": 0.0})
    single = sign_flips(np.stack([better - floor, -floor]), np.arange(4))[0]
    best_alone = sign_flips((better - floor)[None], np.arange(4))[0]
    assert result.p == pytest.approx(1 - (1 - single) * (1 - best_alone) ** 4)
    html = result._repr_html_()
    for text in (">pass@2<", ">floor<", ">best of all runs of the floor<", ">p-value<"):
        assert text in html
    sentences = " ".join(result.sentences)
    assert f"floor 'b' is at {floor.mean():.3f}, and the best of 6 runs of it is expected" in sentences
    assert "for 6 tries" in sentences
    alone = above_floor({"z": BETTER, "a": worse}, {"b": FLOOR}, k=2, tries=6)
    assert result.expected_best == alone.expected_best


def test_the_best_of_runs_that_rarely_pass():
    """Four attempts at each of 20 examples, one of which passes: the best of five runs."""
    floor = [[0.0, 0.0, 0.0, 1.0]] * 20
    result = above_floor({name: [[1.0] * 4] * 20 for name in "abcde"}, {"random": floor})
    cdf = stats.binom(80, 0.25).cdf(np.arange(81)) ** 5
    expected = (np.arange(81) * np.diff(cdf, prepend=0)).sum() / 80
    # attempts vary by 4/3 of what draws from four of them do
    assert 0.25 + (result.expected_best - 0.25) * np.sqrt(3 / 4) == pytest.approx(expected, abs=0.005)


def test_examples_of_a_cluster_are_one_unit():
    better, worse = [[1.0]] * 8, [[0.0]] * 8
    clusters = np.arange(8) // 2
    assert above_floor({"a": better}, {"null": worse}).p == pytest.approx(1 / 2**8)
    assert above_floor({"a": better}, {"null": worse}, clusters=clusters).p == pytest.approx(1 / 2**4)


def test_results_follow_the_random_seed():
    generator = np.random.default_rng(0)
    candidate = generator.random((40, 3)).tolist()
    floor = generator.random((40, 3)).tolist()
    results = [above_floor({"a": candidate, "b": floor}, {"null": floor}, seed=seed) for seed in (0, 0, 1)]
    assert results[0] == results[1] == above_floor({"a": candidate, "b": floor}, {"null": floor})
    assert results[0].p != results[2].p
    assert results[0].expected_best != results[2].expected_best


def test_many_more_tries_have_more_draws():
    """With 100 draws, the smallest p-value of a single try would be 1/101."""
    better, worse = [[1.0]] * 40, [[0.0]] * 40
    few = above_floor({"a": better}, {"null": worse}, draws=100)
    many = above_floor({"a": better, "b": better}, {"null": worse}, tries=1000, draws=100)
    assert few.p == pytest.approx(1 / 101)
    assert many.p < 1000 / 2 / 101


@pytest.mark.parametrize(
    ("candidates", "message"), [({"a": [[1.0]] * 3}, r"\[3, 4\] examples"), ({"b": [[]] * 4}, "'b'")]
)
def test_attempts_that_do_not_fit_are_refused(candidates, message):
    with pytest.raises(InputError, match=message):
        above_floor(candidates, {"floor": [[1.0]] * 4})


@pytest.mark.parametrize("score", [1.5, -0.5, float("nan")])
def test_scores_of_floors_are_from_0_to_1(score):
    with pytest.raises(InputError) as error:
        above_floor({"a": [[1.0]] * 4}, {"floor": [[score]] * 4})
    assert str(error.value) == f"'floor': a score is [{score}]; expected numbers from 0 to 1"


def test_floors_need_as_many_attempts():
    expected = "'floor': pass@2 needs at least 2 attempts at each example; an example has 1"
    with pytest.raises(InputError, match=expected):
        above_floor({"a": [[1.0, 1.0]] * 4}, {"floor": [[1.0]] * 4}, k=2)


def listed_task(listing: str, choices: list[list[str]], ending: str = "A:") -> pd.DataFrame:
    """Return a task whose texts list their choices; the first choice is correct."""
    task = task_of([(f"question {place}", names, 0) for place, names in enumerate(choices)])
    texts = [f"{row.input}\n{listing.format(*row.choices)}\n{ending}" for row in task.itertuples()]
    return task.assign(text=texts, bare=[f"{text}\n{ending}" for text in task["input"]])


def test_a_choice_within_another_one_is_placed_by_its_own_words():
    task = listed_task("{1}\n{0}", [["one", "no one"], ["cat", "the cat"]])
    assert listed_places(task) == [[1, 0], [1, 0]]
    assert BY_NAME["position"].scores(Situation(task)).tolist() == [1, 1]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]])
def test_positions_that_are_equally_frequent_are_chosen_at_random(order):
    """Two correct choices are listed first, two second and one third. The order of rows changes nothing."""
    listings = np.array(["{0} {1} {2}", "{1} {0} {2}", "{0} {1} {2}", "{1} {0} {2}", "{1} {2} {0}"])[order]
    tasks = [
        listed_task(text, [[f"{at}a", f"{at}b", f"{at}c"]]) for at, text in zip(order, listings, strict=True)
    ]
    scores = BY_NAME["position"].scores(Situation(pd.concat(tasks, ignore_index=True)))
    assert scores[np.argsort(order)].tolist() == [0.5, 0.5, 0.5, 0.5, 0]


def test_choices_after_the_list_are_not_the_list():
    task = listed_task("{0}\n{1}", [["red", "blue"], ["sea", "sky"]], "Reply as red or sea:")
    assert listed_places(task) == [[0, 1], [0, 1]]
    before = task.assign(text="sky red " + task["text"], bare="sky red " + task["bare"])
    assert listed_places(before) == [[0, 1], [0, 1]]


@pytest.mark.parametrize(("unlisted", "is_defined"), [(0, True), (1, True), (2, True), (3, False)])
def test_a_few_examples_may_lack_the_list(unlisted, is_defined):
    """At least 90 % of 20 examples must list their choices."""
    task = listed_task("{1}\n{0}", [[f"{place}a", f"{place}b", f"{place}c"] for place in range(20)])
    task = task.assign(
        text=["question" if place < unlisted else text for place, text in enumerate(task["text"])]
    )
    texts = task["text"] + [f"\n{place}c" * (place >= unlisted) for place in range(20)]
    scores = BY_NAME["position"].scores(Situation(task.assign(text=texts, bare=texts)))
    assert (scores is not None) == is_defined
    if is_defined:
        np.testing.assert_allclose(scores, [1 / 3] * unlisted + [1] * (20 - unlisted))


def test_an_input_that_has_the_words_of_all_choices_tells_nothing():
    rows = [("two words", ["two words", "two"], 0), ("sea sky", ["sea", "sun"], 0)]
    scores = BY_NAME["word overlap"].scores(Situation(task_of(rows)))
    assert scores.tolist() == [0.5, 1.0]
    assert BY_NAME["word overlap"].scores(Situation(task_of(rows[:1]))) is None


@pytest.mark.parametrize("scores", [lambda _: 1 / 0, lambda _: ["a"]])
def test_a_guesser_that_fails_is_named(scores):
    task = planted(np.random.default_rng(0), 8, 0.5)
    predictions = predictions_of(np.zeros((2, 8), dtype=int), task)
    with pytest.raises(InputError, match="guesser 'mine': failed with"):
        climb(predictions, task, guessers=[Guesser("mine", "fails", scores)])


@pytest.mark.parametrize("cue", ["Answer:", "Solution:", "A:", ""])
@pytest.mark.parametrize(
    "choices",
    [["dog", "cat", "bird", "tree", "house"], ["A dog", "A cat", "vitamin A", "a tree", "A. B"]],
)
def test_letters_before_options_are_listed_in_their_order(cue, choices):
    """Also if the cue begins with a letter, or an option contains one."""
    rows = [
        {
            "example": str(number),
            "text": f"Picture {number}?\n{cue}",
            "bare": f"Picture {number}?\n{cue}",
            "input": f"{number}",
            "choices": choices[: 3 + 2 * (number % 2)],
            "correct": [place == number % 3 for place in range(3 + 2 * (number % 2))],
        }
        for number in range(40)
    ]
    task = apply_format(as_table(rows), "letters", "t")
    places = listed_places(task)
    assert places == [[*range(3 + 2 * (number % 2))] for number in range(40)]
    position = BY_NAME["position"].scores(Situation(task))
    assert position.tolist() == [float(number % 3 == 0) for number in range(40)]


def test_a_guesser_that_draws_may_have_probabilities_for_each_prompt():
    task = planted(np.random.default_rng(4), 30, 0.5)
    predictions = predictions_of((np.random.default_rng(5).random((2, 30)) * 4).astype(int), task)
    ladders_of = [
        climb(predictions, task, guessers=[UNIFORM, Guesser("drawn", "", scores, draws=True)])
        for scores in (lambda s: np.full(30, 0.4), lambda s: np.full((2, 30), 0.4))
    ]
    pd.testing.assert_frame_equal(*ladders_of)
    assert "drawn" in ladders_of[0]["guesser"].tolist()
