"""Write the log-likelihoods that came with the predictions of other tools."""

from pathlib import Path

from script_log import logged

from abovechance.results.imported import read_imported
from abovechance.results.likelihoods import LIKELIHOODS, of_imported

with logged(snakemake):
    source = Path(snakemake.input.predictions)
    with LIKELIHOODS.writing_parts(Path(snakemake.output[0]), {"predictions": source.name}) as write:
        for rows in read_imported(source):
            write(of_imported(rows))
