"""Every command that the README and the docs show, executed as it is written, on small studies and files."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from abovechance.cli.app import main
from tests.conftest import REPOSITORY
from tests.importers.test_importers import (
    helm_result,
    inspect_files,
    inspect_sample,
    write_helm,
    write_zstandard_zip,
)
from tests.importers.test_lm_eval import lm_sample, write_lm
from tests.test_docs import PAGES
from tests.tiny import write_tiny_study

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(
        not (REPOSITORY / ".venv" / ".installed-dev").is_file(), reason="needs .venv as make sets it up"
    ),
]

PROGRAMS = ("abovechance", ".venv/bin/abovechance", "make", "snakemake", "python", ".venv/bin/python", "git")
CLUSTER = "needs a SLURM cluster; tests/slurm runs a study on one where it can be installed"
HOURS = "takes half an hour to hours; the pages show what it printed"
NETWORK = "needs github.com"
# Commands that cannot run in a test, as they are written, and why.
LOGS = "tests/logs runs it on logs that `make logs` makes"
EXCEPTIONS = {
    "make test": "runs these tests",
    "make test-all": "runs these tests",
    "make quick": "runs these tests",
    "make lint": "CI runs it before the tests",
    "make faults": HOURS,
    "make logs": "installs the other tools in environments of their own (gigabytes)",
    "make mutants": HOURS,
    "make fuzz": HOURS,
    "make servers": "builds llama.cpp",
    "snakemake --directory .test --cores 2": "takes a minute; tests/workflow/test_module.py runs it",
    "python -m tests.bench.servers llama.cpp": "needs llama.cpp, which `make servers` builds",
    "python -m tests.bench.servers requests": HOURS,
    **dict.fromkeys(
        ["make compat", 'make compat COMPAT="--extra workflow"'],
        "makes environments with other versions of packages",
    ),
    "snakemake --cores 8 --configfile mine.yaml --config prompts=100": (
        "takes half a minute; test_study.py changes this key"
    ),
    "abovechance rerun mine.zip": "takes half a minute; test_archive.py and test_wheel.py run archives again",
    "make cost CONFIG=mine.yaml": "takes half a minute; `make cost` runs the same on the default study",
    "make lock": "asks the index for every package, and writes envs/requirements-hashed.txt",
    "make setup HASHES=envs/requirements-hashed.txt": "refuses torch for CPUs, which is here",
    **dict.fromkeys(["make validation", 'make validation TABLES="baselines baselines-speed"'], HOURS),
    "make verify-release RELEASE=release": "makes an environment (test_verify_release.py)",
    "make dist": "tests/workflow/test_wheel.py builds the package",
    "python -m tests.columns_of_results": "writes results/README.md; a test compares that with its output",
    "python -m tests.keys_of_config": "writes config/README.md; a test compares that with its output",
    "make docs": "its programs are those of `make test`, and its pages take a minute",
    **dict.fromkeys(["make bench", "make bench-large", "make bench-models", "make bench-scale"], HOURS),
    **dict.fromkeys(["make bench-drift"], HOURS),
    "python -m tests.bench.doctor": HOURS,
    ".venv/bin/python tests/bench/random_llama.py results/bench/llama-7b": "needs 30 GB of memory",
    'make bench BENCH="--weights results/bench/llama-7b/weights.json --precision bfloat16"': "needs 30 GB",
    'make bench BENCH="--weights results/bench/llama-7b/nf4/weights.json --precision nf4"': "needs 30 GB",
    "abovechance run sums.yaml": "its model is on a hub; tests/workflow/test_wheel.py runs a study",
    "git clone https://github.com/gyauney/stronger-random-baselines release": NETWORK,
    "git -C release checkout 836a551": NETWORK,
    "make run CONFIG=workflow/studies/published.yaml": "test_published_study.py runs it on a small release",
    "make archive CONFIG=workflow/studies/published.yaml": "needs the release",
    "make run CONFIG=workflow/studies/pvi.yaml": "test_pvi_study.py runs a small one",
    "make run CONFIG=workflow/studies/variance.yaml": "test_series_study.py runs a small one",
    "make run CONFIG=published-items.yaml RELEASE=release": HOURS,
    "make run PROFILE=slurm CONFIG=workflow/studies/paper.yaml": CLUSTER,
    "make run PROFILE=slurm CONFIG=study.yaml": CLUSTER,
    'make run PROFILE=slurm SNAKEMAKE_OPTIONS="--set-resources score:gpu_model=a100"': CLUSTER,
    'make run PROFILE=slurm SNAKEMAKE_OPTIONS="--set-resources score:gres=gpu:a100:1 score:gpu=0"': CLUSTER,
    "snakemake --workflow-profile workflow/profiles/slurm": CLUSTER,
    "snakemake --sdm conda": "needs conda",
    ".venv/bin/python -m tests.same_results results-before/default results/default": (
        "compares the results of two versions of the code"
    ),
    "abovechance compare results/logs/compared/float32/out results/logs/compared/bfloat16/out": LOGS,
    **dict.fromkeys(
        [
            "abovechance doctor out",
            "abovechance check out --prompts 1",
            "abovechance doctor benchmark_output/runs/mine",
            "abovechance check benchmark_output/runs/mine --prompts 1",
            "abovechance annotate data/ --prompts 20 --output annotated/",
        ],
        LOGS,
    ),
}
# Commands that do what another one does, with another study.
REPEATED = {
    "make archive",
    "make fetch",
    "make fetch CONFIG=study.yaml",
    "make run CONFIG=mine.yaml",
    "abovechance run mine.yaml -- archive",
    "abovechance run mine.yaml -- --unlock",
}


def commands_shown() -> list[str]:
    """The commands of all pages, without their comments, each once."""
    results = []
    for path in PAGES:
        if path.name == "CHANGELOG.md":  # commands of the past
            continue
        # text, language, content of a block, text, language, ...
        parts = re.split(r"^ *```(\w*)\n(.*?)^ *```\n?", path.read_text(), flags=re.M | re.S)
        blocks = zip(parts[1::3], parts[2::3], strict=True)
        lines = [line for kind, block in blocks if kind in ("", "sh", "bash") for line in block.splitlines()]
        spans = [" ".join(span.split()) for text in parts[::3] for span in re.findall(r"`([^`]+)`", text)]
        results += [re.sub(r"\s+#.*", "", line).strip() for line in [*lines, *spans]]
    return list(dict.fromkeys(filter(is_command, results)))


def is_command(text: str) -> bool:
    """Whether a text is a command with arguments, and none of them stands for others."""
    program, _, arguments = text.partition(" ")
    stands_for_another = re.search(r"<\w+>|\.\.\.|\b[A-Z]{4,}\b(?!=)", arguments)
    return program in PROGRAMS and bool(arguments) and not stands_for_another


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with small files of all names in the commands; the studies mine and default are finished."""
    folder = tmp_path_factory.mktemp("user") / "clone"
    folder.mkdir()
    for name in ("Makefile", "Snakefile", "pyproject.toml", "README.md", "LICENSE", "CITATION.cff"):
        shutil.copy2(REPOSITORY / name, folder)
    for name in ("workflow", "envs", "config", "docs"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "results").mkdir()
    shutil.copy2(REPOSITORY / "results" / "README.md", folder / "results")
    (folder / ".venv").symlink_to(REPOSITORY / ".venv")
    # older than .venv, into which make would install this clone otherwise
    for path in (folder / "pyproject.toml", *(folder / "envs").iterdir()):
        os.utime(path, (0, 0))
    config = write_tiny_study(
        folder, "tiny", ("float32", "bfloat16"), shots=[1], tasks={"sums": "sums.jsonl"}, max_examples=8
    )
    study = yaml.safe_load(config.read_text())
    alone = {"models": {"tiny": study["models"]["tiny"]}}
    studies = {
        "config.yaml": {"study": "default"},
        "mine.yaml": {"study": "mine", **alone},
        "study.yaml": {"study": "study", **alone},
    }
    for name, changes in studies.items():
        (folder / name).write_text(yaml.safe_dump(study | changes))
    write_logs(folder)
    for command in ("make run", "make run CONFIG=mine.yaml", "make archive CONFIG=mine.yaml"):
        run(command, folder)
    shutil.copytree(folder / "results" / "mine", folder.parent / "other-machine" / "results" / "mine")
    shutil.copy2(folder / "results" / "mine" / "archive" / "mine.zip", folder)
    return folder


