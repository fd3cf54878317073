"""The command line as people and programs use it."""

import io
import json
import os
import re
import shlex
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

from abovechance import RandomBaseline
from abovechance.archive.bundle import write
from abovechance.cli import app
from abovechance.cli.output import write_figure
from abovechance.core.tables import read_made_from, read_table
from tests.conftest import REPOSITORY
from tests.importers.test_lm_eval import lm_sample, write_lm
from tests.running import run


def test_inputs_are_printed_as_they_were_typed() -> None:
    for accuracy in ("0.5125", "0.51249", "0.5", "0.51"):
        output = run("baseline", "-n", "10000", "-c", "2", "-a", accuracy).stdout
        assert output.split()[1] == max(accuracy, f"{float(accuracy):.3f}", key=len)


def test_a_baseline_is_told_in_words_and_as_json():
    arguments = ["baseline", "-n", "100", "-c", "2", "-t", "200", "--accuracy", "0.62"]
    output = run(*arguments).stdout
    assert "maximum baseline    0.636" in output
    assert "position            between" in output
    assert "better than chance  no" in output
    assert "reason              p = 0.88 against the best of 200 guessers" in output
    report = json.loads(run(*arguments, "--json").stdout)
    baseline = RandomBaseline.from_chance(0.5, 100)
    assert report["maximum_baseline"] == baseline.maximum(200)
    assert report["maximum_tail"] == baseline.tail(62, 200)


def test_some_choices_each():
    report = json.loads(run("baseline", "-c", "2:50,5:50", "-t", "20", "--json").stdout)
    assert report["examples"] == 100
    assert report["maximum_baseline"] == RandomBaseline.from_choices({2: 50, 5: 50}).maximum(20)


@pytest.mark.parametrize("accuracy", ["0,5", "0.5"])
def test_a_rounded_accuracy_shows_all_that_it_can_be(accuracy):
    report = json.loads(run("baseline", "-n", "200", "-c", "2", "-t", "20", "-a", accuracy, "--json").stdout)
    assert (report["accuracy"], report["position"]) == (0.5, "below to between")
    assert report["note"].startswith("90 to 110 correct answers out of 200 round to this accuracy")


