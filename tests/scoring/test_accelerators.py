"""Accelerators are shared out whole, none twice, on a machine that pretends to have some."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from abovechance.scoring.accelerators import reserved, visible_accelerators

GIB = 2**30


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A driver that tells of three GPUs of 16, 16 and 8 GiB, and a folder for the locks."""
    program = tmp_path / "nvidia-smi"
    lines = "0, GPU-a, 16384\\n1, GPU-b, 16384\\n2, GPU-c, 8192\\n"
    program.write_text(f"#!/bin/sh\nprintf '{lines}'\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path


def names(result: list) -> list[str]:
    return [gpu.uuid for gpu in result]


def test_there_are_none_without_a_driver(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert visible_accelerators() == []
    with reserved(GIB) as accelerators:
        assert accelerators == []
        assert "CUDA_VISIBLE_DEVICES" not in os.environ


@pytest.mark.parametrize(
    ("allowed", "visible"),
    [("", []), ("1", ["GPU-b"]), ("2,0", ["GPU-c", "GPU-a"]), ("GPU-c", ["GPU-c"])],
)
def test_a_schedulers_choice_is_kept(machine, monkeypatch, allowed, visible):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", allowed)
    assert names(visible_accelerators()) == visible


def test_a_job_sees_the_one_that_it_took_and_no_other(machine):
    with reserved(10 * GIB) as first:
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-a"
        del os.environ["CUDA_VISIBLE_DEVICES"]  # as in another process
        with reserved(10 * GIB) as second:
            assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-b"
        assert (names(first), names(second)) == (["GPU-a"], ["GPU-b"])
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_a_message_of_the_driver_is_no_gpu(machine):
    (machine / "nvidia-smi").write_text("#!/bin/sh\necho 'No devices were found'\n")
    assert visible_accelerators() == []


def test_a_gpu_that_shares_the_processors_memory_is_enough(machine):
    (machine / "nvidia-smi").write_text("#!/bin/sh\necho '0, GPU-a, [N/A]'\n")
    with reserved(300 * GIB) as accelerators:
        assert names(accelerators) == ["GPU-a"]


def test_a_model_too_big_for_one_takes_several_and_at_most_all(machine):
    with reserved(30 * GIB) as accelerators:
        assert names(accelerators) == ["GPU-a", "GPU-b"]
    with reserved(300 * GIB) as accelerators:
        assert names(accelerators) == ["GPU-a", "GPU-b", "GPU-c"]


def test_a_taken_one_is_waited_for_and_freed_when_its_job_is_killed(machine):
    program = (
        "import sys, time; from abovechance.scoring.accelerators import reserved\n"
        "with reserved(300 * 2**30, wait=0.05):\n"
        "    print('has them', flush=True); time.sleep(60)"
    )
    first, second = (
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in "ab"
    )
    try:
        os.set_blocking(first.stdout.fileno(), True)
        owner, waiter = None, None
        while owner is None:
            for process, another in ((first, second), (second, first)):
                os.set_blocking(process.stdout.fileno(), False)
                if process.stdout.readline():
                    owner, waiter = process, another
        assert not waiter.stdout.readline()
        owner.kill()
        os.set_blocking(waiter.stdout.fileno(), True)
        assert waiter.stdout.readline() == "has them\n"
    finally:
        first.kill()
        second.kill()
