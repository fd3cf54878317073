"""Reading a release, mending it, and what the audit finds."""

import json
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.core.tables import read_table, read_tables
from abovechance.published import audit
from abovechance.published.pools import RELEASED_EXAMPLES, Pools, distinct_prompts, released_examples
from abovechance.published.predictions import Files, take_in
from abovechance.published.release import Release
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.study.tasks import as_table
from tests.releases import IDS, write_release

CHOICES = {"known_unknowns": 2, "novel_concepts": 5, "conceptual_combinations": 4}


def examples(*tasks: str) -> pd.DataFrame:
    """The table ``released_examples`` of tasks, one choice of each example correct."""
    return pd.concat(
        pd.DataFrame(
            {
                "task": task,
                "place": range(len(IDS[task])),
                "id": IDS[task],
                "choices": CHOICES[task],
                "correct": 1,
            }
        )
        for task in tasks
    )


@pytest.fixture
def release(tmp_path) -> Path:
    return write_release(tmp_path)


def taken_in(release: Path, folder: Path, *tasks: str) -> tuple[Files, pd.DataFrame]:
    """What taking in a release writes, and the audit."""
    models = {setting.model for setting in Release(release).settings}
    names = [name for name in Files.__dataclass_fields__ if name != "audit"]
    by_model = {name: {model: folder / name / f"{model}.parquet" for model in models} for name in names}
    files = Files(**by_model, audit=folder / "audit.parquet")
    table = examples(*(tasks or ("known_unknowns", "novel_concepts")))
    take_in(Release(release), table, files, lambda message: None)
    return files, read_table(files.audit)


def test_what_a_config_names_must_be_there_or_in_the_papers_release(release):
    result = Release(release)
    result.check_named(
        {"base": "tuned", "OLMo-7B": "OLMo-7B-Instruct"},
        {"model": "OLMo-7B", "task": "winowhy", "shots": 2},
        "c",
    )
    for pairs, illustrated, message in [
        ({"bse": "tuned"}, {}, "c: key 'pairs' names the model 'bse'; did you mean 'base'?"),
        ({"base": "x"}, {}, "c: key 'pairs' names the model 'x'; known are: Alpaca-7b"),
        ({}, {"model": "OLMo"}, "c: key 'illustrated.model' names the model 'OLMo'; did you mean"),
        ({}, {"task": "winowy"}, "c: key 'illustrated' names the task 'winowy'; did you mean 'winowhy'?"),
        ({}, {"tasks": ["winowhy", "no"]}, "c: key 'illustrated' names the task 'no'"),
        ({}, {"shots": 7}, "c: key 'illustrated.shots' is 7; expected one of [1, 2, 4]"),
    ]:
        with pytest.raises(InputError, match=re.escape(message)):
            result.check_named(pairs, illustrated, "c")


def test_a_damaged_zip_file_of_a_release_is_told(tmp_path):
    folder = write_release(tmp_path)
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.rglob("*.csv"):
            archive.write(file, file.relative_to(folder))
    content = bytearray(path.read_bytes())
    content[200:260] = b"\xff" * 60
    path.write_bytes(content)
    release = Release(path)
    with pytest.raises(InputError, match="release.zip: results/.*: cannot be read"):
        [release.predictions(setting) for setting in release.settings]
    path.write_bytes(content[:500])
    with pytest.raises(InputError, match="release .*release.zip: "):
        Release(path)


def evidence(result: pd.DataFrame, finding: str) -> str:
    """All that the audit says under this heading."""
    return "\n".join(result.loc[result["finding"] == finding, "evidence"])


def test_a_folder_and_a_zip_file_of_it_read_the_same(release, tmp_path):
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", release.parent, "release"))
    folder, packed = Release(release), Release(archive)
    assert folder.settings == packed.settings
    assert len(folder.settings) == 2 * 2 * 2
    setting = Setting("tuned", "novel_concepts", 2)
    pd.testing.assert_frame_equal(folder.predictions(setting), packed.predictions(setting))
    assert folder.accuracies() == packed.accuracies()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.write_text("x"), "is not a zip file"),
        (lambda path: path.mkdir(), "has 0 folders of results"),
        (lambda path: zipfile.ZipFile(path, "w").close(), "has 0 folders of results"),
    ],
)
def test_what_is_no_release_is_told_with_what_would_be_right(tmp_path, make, message):
    path = tmp_path / "release"
    make(path)
    with pytest.raises(InputError, match=f"{message}.*results/<model>_<task>_<shots>-shot.csv"):
        Release(path)


def rewrite(release: Path, name: str, change) -> None:
    path = release / "results" / name
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")


