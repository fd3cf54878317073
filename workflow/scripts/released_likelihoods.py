"""Write the log-likelihoods of correct answers that a release has as losses."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_parts
from abovechance.published.predictions import released_likelihoods
from abovechance.results.likelihoods import LIKELIHOODS

with logged(snakemake):
    source = Path(snakemake.input.released)
    with LIKELIHOODS.writing_parts(snakemake.output[0], {"released": source.name}) as write:
        for released in read_parts(source):
            write(released_likelihoods(released))