def write_logs(folder: Path) -> None:
    """The logs, tables and evaluations that the pages' commands name."""
    for name, correct in (("a", 14), ("b", 9), ("log", 12)):
        samples = [inspect_sample(place, "C" if place < correct else "I") for place in range(20)]
        files = inspect_files(samples)
        files["header.json"]["eval"]["model"] = f"hf/{name}"
        write_zstandard_zip(folder / f"{name}.eval", files)
    samples = [lm_sample(place, [-1, -2], int(place > 12)) for place in range(20)]
    rows = write_lm(folder / "logs-one", samples)
    shutil.copy2(rows, folder / "samples_arc_easy_2026-01-01T00-00-00.jsonl")
    for name, less in (("samples_sums.jsonl", 0.0), ("samples_sums_without_inputs.jsonl", 1.5)):
        changed = [lm_sample(place, [-1 - less, -2], int(place > 12)) for place in range(20)]
        (folder / name).write_text("".join(json.dumps(sample) + "\n" for sample in changed))
    for prompt in range(8):
        samples = [lm_sample(place, [-1, -2], int(place > 8 + prompt)) for place in range(20)]
        write_lm(folder / "logs" / f"prompt{prompt}", samples)
    results = [helm_result(f"id{e}", trial, float((e + trial) % 2)) for trial in range(3) for e in range(8)]
    write_helm(folder / "helm_runs" / "run", results)
    for name, correct in (("a", 14), ("b", 9)):
        lines = "".join(f"{place},{int(place < correct)}\n" for place in range(20))
        (folder / f"{name}.csv").write_text(f"example,correct\n{lines}")
    (folder / "leaderboard.csv").write_text("model,accuracy,n\na,0.9,100\nb,0.5,100\n")
    rows = [f"{name},{n},{(n + shift) % 2}\n" for shift, name in enumerate(("seed", "a")) for n in range(12)]
    (folder / "candidates.csv").write_text("candidate,example,score\n" + "".join(rows))
    write_predictions(folder)
    subscores = [{str(n): float((n + shift) % 3 == 0) for n in range(12)} for shift in range(3)]
    (folder / "gepa_result.json").write_text(json.dumps({"val_subscores": subscores}))
    trials = {n: {"full_eval_score": 40.0 + n, "total_eval_calls_so_far": 50 * n} for n in (1, 2, 3)}
    (folder / "trial_logs.json").write_text(json.dumps(trials))
    (folder / "examples.csv").write_text("H_yb,H_yx,correct_yx\n3.0,1.0,1\n2.0,2.5,0\n2.5,0.5,1\n")
    heading = (
        "dataset,model,number_of_shots,prompt_set,accuracy,average_pvi_for_T,average_pvi_for_F,"
        "accuracy_for_pvi<1/5quantile,accuracy_for_pvi>4/5quantile,accuracy_for_pvi<1/2quantile,"
        "accuracy_for_pvi>1/2quantile\n"
    )
    lines = [
        f"d,m,{shots},{prompt},0.{5 + prompt},0.{4 + prompt},-0.3,0.2,0.9,0.4,0.8\n"
        for shots in (2, 4)
        for prompt in range(3)
    ]
    (folder / "results.csv").write_text(heading + "".join(lines))
    with zipfile.ZipFile(folder / "evals.zip", "w") as file:
        for step in (10, 20, 30):
            metrics = {"acc,none": 0.5 + step / 200, "acc_stderr,none": 0.02}
            text = json.dumps(
                {"model_name": "m", "results": {"piqa": metrics}, "n-samples": {"piqa": {"effective": 400}}}
            )
            file.writestr(f"results_step{step}.json", text)
            (folder / "evals").mkdir(exist_ok=True)
            (folder / "evals" / f"results_step{step}.json").write_text(text)