def replace_row(number: int, values: str):
    return lambda lines: [*lines[: number - 1], values, *lines[number:]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replace_row(7, '0,"[3]",9'), "Row #7: Expected 5 columns, got 3"),
        (replace_row(7, '0,"[3]",9,high,1'), r"Row #7.*invalid value 'high'"),
        (
            replace_row(7, '0,"[3]",900,0.5,2'),
            r"row 7: has a prediction that is neither 0 nor 1: 0, \[3\], 900",
        ),
        (replace_row(7, '0,"[3]",9,,1'), "row 7: is empty"),
        (replace_row(7, '0,"[3",9,0.5,1'), "row 7: has demonstrations that are not a list"),
        (replace_row(7, '0,"[3]",-9,0.5,1'), "row 7: has a negative id"),
        (lambda lines: [*lines, lines[-1]], "repeats a prompt and example"),
        (replace_row(1, "Prompt ID,Demonstrations,Example ID,Loss,Correct"), "has columns .*expected"),
        (lambda lines: lines[:1], "has no rows"),
        (lambda lines: [], "Empty CSV file"),
        (replace_row(7, '0,"[3]",900,0.5,1'), "row 7: the task has no example 900"),
        (lambda lines: [re.sub(r"\[\d+\]", "[46]", line) for line in lines], "the task has 46 examples"),
    ],
)
def test_a_file_that_cannot_be_used_is_left_out_and_told_and_the_rest_goes_on(
    release, tmp_path, change, message
):
    rewrite(release, "base_known_unknowns_1-shot.csv", change)
    files, taken_tables = taken_in(release, tmp_path)
    messages = evidence(taken_tables, "not used")
    assert messages.startswith("results/base_known_unknowns_1-shot.csv: ")
    assert messages.endswith("; left out")
    assert pd.Series(messages).str.contains(message).all(), messages
    assert len(read_tables(files.accuracy.values())[["model", "task", "shots"]].drop_duplicates()) == 7


def test_a_release_of_which_nothing_can_be_used_is_an_error_that_says_why(release, tmp_path):
    for path in (release / "results").glob("*.csv"):
        path.write_text("x\n")
    with pytest.raises(InputError, match=r"no setting can be used; results/.*-shot.csv: has columns"):
        taken_in(release, tmp_path)
    assert not list(tmp_path.rglob("*.parquet"))


def test_what_is_missing_and_strange_is_told(release, tmp_path):
    (release / "results" / "tuned_novel_concepts_2-shot.csv").unlink()
    (release / "results" / "tuned_no_such_task_2-shot.csv").write_text("x")
    rewrite(
        release,
        "base_novel_concepts_1-shot.csv",
        lambda lines: [line for line in lines if not line.startswith("17,")],
    )
    aggregated = release / "results" / "aggregated-results.json"
    values = json.loads(aggregated.read_text())
    values["base_known_unknowns_1-shot"][3] = 1.25
    values["base_known_unknowns_2-shot"][0] += 0.01
    del values["tuned_known_unknowns_1-shot"]
    aggregated.write_text(json.dumps(values))
    _, taken_tables = taken_in(release, tmp_path)
    assert "results/tuned_novel_concepts_2-shot.csv: there is no such file" in evidence(
        taken_tables, "not used"
    )
    assert "results/tuned_no_such_task_2-shot.csv: its name has no BIG" in evidence(taken_tables, "not used")
    assert evidence(taken_tables, "prompts without rows") == "1: 17"
    messages = evidence(taken_tables, "aggregated accuracies")
    assert "'base_known_unknowns_1-shot', entry 3: 1.25 is not an accuracy" in messages
    assert "'base_known_unknowns_2-shot': differs from the predictions by up to 0.01" in messages
    assert "has no 'tuned_known_unknowns_1-shot'" in messages
    assert "'base_novel_concepts_1-shot': 30 accuracies for 29 prompts" in messages


def test_models_with_the_same_losses_are_told_and_others_are_not(release, tmp_path):
    _, taken_tables = taken_in(release, tmp_path)
    assert set(taken_tables.loc[taken_tables["finding"] == "same losses", "model"]) == {"base, tuned"}
    assert "correlation 1.00000, 100% equal" in evidence(taken_tables, "same losses")
    for shots in (1, 2):
        for task in ("known_unknowns", "novel_concepts"):
            path = release / "results" / f"tuned_{task}_{shots}-shot.csv"
            table = pd.read_csv(path)
            table["Loss of correct answer"] *= 1.5  # they correlate, but do not agree
            table.to_csv(path, index=False)
    _, taken_tables = taken_in(release, tmp_path)
    assert "same losses" not in set(taken_tables["finding"])


