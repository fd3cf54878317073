"""Write the paper's tables as published, beside those of the mended data, and the audit."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table, read_tables
from abovechance.published.release import Release
from abovechance.published.tables import tables
from abovechance.shown.tables import write_all

with logged(snakemake):
    files, release = snakemake.input, Release(Path(snakemake.input.release))
    tables_made = tables(
        released=read_tables(files.accuracy),
        aggregated=release.usable_accuracies,
        released_outcomes=release.outcomes(),
        own_outcomes=read_tables(files.outcomes),
        mended=read_table(files.verdicts),
        findings=read_table(files.audit),
    )
    write_all(tables_made, snakemake.output)
