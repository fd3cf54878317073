"""The command line as people and programs use it."""

import json
import subprocess
import sys

import pytest

from abovechance import RandomBaseline
from abovechance.archive.bundle import write
from abovechance.core.tables import read_table
from tests.conftest import REPOSITORY
from tests.importers.test_lm_eval import lm_sample, write_lm
from tests.running import run


def test_a_baseline_is_told_in_words_and_as_json():
    arguments = ["baseline", "-n", "100", "-c", "2", "-t", "200", "--accuracy", "0.62"]
    said = run(*arguments).stdout
    assert "maximum baseline    0.636" in said
    assert "position            between" in said
    assert "better than chance  no" in said
    assert "reason              p = 0.88 against the best of 200 guessers" in said
    found = json.loads(run(*arguments, "--json").stdout)
    baseline = RandomBaseline.of(0.5, 100)
    assert found["maximum_baseline"] == baseline.maximum(200)
    assert found["maximum_tail"] == baseline.tail(62, 200)


def test_some_choices_each():
    found = json.loads(run("baseline", "-c", "2:50,5:50", "-t", "20", "--json").stdout)
    assert found["examples"] == 100
    assert found["maximum_baseline"] == RandomBaseline.from_choices({2: 50, 5: 50}).maximum(20)


@pytest.mark.parametrize("accuracy", ["0,5", "0.5"])
def test_a_rounded_accuracy_shows_all_that_it_can_be(accuracy):
    found = json.loads(run("baseline", "-n", "200", "-c", "2", "-t", "20", "-a", accuracy, "--json").stdout)
    assert (found["accuracy"], found["position"]) == (0.5, "below to between")
    assert found["note"].startswith("90 to 110 of 200 examples round to it")


def test_published_maxima_are_checked():
    command = [sys.executable, "-m", "abovechance.cli", "check", "docs/published_maxima.csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    assert done.returncode == 0
    assert "70 of the 165 scores are better than chance." in done.stdout
    assert len(json.loads(run("check", "docs/published_maxima.csv", "--json").stdout)) == 165


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["baseline", "-n", "100"], 1, "one of --chance and --choices is needed"),
        (["baseline", "-c", "2"], 1, "--examples is needed"),
        (["baseline", "-c", "2:x"], 1, "--choices has 'x'; expected a number such as 4, or 2:50,5:50"),
        (["baseline", "-n", "9", "-c", "2:4,5:4"], 1, "--examples is 9, but --choices has 8 examples"),
        (["check", "nowhere.csv"], 1, "nowhere.csv: there is no such file or folder"),
        (["baseline", "-n", "many"], 2, "Invalid value for '--examples'"),
        (["bassline"], 2, "No such command"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_status(arguments, status, message):
    done = run(*arguments)
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    if status == 1:
        assert done.stderr.startswith("abovechance: error: ")
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_csv_comes_through_a_pipe():
    command = f"cat docs/published_maxima.csv | {sys.executable} -m abovechance.cli check - --json"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=REPOSITORY)
    assert len(json.loads(done.stdout)) == 165


def test_a_task_file_gives_the_baseline(tmp_path):
    path = tmp_path / "task.jsonl"
    path.write_text('{"text": "a", "choices": ["x", "y"], "answer": 0}\n' * 1)
    found = json.loads(run("baseline", "--task", str(path), "-t", "3", "--json").stdout)
    assert found["maximum_baseline"] == pytest.approx(1 - 0.5**3)
    assert run("baseline", "--task", str(path), "-n", "3").returncode == 1


def test_logs_are_checked_and_imported(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "prompt,example,correct,choices\n"
        + "".join(f"{p},{e},{int(e < 5 + p)},2\n" for p in range(3) for e in range(10))
    )
    (found,) = json.loads(run("check", str(path), "--json").stdout)
    assert (found["prompts"], found["examples"], found["best_accuracy"]) == (3, 10, 0.7)
    assert found["maximum_baseline"] == pytest.approx(RandomBaseline.of(0.5, 10).maximum(3))
    output = tmp_path / "mine.parquet"
    assert "3 prompts in 1 setting\n" in run("import", str(path), "-o", str(output)).stdout
    assert len(read_table(output)) == 30


def test_the_best_of_many_is_judged_as_such(tmp_path):
    path = tmp_path / "best.csv"
    path.write_text("example,correct,choices\n" + "".join(f"{e},{int(e < 14)},2\n" for e in range(20)))
    assert "--prompts 20" in run("check", str(path)).stderr
    (found,) = json.loads(run("check", str(path), "--prompts", "20", "--json").stdout)
    assert found["maximum_baseline"] == pytest.approx(RandomBaseline.of(0.5, 20).maximum(20))
    assert found["maximum_tail"] == pytest.approx(RandomBaseline.of(0.5, 20).tail(14, 20))


