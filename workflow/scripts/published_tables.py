"""Write the paper's tables as published, beside those of the mended data, and the audit."""

from pathlib import Path

from script_log import logged

from abovechance.core.files import read_csv
from abovechance.core.tables import read_tables
from abovechance.published.release import Release
from abovechance.published.tables import tables
from abovechance.shown.tables import write_all

with logged(snakemake):
    files, release = snakemake.input, Release(Path(snakemake.input.release))
    found = tables(
        released=read_tables(files.accuracy),
        aggregated=release.usable_accuracies,
        released_outcomes=release.outcomes(),
        own_outcomes=read_tables(files.outcomes),
        mended=read_csv(files.verdicts),
        findings=read_csv(files.audit, missing=()),
    )
    write_all(found, snakemake.output)