def write_predictions(folder: Path) -> None:
    """The predictions, attempts and scores of the page about any metric."""
    rows = [f"{n},{'abc'[n % 3]},{'abc'[n % 2]}\n" for n in range(12)]
    (folder / "predictions.csv").write_text("example,gold,prediction\n" + "".join(rows))
    heading, rows, scores = "prompt,harness,example,attempt,gold,prediction\n", [], []
    for prompt in "AB":
        for n in range(12):
            for attempt in range(5):
                rows.append(f"{prompt},h,{n},{attempt},{'abc'[n % 3]},{'abc'[attempt % 3]}\n")
            scores.append(f"{prompt},h,{n},{n % 2}\n")
    (folder / "attempts.csv").write_text(heading + "".join(rows))
    (folder / "agents.csv").write_text("agent,harness,example,score\n" + "".join(scores))
    (folder / "null_agent.csv").write_text("example,score\n" + "".join(f"{n},0\n" for n in range(12)))
    text = "def first_letter(predictions, gold):\n    return float((predictions == gold).mean())\n"
    (folder / "my_metrics.py").write_text(text)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a user with the project's environment on the path does."""
    path = f"{folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    completed = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=folder, env=os.environ | {"PATH": path}
    )
    assert completed.returncode == 0, f"{command}\n{completed.stdout[-3000:]}{completed.stderr[-3000:]}"
    return completed


def test_the_commands_that_do_not_run_here_are_shown_somewhere():
    assert {*EXCEPTIONS} <= {*commands_shown()}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=pytest.mark.slow if command in REPEATED else ())
        for command in commands_shown()
        if command not in EXCEPTIONS
    ],
)
def test_a_command_of_the_docs_runs_as_it_is_written(place, command, monkeypatch):
    if len(command.split()) == 2 and "abovechance" in command:  # a command by its name alone
        command += " --help"
    shutil.rmtree(place / "mine-rerun", ignore_errors=True)
    program, *arguments = shlex.split(command, comments=True)
    # `abovechance run` becomes Snakemake
    if program != "abovechance" or arguments[0] == "run" or {"|", ">", "&&"} & {*arguments}:
        run(command, place)
        return
    # in this process: to start another for each of them takes minutes
    monkeypatch.chdir(place)
    monkeypatch.setenv("PATH", f"{place / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    status: str | int | None = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    assert not status