def test_published_maxima_are_checked():
    command = [sys.executable, "-m", "abovechance.cli", "check", "docs/published_maxima.csv"]
    completed = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    assert completed.returncode == 0
    assert "70 of the 165 scores are better than chance." in completed.stdout
    assert len(json.loads(run("check", "docs/published_maxima.csv", "--json").stdout)) == 165


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["baseline", "-n", "100"], 1, "expected either --chance or --choices"),
        (["baseline", "-c", "2"], 1, "--examples is missing"),
        (
            ["baseline", "-c", "2:x"],
            1,
            "--choices has 'x'; expected a number such as 4, or pairs such as 2:50,5:50",
        ),
        (["baseline", "-n", "9", "-c", "2:4,5:4"], 1, "--examples is 9, but --choices has 8 examples"),
        (["check", "nowhere.csv"], 1, "nowhere.csv: there is no such file or folder"),
        (["baseline", "-n", "many"], 2, "Invalid value for '--examples'"),
        (["bassline"], 2, "No such command"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_status(arguments, status, message):
    completed = run(*arguments)
    assert completed.returncode == status
    assert message in completed.stderr
    assert "Traceback" not in completed.stderr
    if status == 1:
        assert completed.stderr.startswith("abovechance: error: ")
        assert len(completed.stderr.strip().splitlines()) == 1


def test_a_csv_comes_through_a_pipe():
    command = f"cat docs/published_maxima.csv | {sys.executable} -m abovechance.cli check - --json"
    completed = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=REPOSITORY)
    assert len(json.loads(completed.stdout)) == 165


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("example,correct,choices\n1,1,4\n2,x,4\n", "standard input, row 3: correct is 'x'; expected 0 or 1"),
        ('{"a": 1}', "standard input: holds no results that are known"),
    ],
)
def test_an_error_names_standard_input_not_a_temporary_file(content, problem, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert run("check", "-").stderr.startswith(f"abovechance: error: {problem}")


def test_a_task_file_gives_the_baseline(tmp_path):
    path = tmp_path / "task.jsonl"
    path.write_text('{"text": "a", "choices": ["x", "y"], "answer": 0}\n' * 1)
    report = json.loads(run("baseline", "--task", str(path), "-t", "3", "--json").stdout)
    assert report["maximum_baseline"] == pytest.approx(1 - 0.5**3)
    assert run("baseline", "--task", str(path), "-n", "3").returncode == 1


def test_logs_are_checked_and_imported(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "prompt,example,correct,choices\n"
        + "".join(f"{p},{e},{int(e < 5 + p)},2\n" for p in range(3) for e in range(10))
    )
    (report,) = json.loads(run("check", str(path), "--json").stdout)
    assert (report["prompts"], report["examples"], report["best_accuracy"]) == (3, 10, 0.7)
    assert report["maximum_baseline"] == pytest.approx(RandomBaseline.from_chance(0.5, 10).maximum(3))
    output = tmp_path / "mine.parquet"
    assert "3 prompts in 1 setting\n" in run("import", str(path), "-o", str(output)).stdout
    # a study names prompts by their numbers
    named = tmp_path / "named.csv"
    text = path.read_text()
    for number, name in enumerate(["p10", "p2", "brief"]):
        text = text.replace(f"\n{number},", f"\n{name},")
    named.write_text(text)
    completed = run("import", str(named), "-o", str(output))
    assert completed.stdout.endswith("Prompts: 0 = brief, 1 = p2, 2 = p10\n")
    assert read_made_from(output)["prompts"] == {"model, named, 0-shot": ["brief", "p2", "p10"]}
    assert len(read_table(output)) == 30


def test_the_best_of_many_is_judged_as_such(tmp_path):
    path = tmp_path / "best.csv"
    path.write_text("example,correct,choices\n" + "".join(f"{e},{int(e < 14)},2\n" for e in range(20)))
    assert "--prompts 20" in run("check", str(path)).stderr
    (report,) = json.loads(run("check", str(path), "--prompts", "20", "--json").stdout)
    assert report["maximum_baseline"] == pytest.approx(RandomBaseline.from_chance(0.5, 20).maximum(20))
    assert report["maximum_tail"] == pytest.approx(RandomBaseline.from_chance(0.5, 20).tail(14, 20))


def test_the_metric_that_was_taken_is_named(tmp_path):
    norm = [float(place < 3) for place in range(10)]
    samples = [lm_sample(place, [-1, -2], int(place >= 6), acc_norm=norm[place]) for place in range(10)]
    log = write_lm(tmp_path, [{**sample, "metrics": ["acc", "acc_norm"]} for sample in samples])
    completed = run("check", str(log), "--prompts", "2")
    assert "Metric: acc." in completed.stdout
    assert "the metric is acc; for another one, use --metric acc_norm" in completed.stderr
    for arguments, metric, accuracy in [([], "acc", 0.6), (["--metric", "acc_norm"], "acc_norm", 0.3)]:
        (report,) = json.loads(run("check", str(log), "--prompts", "2", "--json", *arguments).stdout)
        assert (report["metric"], report["best_accuracy"]) == (metric, accuracy)


def test_prompts_of_one_setting_have_one_metric(tmp_path):
    for folder, metrics in (("one", ["acc"]), ("other", ["acc_norm"])):
        samples = [lm_sample(place, [-1, -2], 0, acc_norm=1.0) for place in range(4)]
        write_lm(tmp_path / folder, [{**sample, "metrics": metrics} for sample in samples])
    output = run("check", str(tmp_path), "--each-file").stderr
    assert "its metric is acc_norm, and that of" in output
    assert "expected one metric for all prompts of org--model, sums, 4-shot" in output


def test_import_says_what_takes_the_place_of_prompts(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("example,correct,choices\n1,1,2\n2,0,2\n")
    completed = run("import", str(path), "--prompts", "1", "-o", str(tmp_path / "mine.parquet"))
    assert completed.returncode == 1
    assert "use --each-file instead, even for a single prompt" in completed.stderr
    assert run("import", str(path), "--each-file", "-o", str(tmp_path / "mine.parquet")).returncode == 0


def test_items_of_few_rows_are_refused(tmp_path):
    def error_of(rows: int) -> subprocess.CompletedProcess[str]:
        lines = [f"{e},{(e * (row + 2)) % 3 % 2},m{row}" for row in range(rows) for e in range(9)]
        (tmp_path / "answers.csv").write_text("\n".join(["example,correct,model", *lines]) + "\n")
        return run("items", str(tmp_path / "answers.csv"))

    assert "has 5 rows" in error_of(5).stderr
    assert "expected at least two examples and 6 rows" in error_of(5).stderr
    assert error_of(6).returncode == 0


def test_items_of_few_rows_are_left_out(tmp_path):
    """Each task has enough rows, but not each of its examples."""

    def completed(rare: int) -> subprocess.CompletedProcess[str]:
        lines = [f"{e},{(e * (row + 2)) % 3 % 2},m{row}" for row in range(8) for e in range(6)]
        lines += [f"rare{e},{(row + e) % 2},m{row}" for row in range(5) for e in range(rare)]
        (tmp_path / "answers.csv").write_text("\n".join(["example,correct,model", *lines]) + "\n")
        return run("items", str(tmp_path / "answers.csv"), "--json")

    result = completed(2)
    note = "2 examples, such as rare0, in fewer than 6 rows; left out, because chance can explain any"
    assert note in " ".join(result.stderr.split())
    assert [item["example"] for item in json.loads(result.stdout)["items"] if "rare" in item["example"]] == []
    assert completed(0).stderr == ""


@pytest.mark.parametrize(("sizes", "score"), [((10, 10), "accuracies"), ((10, 30), "standardized scores")])
def test_how_prompts_on_different_examples_are_compared_is_told(tmp_path, sizes, score):
    path = tmp_path / "mine.csv"
    rows = [f"{p},{100 * p + e},{e % 2},2" for p, size in enumerate(sizes) for e in range(size)]
    path.write_text("\n".join(["prompt,example,correct,choices", *rows]) + "\n")
    assert f"the verdict compares their {score}" in run("check", str(path)).stderr


def test_an_interrupt_while_the_command_loads_is_no_traceback():
    program = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(name, *_):\n"
        "        if name == 'pandas':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted)\n"
        "from abovechance.__main__ import main\n"
        "main()\n"
    )
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (completed.returncode, completed.stdout, completed.stderr) == (130, "", "")


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m abovechance.cli check docs/published_maxima.csv | head -1"
    completed = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=REPOSITORY)
    notes = completed.stderr.splitlines()
    assert all(note.startswith("note: 16 scores with fewer decimals than others") for note in notes)