def test_the_metric_that_was_taken_is_named(tmp_path):
    norm = [float(place < 3) for place in range(10)]
    samples = [lm_sample(place, [-1, -2], int(place >= 6), acc_norm=norm[place]) for place in range(10)]
    log = write_lm(tmp_path, [{**sample, "metrics": ["acc", "acc_norm"]} for sample in samples])
    done = run("check", str(log), "--prompts", "2")
    assert "The metric is acc." in done.stdout
    assert "the metric is acc; for another one, use --metric acc_norm" in done.stderr
    for arguments, metric, accuracy in [([], "acc", 0.6), (["--metric", "acc_norm"], "acc_norm", 0.3)]:
        (found,) = json.loads(run("check", str(log), "--prompts", "2", "--json", *arguments).stdout)
        assert (found["metric"], found["best_accuracy"]) == (metric, accuracy)


def test_prompts_of_one_setting_have_one_metric(tmp_path):
    for folder, metrics in (("one", ["acc"]), ("other", ["exact_match"])):
        samples = [lm_sample(place, [-1, -2], 0, exact_match=1.0) for place in range(4)]
        write_lm(tmp_path / folder, [{**sample, "metrics": metrics} for sample in samples])
    said = run("check", str(tmp_path), "--each-file").stderr
    assert "its metric is exact_match, and that of" in said
    assert "expected one metric for all prompts of org--model, sums, 4-shot" in said


def test_import_says_what_takes_the_place_of_prompts(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("example,correct,choices\n1,1,2\n2,0,2\n")
    done = run("import", str(path), "--prompts", "1", "-o", str(tmp_path / "mine.parquet"))
    assert done.returncode == 1
    assert "use --each-file instead, also for a single prompt" in done.stderr
    assert run("import", str(path), "--each-file", "-o", str(tmp_path / "mine.parquet")).returncode == 0


def test_items_of_few_rows_are_refused(tmp_path):
    def said(rows: int) -> subprocess.CompletedProcess[str]:
        lines = [f"{e},{(e * (row + 2)) % 3 % 2},m{row}" for row in range(rows) for e in range(9)]
        (tmp_path / "answers.csv").write_text("\n".join(["example,correct,model", *lines]) + "\n")
        return run("items", str(tmp_path / "answers.csv"))

    assert "has 5 rows" in said(5).stderr
    assert "expected two examples and 6 rows" in said(5).stderr
    assert said(6).returncode == 0


@pytest.mark.parametrize(("sizes", "score"), [((10, 10), "accuracies"), ((10, 30), "standardized scores")])
def test_how_prompts_on_different_examples_are_compared_is_told(tmp_path, sizes, score):
    path = tmp_path / "mine.csv"
    rows = [f"{p},{100 * p + e},{e % 2},2" for p, size in enumerate(sizes) for e in range(size)]
    path.write_text("\n".join(["prompt,example,correct,choices", *rows]) + "\n")
    assert f"the verdict compares their {score}" in run("check", str(path)).stderr


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m abovechance.cli check docs/published_maxima.csv | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=REPOSITORY)
    assert done.stderr == ""


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "{}":
            raise ModuleNotFoundError("No module named " + name)
sys.meta_path.insert(0, Missing())
from abovechance.cli import main
main()
"""


@pytest.mark.thorough
@pytest.mark.parametrize("missing", ["torch", "snakemake", "transformers"])
def test_commands_that_score_nothing_need_no_extra(tmp_path, missing):
    (tmp_path / "cost").mkdir()
    (tmp_path / "cost" / "spent.csv").write_text("")
    for arguments, status, said in (
        (["cost", str(tmp_path)], 1, "has no costs; use `make cost` with its config first"),
        (["verify", str(tmp_path)], 1, "has no manifest-sha256.txt"),
        (["baseline", "-n", "9", "-c", "2"], 0, "standard baseline"),
    ):
        command = [sys.executable, "-c", WITHOUT.format(missing), *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, said in done.stdout + done.stderr) == (status, True), done.stderr


def test_rerun_says_at_once_that_snakemake_is_missing(tmp_path):
    write({"README.md": b""}, tmp_path / "x.zip")
    command = [sys.executable, "-c", WITHOUT.format("snakemake"), "rerun", str(tmp_path / "x.zip")]
    done = subprocess.run([*command, "--into", str(tmp_path / "y")], capture_output=True, text=True)
    assert "install the extra: pip install 'abovechance[workflow]'" in done.stderr
    assert not (tmp_path / "y").exists()
