"""What can go wrong while a study runs: afterwards its results are those of a run in which nothing did.

Each test runs a small study, breaks something, and runs it again. The table of all of these is
docs/faults.md.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import psutil
import pytest
import yaml

from abovechance.core.provenance import file_sha256
from abovechance.study.kinds import KINDS
from tests.conftest import REPOSITORY, snakemake, snakemake_command
from tests.tiny import write_tiny_study

pytestmark = pytest.mark.workflow
long = pytest.mark.faults  # too long for every run of the tests: `make faults`

PROMPTS = 10
STUDY = Path("results") / "faulty"
SCORES = STUDY / "scores" / "tiny" / "sums" / "1-shot.parquet"
JOURNAL = SCORES.with_suffix(".journal")
PREDICTIONS = STUDY / "predictions" / "tiny.parquet"
LEDGER = STUDY / "cost" / "ledgers" / "tiny" / "sums.jsonl"
UNTIL = ("--until", "accuracy")
ALL = ("all",)
# Wide enough that a prompt takes a while, so that a job can be caught in the middle.
SLOW = {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 6}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study of one task, ready to be scored."""
    folder = tmp_path_factory.mktemp("prepared")
    changes = {"tasks": {"sums": "sums.jsonl"}, "shots": [1], "prompts": PROMPTS, "max_examples": 200}
    write_tiny_study(folder, "faulty", model=SLOW, **changes)
    run(folder, "--until", "prompts", "weights")
    return folder