@pytest.mark.parametrize(("candidate", "reference", "status"), [("new", "old", 0), ("old", "new", 1)])
def test_the_status_is_the_decision_if_nobody_reads_the_output(candidate, reference, status, tmp_path):
    for name, correct in (("old", 20), ("new", 90)):
        rows = [f"{place},{int(place < correct)}" for place in range(100)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["example,correct", *rows]) + "\n")
    command = [sys.executable, "-m", "abovechance.cli", "gate", f"{candidate}.csv", f"{reference}.csv"]
    reader, writer = os.pipe()
    os.close(reader)
    completed = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert (completed.returncode, completed.stderr) == (status, "")
    # nor the notes, whatever the encoding
    in_ascii = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for environment in (dict(os.environ), in_ascii):
        completed = subprocess.run(command, stdout=writer, stderr=writer, cwd=tmp_path, env=environment)
        assert completed.returncode == status
    os.close(writer)


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {}:
            raise ModuleNotFoundError("No module named " + name)
sys.meta_path.insert(0, Missing())
from abovechance.cli import main
main()
"""


def test_commands_that_score_nothing_need_no_extra(tmp_path):
    (tmp_path / "cost").mkdir()
    (tmp_path / "cost" / "spent.csv").write_text("")
    for arguments, status, output in (
        (
            ["cost", str(tmp_path)],
            1,
            "has no estimated or actual costs; if the study scores models, run `abovechance run CONFIG",
        ),
        (["verify", str(tmp_path)], 1, "has no manifest-sha256.txt"),
        (["baseline", "-n", "9", "-c", "2"], 0, "standard baseline"),
    ):
        command = [sys.executable, "-c", WITHOUT.format(("torch", "snakemake", "transformers")), *arguments]
        completed = subprocess.run(command, capture_output=True, text=True)
        assert (completed.returncode, output in completed.stdout + completed.stderr) == (status, True), (
            completed.stderr
        )


def test_rerun_says_at_once_that_snakemake_is_missing(tmp_path):
    write({"README.md": b""}, tmp_path / "x.zip")
    command = [sys.executable, "-c", WITHOUT.format(("snakemake",)), "rerun", str(tmp_path / "x.zip")]
    completed = subprocess.run([*command, "--into", str(tmp_path / "y")], capture_output=True, text=True)
    assert "install the extra: pip install 'abovechance[workflow]'" in completed.stderr
    assert not (tmp_path / "y").exists()


def test_rows_that_look_like_prompts_of_one_score_are_noted(tmp_path):
    rows = [f"arc,m,0.{digits},100,4,1" for digits in (31, 28)]
    table = ["task,model,best_accuracy,examples,choices,prompts", *rows]
    (tmp_path / "a.csv").write_text("\n".join(table) + "\n")
    assert "note: 1 row with the same source, task and model" in run("check", "a.csv", folder=tmp_path).stderr


@pytest.mark.parametrize("command", sorted(get_command(app).commands))
def test_help_fits_a_screen_of_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    lines = run(command, "--help").stdout.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if len(line) > 80] == []


def test_the_maximum_baseline_is_shown_on_a_narrow_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("check", "docs/published_maxima.csv").stdout.splitlines()
    (heading,) = [line for line in lines if line.startswith("task ")]
    assert "accuracy  baseline  chance  bh tail" in heading
    assert "maximum" in lines[lines.index(heading) - 1]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("check", "25 of the 30 scores are better than chance."),
        ("compare", "The difference is not statistically significant"),
        ("items", "novel_concepts: items that better rows fail more often"),
        ("pvi", "information"),
        ("variance", "40 evaluations of 1 model."),
    ],
)
def test_each_command_on_results_has_an_example(tmp_path, command, expected):
    completed = run(command, "--example", folder=tmp_path)
    assert completed.returncode == 0
    assert expected in completed.stdout
    assert completed.stderr.startswith("note: the example data are ")
    assert run(command, "--example", "a.csv", folder=tmp_path).stderr == (
        "abovechance: error: --example and RESULTS cannot be combined; leave one of them out\n"
    )
    assert run(command, folder=tmp_path).stderr == (
        "abovechance: error: RESULTS is needed: name files or folders, or use --example\n"
    )


@pytest.mark.parametrize("name", [*get_command(app).commands])
def test_the_examples_of_a_commands_help_have_options_that_exist(name):
    command = get_command(app).commands[name]
    examples = re.findall(rf"^ *abovechance {name}(.*)$", command.epilog, re.M)
    assert examples
    options = {option for parameter in command.params for option in parameter.opts} | {"--"}
    for example in examples:
        used = {
            word for word in shlex.split(example.split(" -- ")[0]) if word.startswith("-") and word != "-"
        }
        assert used <= options, example


def test_commands_on_results_need_no_module_that_windows_lacks():
    absent = ("fcntl", "grp", "posix_ipc", "pty", "pwd", "resource", "termios", "tty")
    code = f"""
