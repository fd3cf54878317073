"""Write the study as one file that goes with a paper."""

from pathlib import Path

from script_log import logged

from abovechance.archive.build import make
from abovechance.archive.contents import Study
from abovechance.core.provenance import versions

with logged(snakemake):
    params = snakemake.params
    path, *beside = map(Path, snakemake.output)
    study = Study(
        name=params.config["study"],
        folder=Path(params.folder),
        files=[Path(file) for file in snakemake.input],
        inputs=[Path(file) for file in params.inputs],
        downloads=params.downloads,
        code=Path(params.workflow),
    )
    make(study, params.config, versions()["abovechance"], path, *beside or [None])
