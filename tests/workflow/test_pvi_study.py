"""A study that asks which examples are hard, from its tasks to its report, on a tiny model."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from transformers import AutoModelForCausalLM, AutoTokenizer

from abovechance.archive.bundle import verify
from abovechance.core.provenance import file_sha256
from abovechance.core.tables import read_table
from abovechance.core.two_way import adjusted_means
from abovechance.results.predictions import predict
from abovechance.study.kinds import KINDS
from tests.conftest import snakemake
from tests.tiny import write_tiny_study

pytestmark = pytest.mark.workflow
WORDS = ("dog", "cat", "tree", "rose", "lion", "fern", "crow", "moss")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of two tasks with shared labels, of which one has three."""
    folder = tmp_path_factory.mktemp("pvi")
    for name, labels in (("alive", ["animal", "plant"]), ("sizes", ["small", "middling", "large"])):
        rows = [
            {"text": f"{word} {number}", "choices": labels, "answer": labels[(place + number) % len(labels)]}
            | ({"annotations": ["small", "small", labels[number]]} if name == "sizes" else {})
            for place, word in enumerate(WORDS)
            for number in range(3)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tasks = {
        "alive": {"source": "alive.jsonl", "format": "numbers", "shots": [2, 4]},
        "sizes": {"source": "sizes.jsonl", "format": "numbers"},
    }
    changes = {
        "tasks": tasks,
        "shots": [3, 6],
        "prompts": 3,
        "demonstrations": "balanced",
        "max_examples": 12,
    }
    config = write_tiny_study(folder, "hard", model={"max_position_embeddings": 2000}, **changes)
    snakemake("scores", "--configfile", str(config), directory=folder)
    scores = {path: file_sha256(path) for path in (folder / "results/hard").glob("scores/*/*/*.parquet")}
    config.write_text(config.read_text() + "pvi: {training_examples: 9}\nitems: {repeats: 2}\n")
    output = snakemake("--configfile", str(config), directory=folder)
    # with the key, null-target prompts are scored and nothing else
    assert scores == {path: file_sha256(path) for path in scores}
    assert not re.search(r"\(Rule: score(_2)?\)", output.stdout + output.stderr)
    return folder


def test_a_task_has_its_own_shots_and_each_prompt_its_null_target(place):
    names = sorted(
        str(path.relative_to(place / "results/hard/null_scores"))
        for path in (place / "results/hard").glob("null_scores/*/*/*-shot.parquet")
    )
    assert names == [f"tiny/{name}-shot.parquet" for name in ("alive/2", "alive/4", "sizes/3", "sizes/6")]


def test_examples_have_the_same_names_in_what_is_said_of_items_and_of_labels(place):
    tables = place / "results/hard/tables"
    negative = pd.read_csv(tables / "item_negative.csv")
    assert {"suggested", "beyond", "input"} <= {*negative}
    listed = pd.read_csv(tables / "item_list.csv")
    names = {*zip(listed["task"], listed["example"].astype(str), strict=True)}
    assert len(names) == len(listed) == 24
    mislabelled = pd.read_csv(tables / "pvi_mislabelled.csv")
    assert {*zip(mislabelled["task"], mislabelled["example"].astype(str), strict=True)} <= names
    features = read_table(place / "results/hard/example_features.parquet")
    assert {*features["answer"]} == {"animal", "plant", "small", "middling", "large"}
    # two numbers of shots of three prompts are six rows, too few to hold some out
    assert pd.read_csv(tables / "smaller_benchmarks.csv").empty


def test_null_target_scores_are_those_of_a_plain_pass(place):
    results = place / "results/hard"
    model = AutoModelForCausalLM.from_pretrained(place / "tiny", dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(place / "tiny")
    for task, shots in (("alive", 4), ("sizes", 3)):
        examples = read_table(results / f"tasks/{task}.parquet").set_index("example")
        prompts = read_table(results / f"prompts/{task}/{shots}-shot.parquet")
        scores = read_table(results / f"null_scores/tiny/{task}/{shots}-shot.parquet")
        for row in scores.sample(12, random_state=1).itertuples():
            output = prompts.set_index("prompt").loc[row.prompt, "demonstrations"]
            answers = [examples.loc[example, "correct"].index(True) for example in output]
            null = "".join(f"ANSWER: {answer}\n\n" for answer in answers) + "ANSWER:"
            before, whole = (tokenizer(text)["input_ids"] for text in (null, f"{null} {row.choice}"))
            assert whole[: len(before)] == before
            with torch.no_grad():
                logits = model(torch.tensor([whole])).logits[0].log_softmax(-1)
            places = range(len(before), len(whole))
            assert row.logprob == pytest.approx(
                sum(float(logits[at - 1, whole[at]]) for at in places), abs=1e-4
            )


def test_pvi_is_the_difference_of_stored_scores(place):
    results = place / "results/hard"
    pvi = read_table(results / "pvi/tiny.parquet").astype({"task": str, "example": str})
    assert len(pvi) == 2 * 2 * 3 * 12
    for (task, shots), rows in pvi.groupby(["task", "shots"]):
        scores, null = (
            read_table(results / f"{folder}/tiny/{task}/{shots}-shot.parquet").set_index(
                ["prompt", "example", "choice"]
            )["logprob"]
            for folder in ("scores", "null_scores")
        )
        examples = read_table(results / f"tasks/{task}.parquet").set_index("example")
        for row in rows.itertuples():
            gold = examples.loc[row.example, "correct"].index(True)
            at = (row.prompt, row.example, gold)
            assert row.pvi == pytest.approx((scores[at] - null[at]) / np.log(2))
            assert row.bits == pytest.approx(-scores[at] / np.log(2))
            assert row.label == examples.loc[row.example, "labels"][gold]
            remaining = {
                choice: (scores[row.prompt, row.example, choice] - null[row.prompt, row.example, choice])
                for choice in range(len(examples.loc[row.example, "choices"]))
                if choice != gold
            }
            largest = max(remaining, key=remaining.get)
            assert row.rival == examples.loc[row.example, "labels"][largest]
            assert row.rival_pvi == pytest.approx(remaining[largest] / np.log(2))


def test_the_report_says_which_examples_are_hard(place):
    results = place / "results/hard"
    text = (results / "report.html").read_text()
    for title in (
        "How much do inputs tell a model about answers?",
        "Examples whose labels may be wrong",
        "PVI of correct and",
    ):
        assert title in text
    settings = pd.read_csv(results / "tables/pvi.csv")
    pvi = read_table(results / "pvi/tiny.parquet").astype({"task": str})
    means = pvi.groupby(["task", "shots"])["pvi"].mean()
    for row in settings.itertuples():
        assert row.information == pytest.approx(means[row.task, row.shots])
    hard = pd.read_csv(results / "tables/pvi_hardest.csv")
    assert set(hard["label"]) == {"animal", "plant", "small", "middling", "large"}
    assert hard["input"].str.match("|".join(WORDS)).all()
    assert not (results / "figures/pvi_models.png").exists()  # of one model
    agreed = pd.read_csv(results / "tables/pvi_annotations.csv")
    assert agreed["task"].tolist() == ["sizes"] * 2
    assert "PVI and agreement of annotators" in text
    output = pd.read_csv(results / "figures/pvi_annotations.csv")
    assert set(output["shots"]) == {6}
    assert set(output["variation"].round(3)) <= {0, 0.333}
    assert len(output) == 12


def test_demonstrations_are_those_that_are_hard_and_are_not_evaluated(place):
    results = place / "results/hard"
    for task, labels, largest in (("alive", 2, 4), ("sizes", 3, 6)):
        examples = read_table(results / f"tasks/{task}.parquet").set_index("example")
        evaluation = read_table(results / f"evaluation_sets/{task}.parquet")
        evaluated = set(evaluation["example"][evaluation["evaluated"]])
        training = read_table(results / f"training_sets/{task}.parquet")
        training = set(training["example"][training["evaluated"]])
        assert len(training) == 9
        assert not training & evaluated
        # PVI of each training example, mean over shots of means over prompts, from the scores themselves
        means = []
        for shots in (labels, largest):
            scores, null = (
                read_table(results / f"{folder}/tiny/{task}/{shots}-shot.parquet").set_index(
                    ["prompt", "example", "choice"]
                )["logprob"]
                for folder in ("training_scores", "training_null_scores")
            )
            assert set(scores.index.get_level_values("example")) <= training
            gold = {example: list(correct).index(True) for example, correct in examples["correct"].items()}
            correct_places = [gold[example] == choice for _, example, choice in scores.index]
            wide = (scores - null)[correct_places].reset_index("choice", drop=True).unstack("example")
            means.append(pd.Series(adjusted_means(wide.to_numpy()), wide.columns))
        pvi = pd.concat(means, axis=1).mean(axis=1)
        label = {example: examples.loc[example, "labels"][gold[example]] for example in pvi.index}
        hard = {
            example
            for _, group in pvi.groupby(label)
            for example in group.sort_values().index[: max(2, -(-len(group) // 5))]
        }
        for shots in (labels, largest):
            prompts = read_table(results / f"hardest_prompts/tiny/{task}/{shots}-shot.parquet")
            for output in prompts["demonstrations"]:
                assert set(output) <= hard
                assert len({label[example] for example in output}) == labels


def test_the_table_of_hard_demonstrations_is_of_the_scores(place):
    results = place / "results/hard"
    table = pd.read_csv(results / "tables/pvi_demonstrations.csv").set_index(["task", "shots"])
    assert len(table) == 4
    predictions = read_table(results / "predictions/tiny.parquet").astype({"task": str})
    sample = predictions.groupby(["task", "shots"])["correct"].mean()
    for (task, shots), row in table.iterrows():
        examples = read_table(results / f"tasks/{task}.parquet")
        scores = read_table(results / f"hardest_scores/tiny/{task}/{shots}-shot.parquet")
        hardest = predict(scores, examples)
        assert row["drawn"] == pytest.approx(sample[task, shots])
        assert row["hardest"] == pytest.approx(hardest["correct"].mean())
        assert row["hardest_spread"] == pytest.approx(
            np.std(hardest.groupby("prompt")["correct"].mean(), ddof=1)
        )
        # without an interval if no example's difference varies
        assert np.isnan(row["low"]) == np.isnan(row["high"])
        assert np.isnan(row["low"]) or row["low"] <= row["difference"] <= row["high"]


@pytest.mark.slow
def test_what_null_target_prompts_cost_stands_beside_the_rest(place):
    spent = pd.read_csv(place / "results/hard/cost/spent.csv").set_index(["task", "kind"])
    kinds = [kind.name for kind in KINDS]
    assert spent["prompts"].to_dict() == {(task, kind): 6 for task in ("alive", "sizes") for kind in kinds}
    by_kind = {kind: spent.xs(kind, level="kind")["computed"] for kind in kinds}
    assert (by_kind["null-target"] < by_kind["drawn"] / 5).all()
    snakemake("cost", "--configfile", str(place / "hard.yaml"), directory=place)
    needed = pd.read_csv(place / "results/hard/cost/estimate.csv").set_index(["task", "kind"])
    is_known = needed.drop(index="hardest", level="kind")["tokens"].to_dict()
    assert is_known == spent.drop(index="hardest", level="kind")["tokens"].to_dict()
    # which demonstrations are hard is not known before: the drawn ones stand for them
    assert (needed.xs("hardest", level="kind")["tokens"] == needed.xs("drawn", level="kind")["tokens"]).all()


def test_a_study_from_its_stored_scores_has_the_same_pvi(place, tmp_path):
    config = yaml.safe_load((place / "hard.yaml").read_text()) | {"stored": str(place / "results/hard")}
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(config))
    names = ["results/hard/pvi/tiny.parquet", "results/hard/tables/pvi_demonstrations.csv"]
    snakemake(*names, "--configfile", str(tmp_path / "again.yaml"), directory=tmp_path)
    for name in names:
        assert file_sha256(tmp_path / name) == file_sha256(place / name)


@pytest.mark.slow
def test_other_stored_scores_are_noticed_whatever_their_times(place, tmp_path):
    """All files from archives have the same time."""
    stored = tmp_path / "stored"
    shutil.copytree(place / "results" / "hard", stored)
    config = yaml.safe_load((place / "hard.yaml").read_text()) | {"stored": str(stored)}
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(config))
    arguments = ("results/hard/accuracy/tiny.parquet", "--configfile", str(tmp_path / "again.yaml"))
    archived_at = (315532800, 315532800)
    for file in filter(Path.is_file, stored.rglob("*")):
        os.utime(file, archived_at)
    snakemake(*arguments, directory=tmp_path)
    repeated = snakemake("-n", *arguments, directory=tmp_path)
    assert "Nothing to be done" in repeated.stdout + repeated.stderr
    scores, *_ = sorted(stored.glob("scores/*/*/*.parquet"))
    content = bytearray(scores.read_bytes())
    content[len(content) // 2] ^= 1  # of the same size
    scores.write_bytes(content)
    os.utime(scores, archived_at)
    changed = snakemake("-n", *arguments, directory=tmp_path)
    assert "Nothing to be done" not in changed.stdout + changed.stderr


@pytest.mark.slow
def test_a_study_from_stored_scores_is_archived(place, tmp_path):
    config = yaml.safe_load((place / "hard.yaml").read_text()) | {"stored": str(place / "results/hard")}
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(config))
    snakemake("archive", "--configfile", str(tmp_path / "again.yaml"), directory=tmp_path)
    assert verify(tmp_path / "results" / "hard" / "archive" / "hard.zip") == []


def test_a_study_from_stored_scores_has_their_prompts(place, tmp_path):
    """It has no others, and the recorded config says how many there are."""
    config = yaml.safe_load((place / "hard.yaml").read_text()) | {"stored": str(place / "results/hard")}
    (tmp_path / "more.yaml").write_text(yaml.safe_dump(config | {"prompts": 3000}))
    completed = snakemake("-n", "--configfile", str(tmp_path / "more.yaml"), directory=tmp_path, check=False)
    assert completed.returncode != 0
    message = "more.yaml: key 'prompts' is 3000, and the scores in "
    assert message in completed.stdout + completed.stderr
    assert "Traceback" not in completed.stdout + completed.stderr


@pytest.mark.slow
def test_over_the_choices_probabilities_sum_to_one(place, tmp_path):
    config = yaml.safe_load((place / "hard.yaml").read_text()) | {
        "stored": str(place / "results/hard"),
        "pvi": {"over": "choices"},
    }
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(config))
    snakemake(
        "results/hard/pvi/tiny.parquet", "--configfile", str(tmp_path / "again.yaml"), directory=tmp_path
    )
    table = read_table(tmp_path / "results/hard/pvi/tiny.parquet")
    two = table[table["task"] == "alive"]
    assert ((two["bits"] < 1) == two["correct"]).all()


@pytest.mark.slow
def test_a_null_target_prompt_without_a_token_before_the_answer_is_told(tmp_path):
    config = write_tiny_study(tmp_path, "bare", shots=[0], pvi={}, tasks={"sums": "sums.jsonl"})
    target = "results/bare/pvi/tiny.parquet"
    completed = snakemake(target, "--configfile", str(config), directory=tmp_path, check=False)
    output = completed.stdout + completed.stderr
    assert completed.returncode != 0
    assert "0-shot, null target, prompt 0: example '0': the model reads nothing before its choices" in output
    assert "the field `null` of the task's file, or its format, says what they are" in output
    assert "Traceback" not in output
    shutil.rmtree(tmp_path / "results")