def test_accuracies_that_guessing_does_not_reach_from_below_are_told():
    table = pd.DataFrame(
        {"model": "m", "task": "known_unknowns", "shots": 4, "prompt": np.repeat([0, 1], 60)}
    )
    table = table.assign(example=[*range(60)] * 2, demonstrations="[0, 1, 2, 3]", chance=0.5, tie=False)
    table["correct"] = np.r_[np.zeros(60, bool), np.arange(60) % 2 == 0]
    pools = Pools(*(np.arange(64), np.full(64, 2), np.ones(64, int), np.arange(64)), sampled=True)
    findings = audit.table(
        [
            *audit.findings_in(
                Setting("m", "known_unknowns", 4), table, accuracy_by_prompt(table), np.ones(120, bool), pools
            )
        ]
    )
    assert "1 of 2 prompts are lower than guessing" in evidence(findings, "below chance")
    assert "prompt 0 has 0 of 60 right; 1 prompts have none" in evidence(findings, "below chance")
    assert evidence(findings, "number of examples") == "taken as 42; prompts are evaluated on 60"
    ids = "ids that are not in the release's sample of the task"
    for is_known, expected in (
        (table["prompt"] == 1, f"prompt 0 is evaluated on 60 {ids}"),
        (table["example"] > 9, f"2 prompts (0 to 1) are evaluated on 10 {ids}"),
    ):
        setting, accuracy = Setting("m", "known_unknowns", 4), accuracy_by_prompt(table)
        findings = audit.table([*audit.findings_in(setting, table, accuracy, is_known.to_numpy(), pools)])
        assert evidence(findings, "other examples") == expected


def test_merged_examples_are_guessed_from_the_pool_of_their_choices():
    # ids 0 and 1 twice: 2 choices in the first subtask, 4 in the second, of which 3 are correct
    pools = Pools.from_examples(
        pd.DataFrame({"id": [0, 1, 0, 1], "choices": [2, 2, 4, 4], "correct": [1, 1, 3, 1]}), sample=None
    )
    table = pd.DataFrame(
        {
            "prompt": [0, 0, 1, 1, 2],
            "demonstrations": ["[1]", "[1]", "[2]", "[2]", "[0, 2]"],
            "example": [0, 1, 0, 1, 1],
        }
    )
    chance, is_known = pools.chance(table)
    assert chance.tolist() == pytest.approx([4 / 6, 1 / 4, 1 / 2, 2 / 6, 2 / 6])
    assert is_known.all()
    assert pools.merged == (4, 2)


def test_examples_outside_of_the_sample_are_known_as_such():
    rows = pd.DataFrame({"id": [0, 1, 2], "choices": [2, 4, 5], "correct": [1, 1, 1]})
    table = pd.DataFrame({"prompt": 0, "demonstrations": "[0]", "example": [1, 2]})
    chance, is_known = Pools.from_examples(rows, sample=[1]).chance(table)
    assert chance.tolist() == [1 / 4, 1 / 5]
    assert is_known.tolist() == [True, False]


def test_ids_are_counted_from_the_start_of_each_subtask():
    task = as_table(
        {"example": name, "text": "Q", "choices": ["a", "b", "c"], "correct": [True, True, False]}
        for name in ("x/0", "x/1", "y/0")
    )
    table = released_examples({"t": task})
    assert table["id"].tolist() == [0, 1, 0]
    assert table["place"].tolist() == [0, 1, 2]
    assert table[["choices", "correct"]].drop_duplicates().values.tolist() == [[3, 2]]
    assert set(table.columns) == set(RELEASED_EXAMPLES.columns)


def test_of_repeated_prompts_the_first_stays():
    table = pd.DataFrame(
        {
            "prompt": [0, 0, 1, 1, 2],
            "demonstrations": ["[1]", "[1]", "[1]", "[1]", "[2]"],
            "example": [0, 1, 0, 1, 0],
        }
    )
    assert distinct_prompts(table)["prompt"].tolist() == [0, 0, 2]


def test_mended_tables_have_distinct_prompts_and_chance_from_the_tasks(tmp_path):
    release = write_release(tmp_path, models=["m"], tasks=["conceptual_combinations"], shots=[1], prompts=200)
    files, taken_tables = taken_in(release, tmp_path, "conceptual_combinations")
    released, mended = read_table(files.released["m"]), read_table(files.predictions["m"])
    distinct = released["demonstrations"].astype(str).nunique()
    assert released["prompt"].nunique() == 200
    assert mended["prompt"].nunique() == distinct < 104
    assert set(mended["chance"]) == {0.25}
    assert evidence(taken_tables, "merged examples") == "103 examples have 40 ids"
    assert f"200 prompts have {distinct} different demonstrations; t is taken as 103" in evidence(
        taken_tables, "repeated prompts"
    )
    accuracy = read_table(files.accuracy["m"])
    assert accuracy["counts"].map(sum).tolist() == accuracy["examples"].tolist()
