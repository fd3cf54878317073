"""Which accelerators a job takes: whole ones, none of them twice.

Jobs on one machine agree through lock files that the system lets go of when a
process ends, however it ends. A scheduler's own choice (``CUDA_VISIBLE_DEVICES``)
is kept: jobs share out what it left them.
"""

from __future__ import annotations

import fcntl
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Accelerator:
    """One GPU: its number, its id on this machine, and its memory in bytes (infinite if it is not known)."""

    index: str
    uuid: str
    memory: float


def visible_accelerators() -> list[Accelerator]:
    """Return the GPUs that this process may use, in their order; none where there is no driver."""
    query = ["nvidia-smi", "--query-gpu=index,uuid,memory.total", "--format=csv,noheader,nounits"]
    try:
        listed = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    accelerators = []
    for line in listed.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) != 3:  # a message in place of a table
            continue
        index, uuid, mebibytes = parts
        memory = int(mebibytes) * 2**20 if mebibytes.isdecimal() else math.inf  # shared with the processor
        accelerators.append(Accelerator(index, uuid, memory))
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return accelerators
    names = [name.strip() for name in allowed.split(",")]
    return [gpu for name in names for gpu in accelerators if name in (gpu.index, gpu.uuid)]


@contextmanager
def reserved(needed: int, wait: float = 2.0) -> Iterator[list[Accelerator]]:
    """Accelerators that no other job has, with ``needed`` bytes together, while the context lasts.

    Waits until enough are free; where all together have too little, takes all. They are made
    the only ones that this process sees, so this comes before CUDA is first used.
    """
    visible = visible_accelerators()
    if not visible:
        yield []
        return
    enough = min(needed, sum(gpu.memory for gpu in visible))
    before = os.environ.get("CUDA_VISIBLE_DEVICES")
    while True:
        with ExitStack() as locks:
            reserved_gpus: list[Accelerator] = []
            for gpu in visible:
                if sum(accelerator.memory for accelerator in reserved_gpus) < enough and _lock(gpu, locks):
                    reserved_gpus.append(gpu)
            if sum(gpu.memory for gpu in reserved_gpus) >= enough:
                os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpu.uuid for gpu in reserved_gpus)
                try:
                    yield reserved_gpus
                finally:
                    _restore("CUDA_VISIBLE_DEVICES", before)
                return
        # All are let go before waiting, so that two jobs never wait for each other.
        time.sleep(wait)


def _lock(gpu: Accelerator, locks: ExitStack) -> bool:
    """Lock a GPU for as long as ``locks`` is open; False where another job has it."""
    path = Path(tempfile.gettempdir()) / f"abovechance-{gpu.uuid}.lock"
    file = locks.enter_context(path.open("a"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
