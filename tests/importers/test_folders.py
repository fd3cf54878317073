"""Folders with several kinds of results: which are read, left out and noted, and what they are named."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from abovechance.cli.inputs import responses_of_runs
from abovechance.cli.result_names import prompt_names
from abovechance.core.errors import InputError
from abovechance.importers import Options, diagnose, read_runs
from abovechance.importers.contract import UnsupportedMetric
from tests.doctor.logs import DATE, WRITERS, sound, write_choices, write_csv, write_records, write_texts
from tests.running import run

ZERO_SHOT = [3, 6, 9, 10, 11, 12, 13, 17, 19, 20]  # seeds of logs of 60 examples
TOOLS = sorted({*WRITERS} - {"csv"})


@pytest.mark.parametrize("tool", TOOLS)
def test_results_in_a_folder_that_lack_the_metric_are_left_out(tool, tmp_path):
    logs = WRITERS[tool](sound(1, 40), tmp_path / "logs")
    write_csv(sound(2, 40), tmp_path / "table")
    has_it = write_texts(sound(3, 40), tmp_path / "texts")
    has_it.write_text(has_it.read_text().replace("exact_match", "unheard"))
    first, second = read_runs([tmp_path], Options(metric="unheard"))
    read = first if first.notes else second
    assert {first.file, second.file} == {str(tmp_path / "table" / "rows.csv"), str(has_it)}
    (note,) = [note for note in read.notes if note.startswith("left out: ")]
    assert str(tmp_path / "logs") in note
    assert " 'unheard'" in note
    # by its name, it is asked for; without others, nothing is left
    for path in (logs, tmp_path / "logs"):
        with pytest.raises(InputError, match="has no .* 'unheard'"):
            read_runs([path], Options(metric="unheard"))
        with pytest.raises(InputError, match="has no .* 'unheard'"):
            diagnose([path], Options(metric="unheard", command="doctor"))


def test_grades_in_a_folder_are_left_out(tmp_path):
    write_choices(sound(1, 40), tmp_path / "a")
    graded = write_texts(sound(2, 40), tmp_path / "b")
    graded.write_text(graded.read_text().replace('"exact_match": 1.0', '"exact_match": 0.7'))
    text = run("check", str(tmp_path), "--prompts", "1").stderr
    assert f"left out: {graded}, row " in " ".join(text.split())
    signs, results = diagnose([tmp_path], Options(command="doctor"))
    assert results == 1
    assert [sign.suspicion.check for sign in signs] == ["not-checked"]


def test_one_sample_without_the_metric_is_damage(tmp_path):
    write_choices(sound(1, 40), tmp_path / "a")
    damaged = write_texts(sound(2, 40), tmp_path / "b")
    rows = list(map(json.loads, damaged.read_text().splitlines()))
    del rows[7]["exact_match"]
    damaged.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match="row 8: has no metric 'exact_match'"):
        read_runs([tmp_path], Options(metric="exact_match"))


def test_results_of_a_file_are_left_out_like_those_of_a_folder(tmp_path):
    first, second = write_records(sound(1, 40), tmp_path / "a"), write_records(sound(2, 40), tmp_path / "b")
    rows = list(map(json.loads, second.read_text().splitlines()))
    for row in rows:
        row["evaluation_name"] = "translations"
        row["evaluation"] |= {"score": 0.25, "is_correct": False}
    with first.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    (read,) = read_runs([first], Options())
    assert len(read.rows) == 40
    assert [note.partition(": ")[0] for note in read.notes if "translations" in note or "0.25" in note] == [
        "left out"
    ]
    signs, _ = diagnose([first], Options(command="doctor"))
    assert [sign.suspicion.check for sign in signs] == ["not-checked"]


def with_value(path: Path, row: int, value: object) -> Path:
    """Change the metric of one row of a log of lm-evaluation-harness."""
    rows = list(map(json.loads, path.read_text().splitlines()))
    rows[row]["exact_match"] = value
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_prompt_that_was_tried_is_never_left_out(tmp_path):
    for number in range(3):
        write_texts(sound(number, 40), tmp_path / f"p{number}")
    with_value(next((tmp_path / "p1").glob("samples_*")), 3, 0.5)
    for command in ("check", "best", "import"):
        with pytest.raises(UnsupportedMetric, match="exact_match is 0.5"):
            read_runs([tmp_path], Options(each_file=True, command=command))


def test_a_gate_needs_all_results(tmp_path):
    for side in ("old", "new"):
        for number in range(2):
            write_texts(replace(sound(number, 40), model=side), tmp_path / side / str(number))
    with_value(next((tmp_path / "old" / "1").glob("samples_*")), 3, 0.5)
    for arguments in (("gate", "new", "old"), ("check", "old", "--gate", "--prompts", "1")):
        command, *places = (str(tmp_path / word) if word in ("old", "new") else word for word in arguments)
        completed = run(command, *places)
        assert completed.returncode == 3
        assert "exact_match is 0.5" in " ".join(completed.stderr.split())


@pytest.mark.parametrize("value", [None, float("nan"), "C"])
def test_what_is_no_number_is_damage(value, tmp_path):
    write_choices(sound(1, 40), tmp_path / "a")
    path = with_value(write_texts(sound(2, 40), tmp_path / "b"), 5, value)
    with pytest.raises(InputError, match="row 6: exact_match is .*; expected a metric of 0 or 1"):
        read_runs([tmp_path], Options())
    signs, _ = diagnose([path], Options(command="doctor"))
    assert [(sign.suspicion.check, sign.suspicion.severity) for sign in signs] == [("unreadable", "grave")]


def test_a_filter_that_no_results_have_is_an_error(tmp_path):
    plain = write_choices(sound(1, 40), tmp_path / "a")
    with pytest.raises(InputError, match="--filter is 'typo', and no results have it; they have none"):
        read_runs([plain], Options(filter="typo"))
    named = write_texts(sound(2, 40), tmp_path / "b")
    assert len(read_runs([tmp_path], Options(filter="strict-match"))) == 2
    for call in (read_runs, diagnose):
        with pytest.raises(InputError, match="has no filter 'typo'; it has strict-match"):
            call([named], Options(filter="typo", command="doctor"))


def test_a_log_without_the_metric_needs_no_choice_of_a_filter(tmp_path):
    path = write_texts(sound(1, 40), tmp_path / "texts")
    rows = path.read_text()
    path.write_text(rows + rows.replace('"strict-match"', '"flexible-extract"'))
    write_choices(sound(2, 40), tmp_path / "choices")
    for options in (Options(metric="acc"), Options(metric="acc", filter="strict-match")):
        (read,) = read_runs([tmp_path], options)
        assert "row 1: has no metric 'acc'; use --metric exact_match" in read.notes[-1]
    with pytest.raises(InputError, match=f"{tmp_path}: --filter is 'typo', and no results have it"):
        read_runs([tmp_path], Options(metric="acc", filter="typo"))
    plain = write_texts(sound(3, 40), tmp_path / "plain")
    plain.write_text(plain.read_text().replace('"strict-match"', '"none"'))
    with pytest.raises(InputError, match=f"{tmp_path}: --filter is 'typo', and no results have it"):
        read_runs([tmp_path], Options(metric="exact_match", filter="typo"))
    with pytest.raises(InputError, match="has the results of several filters, strict-match, flexible-ext"):
        read_runs([tmp_path], Options())


def renamed(log: Path, date: str, task: str = "task") -> None:
    """Give a log and its results another date, and the log another task."""
    for file in [*log.parent.iterdir()]:
        content = file.read_text().replace('"task"', f'"{task}"')
        file.unlink()
        (log.parent / file.name.replace(DATE, date).replace("_task_", f"_{task}_")).write_text(content)


@pytest.mark.parametrize("are_dated", [False, True])
def test_checkpoints_of_one_name_in_a_folder_are_named_by_folder_or_date(tmp_path, are_dated):
    for step, seeds in ((1, ZERO_SHOT), (2, ZERO_SHOT[2:])):
        for number, task in enumerate(("sums", "words")):
            run_of_task = tmp_path / "run_of_task" / f"step{step}" / task
            renamed(write_choices(sound(seeds[number], 60), run_of_task), f"2026-01-0{step}T00-00-00.1", task)
            logs = tmp_path / "logs" / ("" if are_dated else f"step{step}/org__model")
            logs.mkdir(parents=True, exist_ok=True)
            for file in run_of_task.iterdir():
                target = logs / file.name
                content = json.loads(file.read_text()) if file.suffix == ".json" else None
                if content and target.exists():  # a run of two tasks writes one file of results
                    earlier = json.loads(target.read_text())
                    content = {
                        key: {**earlier[key], **value} if isinstance(value, dict) else value
                        for key, value in content.items()
                    }
                target.write_text(json.dumps(content) if content else file.read_text())
    completed = run("compare", str(tmp_path / "logs"))
    assert "Mean over 2 tasks" in completed.stdout
    names = [f"2026-01-0{step}T00-00-00.1" if are_dated else f"step{step}" for step in (1, 2)]
    assert all(f"({name})" in completed.stdout for name in names)


def test_prompts_of_two_folders_are_paired_without_dates_and_models_in_their_names(tmp_path):
    for side, model, day in (("new", "org/b", 1), ("old", "org/a", 2)):
        for prompt in range(5):
            log = replace(sound(ZERO_SHOT[2 * prompt + day - 1], 60), model=model)
            folder = tmp_path / side / f"p{prompt}" / model.replace("/", "__")
            renamed(write_choices(log, folder), f"2026-01-0{day}T0{prompt}-00-00.123")
    paths = [str(tmp_path / side) for side in ("new", "old")]
    table = responses_of_runs(
        read_runs([Path(paths[0])], Options(each_file=True)), [Path(paths[0])], Options(each_file=True)
    )
    assert {*table["prompt"]} == {f"p{prompt}/samples_task.jsonl" for prompt in range(5)}
    for command in ("gate", "compare"):
        completed = run(command, *paths, "--each-file")
        assert "own prompts" not in completed.stderr
        assert "or prompts and examples like these" in completed.stdout


def test_two_folders_of_one_model_with_a_file_for_each_prompt_are_compared(tmp_path):
    for side, seeds in (("new", ZERO_SHOT), ("old", ZERO_SHOT[3:])):
        for prompt in range(3):
            write_choices(sound(seeds[prompt], 60), tmp_path / side / f"p{prompt}")
    paths = [str(tmp_path / side) for side in ("new", "old")]
    completed = run("compare", *paths, "--each-file")
    assert "org--model (new) and org--model (old)" in completed.stdout
    assert "own prompts" not in completed.stderr


def prompts_of(folder: Path, names: list[str], model: str = "org/model") -> list[str]:
    runs = []
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
        runs.append(SimpleNamespace(file=str(file), model=model, task="t", shots=0, part=""))
    return [*prompt_names(runs, [folder]).values()]


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("2026-01-01T00-00-00+00-00_sums_AbCdEfGhIjKlMnOpQrStUv.eval", "sums.eval"),
        ("a/2026-03-03T10-00-00.1/details_sums|0_2026-03-03T10-00-00.1.parquet", "a/details_sums|0.parquet"),
        (
            "p1/details/org/model/2026-03-03T10-00-00.1/details_sums.parquet",
            "p1/details/details_sums.parquet",
        ),
        ("samples_sums_2026-03-03T10-00-00.123456.jsonl", "samples_sums.jsonl"),
        ("p1/org__model/samples_sums_2026-03-03T10-00-00.123456.jsonl", "p1/samples_sums.jsonl"),
        ("p1/01234567-89ab-cdef-0123-456789abcdef_samples.jsonl", "p1/samples.jsonl"),
        ("sums:prompt=p1,model=org_model", "sums:prompt=p1"),
        ("sums:prompt=p1,model=org_other", "sums:prompt=p1,model=org_other"),
        ("org__model/p1.csv", "p1.csv"),
        ("org/model.csv", "org/model.csv"),
        ("p_2026-03-03.csv", "p_2026-03-03.csv"),
        ("sums_of_the_prompt_numbers_1.json", "sums_of_the_prompt_numbers_1.json"),
    ],
)
def test_the_name_of_a_prompt_lacks_what_is_of_one_run(tmp_path, name, prompt):
    assert prompts_of(tmp_path, [name]) == [prompt]


@pytest.mark.parametrize(
    "names",
    [
        ["prompt_2026-01-01T00-00-00.csv", "prompt_2026-01-02T00-00-00.csv"],  # a date tells them apart
        ["org__model/p1.csv", "others/p1.csv"],  # folders of authors of prompts
    ],
)
def test_names_that_shorter_ones_do_not_tell_apart_are_whole(tmp_path, names):
    assert prompts_of(tmp_path, names) == names


def test_several_folders_of_one_model_and_one_of_another(tmp_path):
    for side, model, seeds in (("v1", "org/a", 0), ("v2", "org/a", 3), ("c", "org/c", 6)):
        for prompt in range(3):
            log = replace(sound(ZERO_SHOT[seeds + prompt], 60), model=model)
            write_choices(log, tmp_path / side / f"p{prompt}")
    completed = run("compare", *(str(tmp_path / side) for side in ("v1", "v2", "c")), "--each-file")
    for name in ("org--a (v1)", "org--a (v2)", "org--c "):
        assert name in completed.stdout


def test_results_that_are_named_twice_are_an_error(tmp_path, monkeypatch):
    path = write_texts(sound(1, 40), tmp_path / "logs")
    (tmp_path / "link").symlink_to(tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    for second in (Path("logs"), path, tmp_path / "link"):
        with pytest.raises(InputError, match="expected it once"):
            read_runs([tmp_path / "logs", second], Options())


def test_what_a_folder_has_and_is_not_read_is_noted(tmp_path):
    write_texts(sound(1, 40), tmp_path / "logs" / "a")
    write_texts(sound(2, 40), tmp_path / "elsewhere")
    (tmp_path / "logs" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "logs" / ".hidden").symlink_to(tmp_path / "elsewhere")
    summary = tmp_path / "logs" / "b" / "results_2026-01-01T00-00-00.json"
    summary.parent.mkdir()
    summary.write_text('{"results": {}, "configs": {}}')
    helm = WRITERS["helm"](sound(3, 40), tmp_path / "logs" / "c")
    (helm / "per_instance_stats.json").unlink()
    damaged = write_records(sound(4, 40), tmp_path / "logs" / "d")
    damaged.write_text(damaged.read_text()[20:])
    (read,) = read_runs([tmp_path / "logs"], Options())
    left_out = [note.removeprefix(f"{tmp_path / 'logs'}: left out: ") for note in read.notes]
    assert left_out == [
        "files with the name of samples and another content (1, such as d/0_samples.jsonl)",
        "summaries of lm-evaluation-harness without samples (1, such as b/results_2026-01-01T00-00-00.json)",
        f"runs of HELM without per_instance_stats.json (1, such as {helm.relative_to(tmp_path / 'logs')})",
        "linked folders, which must be named to be searched (1, such as link)",
    ]
    signs, _ = diagnose([tmp_path / "logs"], Options(command="doctor"))
    checks = [(sign.suspicion.check, sign.suspicion.severity) for sign in signs]
    assert checks == [("unreadable", "grave"), *[("not-read", "note")] * 3]
    assert signs[0].file == str(damaged)


def test_logs_that_a_summary_lists_and_that_are_gone_are_noted(tmp_path):
    log = write_choices(sound(1, 40), tmp_path)
    results = next(tmp_path.glob("results_*"))
    content = json.loads(results.read_text())
    content["configs"] = {task: {} for task in ("task", "gone", "odd[*]", "packed", "org/sums")}
    results.write_text(json.dumps(content))
    date = results.stem.removeprefix("results_")
    assert log.name == f"samples_task_{date}.jsonl"
    (tmp_path / f"samples_packed_{date}.jsonl.gz").write_bytes(b"")
    (tmp_path / "results_all.json").write_text(json.dumps(content))  # without a date, it is of no logs
    (read,) = read_runs([tmp_path], Options())
    (note,) = [note for note in read.notes if "are gone" in note]
    assert f"and that are gone (2, such as samples_gone_{date}.jsonl)" in note
    (read,) = read_runs([log], Options())
    assert not any("are gone" in note for note in read.notes)


def test_a_lower_score_that_is_better_names_its_task(tmp_path):
    write_choices(sound(1, 40), tmp_path / "a")
    path = write_texts(sound(2, 40), tmp_path / "b")
    results = next((tmp_path / "b").glob("results_*"))
    content = json.loads(results.read_text())
    task = next(iter(content["results"]))
    results.write_text(json.dumps(content | {"higher_is_better": {task: {"exact_match": False}}}))
    (read,) = read_runs([tmp_path], Options())
    assert f"left out: {results}, {task}: exact_match is better if it is lower" in " ".join(read.notes)
    assert path.exists()


def test_reruns_of_a_model_are_compared_by_the_mean_over_tasks(tmp_path):
    for side, seed in (("old", 1), ("new", 5)):
        for task in ("sums", "words"):
            log = write_choices(sound(seed, 60), tmp_path / side / task)
            log.rename(log.with_name(log.name.replace("samples_task", f"samples_{task}")))
    completed = run("compare", str(tmp_path / "old"), str(tmp_path / "new"))
    assert "Mean over 2 tasks" in completed.stdout
    assert "(old)" in completed.stdout
    assert "(new)" in completed.stdout
    assert "mean over tasks" not in completed.stderr
    # of several results on a task in a folder, each file counts
    for seed, folder in ((6, "again"), (7, "and again")):
        log = write_choices(sound(seed, 60), tmp_path / "new" / folder)
        log.rename(log.with_name(log.name.replace("samples_task", "samples_sums")))
    paths = [tmp_path / "old", tmp_path / "new"]
    options = Options(command="compare")
    responses = responses_of_runs(read_runs(paths, options), paths, options)
    assert responses["model"].nunique() == 6


def test_tasks_without_results_of_all_models_are_noted(tmp_path):
    table = tmp_path / "a.csv"
    rows = [
        f"{model},{task},{example},{(example + place) % 2}"
        for model, tasks in (("a", "tuvw"), ("b", "tuv"), ("c", "tu"))
        for place, task in enumerate(tasks)
        for example in range(20)
    ]
    table.write_text("\n".join(["model,task,example,correct", *rows]) + "\n")
    message = " ".join(run("compare", str(table)).stderr.split())
    assert "0-shot: the mean over tasks leaves out v, because not all models have results" in message
    table.write_text("\n".join(["model,task,example,correct", *(row for row in rows if row[:3] != "c,u")]))
    message = " ".join(run("compare", str(table)).stderr.split())
    assert "0-shot: no mean over tasks, because no two tasks have results of all models" in message


def test_equal_notes_on_several_files_are_counted(tmp_path):
    for folder in "ab":
        rows = write_records(replace(sound(1, 40), model=folder), tmp_path / folder)
        rows.write_text(
            rows.read_text().replace('"evaluation_name"', '"error": "failed", "evaluation_name"', 1)
        )
    message = " ".join(run("check", str(tmp_path), "--prompts", "1").stderr.split())
    assert "1 samples have an error; 1 of these count as wrong (in 2 files)" in message


def test_the_json_of_a_comparison_has_the_notes_on_results(tmp_path):
    for side in ("old", "new"):
        for number in range(2):
            log = write_texts(replace(sound(number, 40), model=side), tmp_path / side / str(number))
            log.rename(log.with_name(log.name.replace("samples_task", f"samples_t{number}")))
        with_value(next((tmp_path / side / "1").glob("samples_*")), 3, 0.5)
    (report,) = json.loads(run("compare", str(tmp_path / "old"), str(tmp_path / "new"), "--json").stdout)
    assert [note.partition(":")[0] for note in report["notes"] if "0.5" in note] == ["left out"] * 2


def test_pvi_tells_what_is_left_out(tmp_path):
    for folder in ("inputs", "null"):
        write_choices(sound(1, 40), tmp_path / folder)
    graded = write_texts(sound(2, 40), tmp_path / "inputs" / "graded")
    graded.write_text(graded.read_text().replace('"exact_match": 1.0', '"exact_match": 0.7'))
    completed = run("pvi", str(tmp_path / "inputs"), "--null", str(tmp_path / "null"))
    assert completed.returncode == 0
    assert f"left out: {graded}, row " in " ".join(completed.stderr.split())


def test_models_that_one_name_stands_for_are_noted(tmp_path):
    for number, model in enumerate(["/m/x", "x", "org/a", "org--a", "/m/y"]):
        rows = "".join(f"{model},t,{place},{place % 2}\n" for place in range(9))
        (tmp_path / f"{number}.csv").write_text(f"model,task,example,correct\n{rows}")
    runs = read_runs([tmp_path], Options())
    assert [run.model for run in runs] == ["x", "x", "org--a", "org--a", "y"]
    notes = [note for note in runs[0].notes if "one model" in note]
    assert notes == [
        "/m/x and x are taken as one model, x",
        "org/a and org--a are taken as one model, org--a",
    ]