import sys
sys.modules.update(dict.fromkeys({absent!r}))
from abovechance.cli import main
for name in ("check", "compare", "best", "items", "pvi", "variance", "chance"):
    sys.argv = ["abovechance", name, "--example"]
    try:
        main()
    except SystemExit as end:
        assert not end.code, name
"""
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr


def test_the_best_prompt_is_named(tmp_path):
    path = tmp_path / "mine.csv"

    def write(**correct):
        rows = [f"{name},{place},{int(place < n)},2" for name, n in correct.items() for place in range(50)]
        path.write_text("\n".join(["prompt,example,correct,choices", *rows]) + "\n")

    write(**{"9": 20, "20": 45, "b": 30})
    (row,) = json.loads(run("check", str(path), "--json").stdout)
    assert (row["best_prompt"], row["best_prompt_name"]) == (1, "20")
    write(b=45)
    (row,) = json.loads(run("check", str(path), "--json").stdout)
    assert "best_prompt_name" not in row


def test_the_figure_of_power_has_the_commands_numbers(tmp_path):
    options = ["-c", "2", "-a", "0.6", "-t", "20", "--better", "3", "--target-power", "0.95", "--json"]
    row = json.loads(run("power", *options, "--figure", str(tmp_path / "p.png")).stdout)
    numbers = pd.read_csv(tmp_path / "p.csv")
    at_accuracy = numbers[(numbers["prompts"] == 20) & ((numbers["accuracy"] - 0.6).abs() < 1e-9)]
    assert at_accuracy["examples"].tolist() == [row["examples_needed"]]
    assert 0.95 <= at_accuracy["power"].item() < 0.96


def test_an_example_that_is_alone_is_no_missing_overlap(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("model,example,correct\na,1,1\nb,1,0\n")
    assert "a and b have one example; expected at least two" in run("compare", str(path)).stderr


def test_a_plan_states_that_no_accuracy_is_enough():
    output = " ".join(run("plan", "-c", "2", "-n", "5", "-t", "1000000").stdout.split())
    assert "least accuracy above maximum baseline 1.000 least accuracy at alpha 0.05 none" in output
    plan = json.loads(run("plan", "-c", "2", "-n", "5", "-t", "1000000", "--json").stdout)
    assert plan["least_accuracy_at_alpha_0.05"] is None


def test_names_that_the_font_lacks_are_a_note(tmp_path, capsys):
    def with_title(numbers):
        figure, axes = plt.subplots()
        axes.set_title(numbers["model"][0])
        return figure

    write_figure(with_title, pd.DataFrame({"model": ["org/模型"]}), tmp_path / "a.png")
    write_figure(with_title, pd.DataFrame({"model": ["org/m"]}), tmp_path / "b.png")
    note = f"note: {tmp_path / 'a.png'}: the font of the figure lacks characters of some names\n"
    assert capsys.readouterr().err == note


def test_the_numbers_of_draws_are_in_the_json_of_best(tmp_path):
    scores = np.random.default_rng(0).random((3, 20)).round(3)
    rows = [
        f"c{candidate},{example},{scores[candidate, example]}" for candidate, example in np.ndindex(3, 20)
    ]
    (tmp_path / "c.csv").write_text("\n".join(["candidate,example,score", *rows, ""]))
    report = json.loads(
        run("best", str(tmp_path / "c.csv"), "--json", "--draws", "200", "--start", "c1").stdout
    )
    assert (report["draws"], report["draws_start"]) == (200, 200)