@pytest.fixture(scope="module")
def undisturbed(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a run in which nothing went wrong."""
    folder = tmp_path_factory.mktemp("undisturbed") / "place"
    shutil.copytree(prepared, folder, symlinks=True)
    run(folder, *ALL)
    assert (folder / LEDGER).read_text().count('"prompt"') == PROMPTS
    return folder


@pytest.fixture
def place(prepared: Path, tmp_path: Path) -> Path:
    """A copy of the folder that is ready."""
    shutil.copytree(prepared, tmp_path / "place", symlinks=True)
    return tmp_path / "place"


@pytest.fixture
def finished_study(undisturbed: Path, tmp_path: Path) -> Path:
    """A copy of the finished study."""
    shutil.copytree(undisturbed, tmp_path / "place", symlinks=True)
    return tmp_path / "place"


def run(place: Path, *arguments: str, check: bool = True) -> str:
    """Run the study up to its accuracies, as `make run` does, or what else is asked for; what it said."""
    study = ["--configfile", str(place / "faulty.yaml"), "--logger", "abovechance"]
    completed = snakemake(*(arguments or UNTIL), *study, directory=place, check=check)
    assert check or completed.returncode != 0
    return completed.stdout + completed.stderr


def started(place: Path, *arguments: str) -> psutil.Popen:
    """A run of the study, in a process group of its own, which writes to said.txt."""
    study = ["--configfile", str(place / "faulty.yaml"), "--logger", "abovechance"]
    with (place / "said.txt").open("w") as log:
        return psutil.Popen(
            snakemake_command(*arguments, *study, directory=place),
            stdout=log,
            stderr=log,
            start_new_session=True,
            # a shell has its background jobs ignore interrupts, and so all that they start
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )


@contextmanager
def scoring(place: Path, lines: int = 3) -> Iterator[psutil.Popen]:
    """A run that has scored so many prompts and goes on."""
    process = started(place, *UNTIL)
    journal = place / JOURNAL
    while not journal.exists() or journal.read_bytes().count(b"\n") < lines:
        assert process.poll() is None, (place / "said.txt").read_text()
        time.sleep(0.01)
    try:
        yield process
    finally:
        for value in [*process.children(recursive=True), process] if process.is_running() else []:
            value.kill()
        process.wait()


def scorer(process: psutil.Process) -> psutil.Process:
    """The process that scores."""
    (result,) = [
        child for child in process.children(recursive=True) if child.cmdline()[-1].endswith(".score.py")
    ]
    return result


def messages_of(place: Path) -> str:
    return (place / "said.txt").read_text()


def scored(place: Path) -> int:
    """How many prompts were scored, in all runs together."""
    lines = (place / LEDGER).read_text().splitlines()
    return sum(json.loads(line)["what"] == "prompt" for line in lines)


def differing_files(place: Path, undisturbed: Path, *parts: str) -> list[str]:
    """The results that differ from those of the undisturbed run, of these folders or of all.

    A result that only one of both has is one of them, unless it is a stored score of an earlier config.
    """
    digests = [
        {
            path.relative_to(folder): file_sha256(path)
            for path in (folder / STUDY).rglob("*")
            if path.is_file()
        }
        for folder in (place, undisturbed)
    ]
    scores = {kind.scores for kind in KINDS}
    return [
        str(file)
        for file in sorted({*digests[0], *digests[1]})
        if (part := file.relative_to(STUDY).parts[0]) not in ("logs", "benchmarks", "cost")
        and (not parts or part in parts)
        and (part not in scores or file in digests[1])
        and digests[0].get(file) != digests[1].get(file)
    ]


def as_undisturbed(place: Path, undisturbed: Path) -> bool:
    """Whether the results up to the accuracies have the same bytes, and nothing is left half-written."""
    remaining = [path for path in (place / STUDY).rglob(".*") if path.is_file() and path.name != ".lock"]
    assert differing_files(place, undisturbed, "tasks", "prompts", "scores", "predictions", "accuracy") == []
    assert [*remaining, *(place / STUDY).rglob("*.journal")] == []
    return True


@long
def test_the_same_study_has_the_same_bytes_again(prepared, undisturbed, place):
    run(place, *ALL)
    assert differing_files(place, undisturbed) == []


@pytest.mark.slow  # test_study.py kills a run in every run of the tests
def test_a_scoring_process_that_is_killed_outright(place, undisturbed):
    with scoring(place) as process:
        scorer(process).kill()
        assert process.wait() != 0
    assert "Finished work is kept. To continue, run the same command again." in messages_of(place)
    run(place)
    assert as_undisturbed(place, undisturbed)
    assert scored(place) <= PROMPTS + 1


@pytest.mark.slow
def test_snakemake_killed_outright_and_a_job_that_goes_on_alone(place, undisturbed):
    with scoring(place) as process:
        orphan = scorer(process)
        process.kill()
        process.wait()
        refused = run(place, check=False)
        assert "or one was killed there" in refused
        assert "`make unlock`" in refused
        run(place, "--unlock")
        run(place)
        assert not orphan.is_running()
    assert as_undisturbed(place, undisturbed)
    assert scored(place) == PROMPTS


@pytest.mark.slow
def test_two_runs_at_once(place, undisturbed):
    with scoring(place) as process:
        held_out = scorer(process)
        held_out.suspend()  # however fast it is
        refused = run(place, check=False)
        held_out.resume()
        assert "another run works in" in refused
        assert process.wait() == 0
    assert as_undisturbed(place, undisturbed)
    assert scored(place) == PROMPTS


@long
def test_two_runs_at_once_whose_lock_was_taken_away(place, undisturbed):
    with scoring(place) as process:
        run(place, *UNTIL, "--nolock")
        assert process.wait() == 0
    assert as_undisturbed(place, undisturbed)
    assert scored(place) == PROMPTS


@long
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_asked_to_end(place, undisturbed, sent):
    with scoring(place) as process:
        os.killpg(process.pid, sent)
        assert process.wait() != 0
    assert "Traceback" not in messages_of(place)
    run(place)
    assert as_undisturbed(place, undisturbed)
    assert scored(place) <= PROMPTS + 1


# {what a study becomes: keys of its config}
CHANGES = {
    "more prompts": {"prompts": PROMPTS + 6},
    "fewer prompts": {"prompts": PROMPTS - 6},
    "fewer examples": {"max_examples": 15},
    "more shots": {"shots": [1, 2]},
    "another task": {"tasks": {"sums": "sums.jsonl", "differences": "differences.jsonl"}},
    "a task in place of another": {"tasks": {"differences": "differences.jsonl"}},
    "another model": {
        "models": {name: {"path": "tiny", "precision": name} for name in ("float32", "bfloat16")}
    },
    "null-target prompts": {"pvi": {}, "prompts": PROMPTS + 4},
    "fewer examples, null-target prompts": {"pvi": {}, "max_examples": 15},
}


def change(place: Path, name: str) -> None:
    """Make the study another one."""
    study = yaml.safe_load((place / "faulty.yaml").read_text())
    (place / "faulty.yaml").write_text(yaml.safe_dump(study | CHANGES[name]))


@pytest.fixture(scope="module")
def changed(undisturbed: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The results of a finished study that became another one, undisturbed."""

    @cache
    def make(name: str) -> Path:
        folder = tmp_path_factory.mktemp("changed") / "place"
        shutil.copytree(undisturbed, folder, symlinks=True)
        change(folder, name)
        run(folder, *ALL)
        return folder

    return make


@pytest.mark.parametrize(
    ("name", "sent", "seed"),
    [
        pytest.param("more prompts", signal.SIGTERM, 0, marks=pytest.mark.slow),
        *(
            pytest.param(name, sent, seed, marks=long)
            for name in CHANGES
            for seed, sent in enumerate((signal.SIGTERM, signal.SIGINT, signal.SIGKILL))
            if (name, sent) != ("more prompts", signal.SIGTERM)
        ),
    ],
)
def test_a_study_that_changes_and_is_stopped_at_any_moment(finished_study, changed, name, sent, seed):
    """Stopped three times, a little later each time: what the last run makes is of the last config alone."""
    generator = random.Random(f"{name}/{seed}")
    expected = changed(name)
    change(finished_study, name)
    for _ in range(3):
        process = started(finished_study, *ALL)
        wait_for_scores_or(process, finished_study, generator.uniform(1, 15))
        if process.poll() is None:
            os.killpg(process.pid, sent)
        process.wait()
        if sent == signal.SIGKILL:
            run(finished_study, "--unlock")
    run(finished_study, *ALL)
    assert differing_files(finished_study, expected) == []


def wait_for_scores_or(process: psutil.Popen, place: Path, seconds: float) -> None:
    """Wait until a prompt is scored, or for so many seconds: half of the time for each."""
    end = time.monotonic() + seconds
    watched = seconds > 8
    while process.poll() is None and time.monotonic() < end + 30 * watched:
        journals = [*(place / STUDY).rglob("*.journal")]
        if watched and any(journal.stat().st_size for journal in journals):
            return
        time.sleep(0.01)


def cut(content: bytes) -> bytes:
    return content[: len(content) * 2 // 3]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage", [pytest.param(cut, marks=long), pytest.param(flipped, marks=pytest.mark.slow)]
)
def test_a_damaged_journal(place, undisturbed, damage):
    with scoring(place, lines=5) as process:
        scorer(process).kill()
        process.wait()
    content = (place / JOURNAL).read_bytes()
    (place / JOURNAL).write_bytes(damage(content))
    run(place)
    assert as_undisturbed(place, undisturbed)
    assert scored(place) <= PROMPTS + 1 + content.count(b"\n") // 2


@long
@pytest.mark.parametrize("damage", [cut, flipped])
@pytest.mark.parametrize(
    "file", [SCORES, PREDICTIONS, STUDY / "tasks" / "sums.parquet"], ids=lambda path: path.parts[2]
)
def test_a_damaged_table_is_named_and_never_read(finished_study, undisturbed, damage, file):
    before = (finished_study / file).stat().st_mtime
    (finished_study / file).write_bytes(damage((finished_study / file).read_bytes()))
    os.utime(finished_study / file, (before, before))
    read_by = Path("heldout", "outcomes") if file == PREDICTIONS else Path("accuracy")
    (finished_study / STUDY / read_by / "tiny.parquet").unlink()  # something reads it again
    output = run(finished_study, *ALL, check=False)
    assert f"{file}: is damaged" in output
    assert "delete it and run again" in output
    (finished_study / file).unlink()
    run(finished_study, *ALL)
    assert differing_files(finished_study, undisturbed) == []


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[None]:
    """A disk of this size in place of the folder, with what was in it."""
    content = folder.with_name(f"{folder.name} kept")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(folder, content)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        shutil.rmtree(content)
        pytest.skip("a small disk can be mounted as root only")
    try:
        shutil.copytree(content, folder, dirs_exist_ok=True)
        (folder / "lies here").touch()  # an empty folder would be removed, which a disk cannot be
        yield
        (folder / "lies here").unlink()
        shutil.rmtree(content)
        shutil.copytree(folder, content)
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        shutil.copytree(content, folder, dirs_exist_ok=True)
        shutil.rmtree(content)


@long
@pytest.mark.parametrize(
    ("folder", "kilobytes"),
    [(STUDY / "scores", 20), (STUDY / "predictions", 4), (STUDY / "tables", 8), (STUDY / "figures", 40)],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_full_disk(place, undisturbed, folder, kilobytes):
    with small_disk(place / folder, kilobytes):
        output = run(place, *ALL, check=False)
    assert "abovechance: error: " in output
    assert "No space left on device" in output
    assert "Traceback" not in output
    run(place, *ALL)
    assert differing_files(place, undisturbed) == []
    assert scored(place) <= PROMPTS + 1


@long
def test_a_full_disk_while_weights_are_converted(place, undisturbed):
    config = (place / "faulty.yaml").read_text().replace("precision: float32", "precision: nf4")
    (place / "quantized.yaml").write_text(config)
    with small_disk(place / "results" / "weights", 500):
        completed = snakemake(
            "--configfile", str(place / "quantized.yaml"), "--until", "quantize", directory=place, check=False
        )
    output = completed.stdout + completed.stderr
    assert "abovechance: error: " in output
    assert "the disk has" in output
    assert not list((place / "results" / "weights").rglob("*.safetensors"))


@long
def test_results_that_may_not_be_written(place, undisturbed):
    with small_disk(place / STUDY / "scores", 4000):
        repeated = ["mount", "-o", "remount,ro", str(place / STUDY / "scores")]
        subprocess.run(repeated, check=True)
        output = run(place, check=False)
        subprocess.run([*repeated[:2], "remount,rw", repeated[3]], check=True)
    assert "Read-only file system" in output
    assert "Traceback" not in output
    run(place)
    assert as_undisturbed(place, undisturbed)


@pytest.mark.slow
def test_a_clock_that_is_set_back(finished_study, undisturbed):
    """What the study was made from seems to be made in the future, after the results."""
    tomorrow = time.time() + 86_400
    for folder in ("tasks", "prompts", "evaluation_sets"):
        for path in (finished_study / STUDY / folder).rglob("*.parquet"):
            os.utime(path, (tomorrow, tomorrow))
    run(finished_study)
    assert as_undisturbed(finished_study, undisturbed)
    assert scored(finished_study) == PROMPTS


def test_a_network_that_is_gone_in_a_download(tmp_path):
    target = "results/downloads/bigbench-1.0.0.tar.gz"
    command = snakemake_command(
        target, "--configfile", str(REPOSITORY / "config.yaml"), "--logger", "abovechance", directory=tmp_path
    )
    nowhere = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "0",
        "PIP_CONFIG_FILE": os.devnull,
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    completed = subprocess.run(command, capture_output=True, text=True, env=clean | nowhere)
    assert completed.returncode != 0
    assert "abovechance: error: downloading bigbench==1.0.0 gave no bigbench-1.0.0.tar.gz" in completed.stderr
    assert "Traceback" not in completed.stderr
    assert not (tmp_path / target).exists()
