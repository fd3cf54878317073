"""The ladder of guessers: each guesser by hand, planted artifacts, and no false alarms."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.chance.study import judge
from abovechance.chance.verdicts import verdicts
from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.ladder import GUESSERS, Guesser, Situation, all_guessers, climb
from abovechance.ladder.climbing import LADDER
from abovechance.ladder.guessers import listed_places
from abovechance.ladder.study import for_verdicts, guesser_counts, labels_of_prompts, ladders
from abovechance.published.pools import pooled_task
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.study.tasks import as_table

BY_NAME = {guesser.name: guesser for guesser in GUESSERS}


def task_of(rows: list[tuple[str, list[str], int]], listed: bool = False) -> pd.DataFrame:
    """Return a task of (input, choices, number of the correct one); listed choices are in the text."""
    return as_table(
        {
            "example": str(place),
            "text": text + "".join(f"\n  choice: {choice}" for choice in choices * listed) + "\nA:",
            "bare": text + "\nA:",
            "input": text,
            "choices": choices,
            "correct": [number == correct for number in range(len(choices))],
        }
        for place, (text, choices, correct) in enumerate(rows)
    )


def predictions_of(predicted: np.ndarray, task: pd.DataFrame, shots: int = 1) -> pd.DataFrame:
    """Return the predictions of (prompts, examples) chosen choices."""
    prompt, example = np.indices(predicted.shape).reshape(2, -1)
    correct = [task["correct"].iloc[e][predicted[p, e]] for p, e in zip(prompt, example, strict=True)]
    chance = task["correct"].map(np.mean).to_numpy()
    table = {
        "prompt": prompt,
        "example": task["example"].to_numpy()[example],
        "predicted": predicted.ravel(),
        "correct": correct,
        "tie": False,
        "chance": chance[example],
    }
    return Setting("m", "t", shots).label(pd.DataFrame(table))


COLOURS = task_of(
    [
        ("The sky is", ["blue", "red"], 0),
        ("Blood is", ["red", "blue"], 0),
        ("The blue sea is", ["red", "blue"], 1),
        ("A rose is red or", ["blue", "red"], 1),
        ("The sea is", ["blue", "red"], 0),
    ],
    listed=True,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("uniform", [0.5, 0.5, 0.5, 0.5, 0.5]),
        ("label prior", [0.6, 0.4, 0.6, 0.4, 0.6]),
        ("majority label", [1, 0, 1, 0, 1]),
        ("position", [1, 1, 0, 0, 1]),
        ("longest choice", [1, 0, 1, 0, 1]),
        ("shortest choice", [0, 1, 0, 1, 0]),
        ("word overlap", [0.5, 0.5, 1, 1, 0.5]),
    ],
)
def test_scores_by_hand(name, expected):
    assert BY_NAME[name].scores(Situation(COLOURS)).tolist() == expected


def test_nearest_neighbour_is_an_example_of_another_cluster():
    # the nearest of "The sky is" is "The sea is", and the other way round; both are blue
    scores = BY_NAME["nearest neighbour"].scores(Situation(COLOURS))
    assert scores[[0, 4]].tolist() == [1, 1]
    together = COLOURS.assign(cluster=[0, 1, 2, 3, 0])
    assert BY_NAME["nearest neighbour"].scores(Situation(together))[0] == 1  # then "The blue sea is"
    assert BY_NAME["nearest neighbour"].scores(Situation(COLOURS.assign(cluster=0))) is None
    rows = [
        ("alpha beta", ["yes", "no"], 0),
        ("alpha beta gamma", ["yes", "no"], 0),
        ("alpha x", ["yes", "no"], 1),
    ]
    task = task_of(rows).assign(cluster=[0, 0, 1])
    assert BY_NAME["nearest neighbour"].scores(Situation(task)).tolist() == [0, 0, 0]


def test_labels_of_demonstrations():
    situation = Situation(COLOURS, [["red", "blue", "blue"], ["blue", "red"], []])
    last = BY_NAME["last demonstration"].scores(situation)
    assert last.tolist() == [[1, 0, 1, 0, 1], [0, 1, 0, 1, 0], [0.5] * 5]
    majority = BY_NAME["demonstrations' majority"].scores(situation)
    assert majority.tolist() == [[1, 0, 1, 0, 1], [0.5] * 5, [0.5] * 5]
    assert BY_NAME["last demonstration"].scores(Situation(COLOURS, [[], []])) is None
    prompts = pd.DataFrame({"prompt": [0, 1], "demonstrations": [["0", "3"], ["1"]]})
    assert labels_of_prompts(prompts, COLOURS) == {0: ["blue", "red"], 1: ["red"]}


def test_choices_only_is_the_model_without_the_question():
    generator = np.random.default_rng(5)
    task = planted(generator, 100, 0.25)
    gold = task["correct"].map(lambda flags: [*flags].index(True)).to_numpy()
    knows = generator.random((5, 100)) < 0.6  # from the choices alone
    predictions = predictions_of(np.where(knows, gold, (gold + 1) % 4), task)
    ladder = climb(predictions, task, null_predictions=predictions.iloc[::-1]).set_index("guesser")
    assert ladder.loc["choices only", "guesser_accuracy"] == ladder.loc["choices only", "best_accuracy"]
    assert ladder.loc["choices only", "guesser_tail"] == 1.0
    nothing = predictions.assign(correct=predictions["prompt"] < 0)
    assert "choices only" not in set(climb(predictions, task, null_predictions=nothing)["guesser"])


def test_guessers_that_a_task_does_not_define_are_left_out():
    task = task_of([(f"question {place}", [f"{place}a", f"{place}b"], place % 2) for place in range(6)])
    defined = {guesser.name for guesser in GUESSERS if guesser.scores(Situation(task)) is not None}
    assert defined == {"uniform"}
    assert listed_places(task) is None  # the order in a file cannot be seen by a model


def test_places_in_the_text():
    task = task_of([("Q: one", ["no one", "one", "none"], 1)], listed=True)
    shuffled = task.assign(text=["Q: one\n  choice: none\n  choice: one\n  choice: no one\nA:"])
    assert listed_places(shuffled) == [[2, 1, 0]]


@pytest.mark.parametrize(
    "listing",
    [
        "A. {0}\nB. {1}",
        "(a) {0} (b) {1}",
        "Options: {0}, {1}",
        '["{0}", "{1}"]',
        "{0} (A)\n{1} (B)",
        "{0}.\n{1}.",
    ],
)
def test_lists_of_choices_in_other_formats(listing):
    rows = [(f"question {place}", [f"{place}x y", f"{place}x"], place % 2) for place in range(20)]
    task = task_of(rows)
    texts = [f"{row.bare[:-3]}\n{listing.format(*row.choices)}\nA:" for row in task.itertuples()]
    assert listed_places(task.assign(text=texts)) == [[0, 1]] * 20
    # choices in the question itself, and one example without them
    alone = task.assign(text=texts, bare=texts)
    alone.loc[0, ["text", "bare"]] = "question"
    assert listed_places(alone) == [[], *[[0, 1]] * 19]


def test_words_of_listed_choices_are_no_overlap():
    task = task_of([("Which is odd: two words here, one?", ["two words here", "one"], 0)] * 2)
    assert BY_NAME["word overlap"].scores(Situation(task)) is None


def test_a_guesser_that_returns_something_else_is_refused():
    task = planted(np.random.default_rng(0), 20, 0.6)
    predictions = predictions_of(np.full((2, 20), 3), task)
    for value, message in ((np.ones(3), "returned the shape"), (np.full(20, 2.0), "from 0 to 1")):
        guesser = Guesser("odd", "", lambda _, value=value: value)
        with pytest.raises(InputError, match=f"guesser 'odd': .*{message}"):
            climb(predictions, task, guessers=[BY_NAME["uniform"], guesser])
    with pytest.raises(InputError, match="demonstrations lack the prompt 1"):
        climb(predictions, task, {0: ["a"]})


@pytest.mark.parametrize(
    ("beaten", "unbeaten", "sentence"),
    [
        (
            ["uniform", "uniform"],
            [None, None],
            "In the settings that are better than chance, no simple guesser",
        ),
        (["uniform", "longest choice"], [None, None], "beat all simple guessers. In 1 of them, no simple"),
        (
            ["longest choice", None],  # no guesser answers the second task
            [None, None],
            "The setting that is better than chance and was compared with simple guessers beats all",
        ),
        (
            ["uniform", "uniform"],
            ["position", None],
            "1 of the 2 settings that are better than chance is not shown to beat all simple guessers",
        ),
        (
            ["uniform", None],
            ["position", None],
            "The setting that is better than chance and was compared with simple guessers is not shown to "
            "beat the simple guesser 'position'.",
        ),
        (["longest choice", None], [None, None], "The setting that is better than chance and was compared"),
    ],
)
def test_sentences_of_verdicts(beaten, unbeaten, sentence):
    task = planted(np.random.default_rng(0), 60, 0.6)
    predictions = [predictions_of(np.full((2, 60), 3), task, shots) for shots in (1, 2)]
    climbed = pd.DataFrame({"beaten_guesser": beaten, "unbeaten_guesser": unbeaten, "shots": [1, 2]})
    climbed = climbed.assign(model="m", task="t")
    judged = judge(pd.concat(map(accuracy_by_prompt, predictions)), climbed=climbed)
    assert sentence in " ".join(judged.sentences)


def planted(generator: np.random.Generator, examples: int, share: float) -> pd.DataFrame:
    """Return a task in which the longest of four choices is correct with a probability of ``share``."""
    rows = []
    for place in range(examples):
        choices = [f"{place}x{letter}" + "y" * length for length, letter in enumerate("abcd")]
        longest = generator.random() < share
        rows.append((f"question {place}", choices, 3 if longest else int(generator.integers(3))))
    return task_of(rows)


def test_a_planted_artifact_is_where_the_ladder_stops():
    generator = np.random.default_rng(0)
    task = planted(generator, 150, 0.6)
    longest = np.full((20, 150), 3)
    noise = generator.random(longest.shape) < 0.1
    answers = np.where(noise, generator.integers(4, size=longest.shape), longest)
    predictions = predictions_of(answers, task)
    assert verdicts(accuracy_by_prompt(predictions))["better_than_chance"].iloc[0] == "yes"
    ladder = climb(predictions, task)
    climbed = for_verdicts(ladder).iloc[0]
    assert (climbed["beaten_guesser"], climbed["unbeaten_guesser"]) == ("uniform", "longest choice")
    row = ladder[ladder["guesser"] == "longest choice"].iloc[0]
    assert row["guesser_accuracy"] == pytest.approx(np.mean([flags[3] for flags in task["correct"]]))


def test_a_label_prior_is_not_beaten_by_another_one_that_answers_passages_alike():
    """Three guessers say yes to whole passages of ten questions, as often as yes is right."""
    generator = np.random.default_rng(2)
    beaten = 0
    for _ in range(20):
        gold = np.repeat(generator.random(20) < 0.6, 10)
        task = task_of([(f"question {place}", ["no", "yes"], int(flag)) for place, flag in enumerate(gold)])
        task["cluster"] = np.arange(200) // 10
        predictions = predictions_of(np.repeat(generator.random((3, 20)) < 0.6, 10, axis=1).astype(int), task)
        table = climb(predictions, task).set_index("guesser")
        beaten += int("label prior" in table.index and table.loc["label prior", "beaten"])
    assert beaten <= 2


def test_a_model_that_knows_more_beats_the_artifact():
    generator = np.random.default_rng(1)
    task = planted(generator, 150, 0.6)
    gold = task["correct"].map(lambda flags: [*flags].index(True)).to_numpy()
    knows = generator.random((20, 150)) < 0.85
    predictions = predictions_of(np.where(knows, gold, generator.integers(4, size=(20, 150))), task)
    climbed = for_verdicts(climb(predictions, task)).iloc[0]
    assert climbed["beaten_guesser"] == "longest choice"
    assert climbed["unbeaten_guesser"] is None


def test_no_artifact_no_stop():
    """Without an artifact, a good model beats each guesser."""
    generator = np.random.default_rng(2)
    task = planted(generator, 120, 0.25)
    gold = task["correct"].map(lambda flags: [*flags].index(True)).to_numpy()
    knows = generator.random((10, 120)) < 0.7
    predictions = predictions_of(np.where(knows, gold, generator.integers(4, size=(10, 120))), task)
    assert for_verdicts(climb(predictions, task))["unbeaten_guesser"].isna().all()


def gold_and_wrong(task, generator):
    """(examples,) the correct choices, and wrong ones at random."""
    gold = task["correct"].map(lambda flags: [*flags].index(True)).to_numpy()
    return gold, (gold + 1 + generator.integers(3, size=len(task))) % 4


@pytest.mark.slow
def test_prompts_that_are_as_good_as_a_guesser_rarely_beat_it():
    """The family-wise error rate: prompts that follow an artifact, with other examples wrong by chance."""
    runs, false_positives = 100, 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        task = planted(generator, 60, 0.6)
        # equally good as always the longest choice on average, and alike
        gold, wrong = gold_and_wrong(task, generator)
        shared, of_prompt = generator.random(60) < 0.6, generator.random((20, 60)) < 0.6
        correct = np.where(generator.random((20, 60)) < 0.7, shared, of_prompt)
        ladder = climb(predictions_of(np.where(correct, gold, wrong), task), task, seed=seed)
        false_positives += bool(ladder.loc[ladder["guesser"] == "longest choice", "beaten"].any())
    assert false_positives <= stats.binom(runs, 0.05).ppf(0.9999)


@pytest.mark.parametrize("share", [0.5, pytest.param(0.8, marks=pytest.mark.slow), 0.95])
def test_a_guesser_that_cannot_decide_is_as_good_as_prompts_with_its_accuracy(share):
    constant = Guesser("constant", "a constant", lambda situation: np.full(len(situation.task), share))
    false_positives, runs = 0, 40
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        task = planted(generator, 50, 0.6)
        gold, wrong = gold_and_wrong(task, generator)
        correct = generator.random((20, 50)) < share
        predictions = predictions_of(np.where(correct, gold, wrong), task)
        ladder = climb(predictions, task, seed=seed, guessers=[constant])
        assert ladder["guesser_accuracy"].iloc[-1] == pytest.approx(share)
        false_positives += bool(ladder["beaten"].iloc[-1])
    assert false_positives <= stats.binom(runs, 0.05).ppf(0.999)
    # a prompt that is much better is found
    better = predictions_of(np.where(generator.random((20, 50)) < 0.98, gold, wrong), task)
    if share == 0.5:
        assert climb(better, task, guessers=[constant])["beaten"].all()


def test_uniform_is_the_verdict_and_weaker_guessers_are_left_out():
    generator = np.random.default_rng(3)
    task = planted(generator, 60, 0.6)
    predictions = predictions_of(generator.integers(4, size=(10, 60)), task)
    ladder = climb(predictions, task)
    verdict = verdicts(accuracy_by_prompt(predictions)).iloc[0]
    uniform = ladder[ladder["guesser"] == "uniform"].iloc[0]
    assert uniform["guesser_tail"] == uniform["guesser_holm_tail"] == verdict["maximum_tail"]
    assert uniform["guesser_accuracy"] == verdict["standard_baseline"]
    assert (ladder["guesser_accuracy"].iloc[1:] > uniform["guesser_accuracy"]).all()
    assert "shortest choice" not in set(ladder["guesser"])
    assert not ladder["beaten"].any()
    LADDER.to_arrow(ladder)


def test_no_guesser_is_beaten_if_uniform_guessing_is_not():
    """Twenty equal prompts: the test of signs knows that they are one, the maximum baseline does not."""
    rows = [
        (f"question {n}", [f"{n}x{'y' * m}" for m in range(4)], 3 if n < 26 else n % 3) for n in range(100)
    ]
    task = task_of(rows)
    # correct where the longest choice is, and on ten more examples
    gold = np.array([[*flags].index(True) for flags in task["correct"]])
    answers = np.where(np.arange(100) < 36, gold, (gold + 1) % 4)
    ladder = climb(predictions_of(np.tile(answers, (20, 1)), task), task).set_index("guesser")
    assert ladder.loc["longest choice", "guesser_holm_tail"] < 0.05 < ladder.loc["uniform", "guesser_tail"]
    assert not ladder["beaten"].any()


def test_label_prior_is_an_exact_guesser():
    task = task_of([(f"question {place}", ["yes", "no"], place % 5 == 0) for place in range(50)])
    predictions = predictions_of(np.zeros((3, 50), dtype=int), task)
    ladder = climb(predictions, task).set_index("guesser")
    assert ladder.loc["label prior", "guesser_accuracy"] == pytest.approx(0.8**2 + 0.2**2)
    # the best of three guessers of which each answer is correct with .8 (yes) or .2 (no)
    pmf = np.convolve(stats.binom(40, 0.8).pmf(np.arange(41)), stats.binom(10, 0.2).pmf(np.arange(11)))
    assert ladder.loc["label prior", "guesser_tail"] == pytest.approx(1 - pmf[:40].sum() ** 3)
    assert ladder.loc["majority label", "guesser_accuracy"] == pytest.approx(0.8)
    assert not ladder.loc["majority label", "beaten"]


def test_counts_of_all_settings():
    generator = np.random.default_rng(4)
    task = planted(generator, 100, 0.6)
    longest = predictions_of(np.full((5, 100), 3), task)
    guessing = predictions_of(generator.integers(4, size=(5, 100)), task, shots=2)
    table = ladders([longest, guessing], {"t": task}, {}, seed=0)
    judged = verdicts(pd.concat([accuracy_by_prompt(longest), accuracy_by_prompt(guessing)]))
    counts = guesser_counts(table, judged).set_index("guesser")
    assert counts.loc["uniform", ["settings", "beaten", "better_beaten"]].tolist() == [2, 1, 1]
    assert counts.loc["longest choice", ["settings", "beaten", "better"]].tolist() == [2, 0, 1]


def test_a_task_without_an_example_is_refused():
    task = planted(np.random.default_rng(0), 10, 0.6)
    predictions = predictions_of(np.zeros((1, 10), dtype=int), task)
    with pytest.raises(InputError, match="the task has no example '9', which predictions have"):
        climb(predictions, task.iloc[:9])
    with pytest.raises(InputError, match="the task has the example '0' twice; expected one row for each"):
        climb(predictions, pd.concat([task, task.iloc[:1]]))


def test_guessers_of_installed_packages(tmp_path, monkeypatch):
    package = tmp_path / "mine-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[abovechance.guessers]\nperfect = mine_guessers:perfect\n")
    (tmp_path / "mine_guessers.py").write_text(
        "import numpy as np\ndef perfect(situation):\n    return np.ones(len(situation.task))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [guesser.name for guesser in all_guessers()][-1] == "perfect"
    task = planted(np.random.default_rng(0), 40, 0.6)
    ladder = climb(predictions_of(np.full((2, 40), 3), task), task)
    assert ladder["guesser"].iloc[-1] == "perfect"
    assert not ladder["beaten"].iloc[-1]
    half = Guesser("half", "", lambda situation: np.full(len(situation.task), 0.5))
    chosen = climb(predictions_of(np.full((2, 40), 3), task), task, guessers=[BY_NAME["uniform"], half])
    assert "half" in set(chosen["guesser"])
    (package / "entry_points.txt").write_text(
        "[abovechance.guessers]\nlongest choice = mine_guessers:perfect\n"
    )
    with pytest.raises(InputError, match="there are 2 guessers with the name 'longest choice'"):
        all_guessers()


def test_examples_of_one_id_are_pooled():
    rows = [("a", ["x", "y"], 0), ("b", ["z", "w"], 1), ("c", ["u", "v"], 0)]
    task = task_of(rows).assign(example=["s/0", "t/0", "t/1"])
    pooled = pooled_task(task, None)
    assert pooled["example"].tolist() == ["0", "1"]
    assert list(pooled["choices"].iloc[0]) == ["x", "y", "z", "w"]
    assert list(pooled["correct"].iloc[0]) == [True, False, False, True]
    sampled = pooled_task(task, [1])  # the id 1 is not in the sample
    assert list(sampled["choices"].iloc[0]) == ["z", "w"]
    assert sampled["example"].tolist() == ["0", "1"]
