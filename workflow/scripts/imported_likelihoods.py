"""Write the log-likelihoods that came with the predictions of other tools."""

from pathlib import Path

from script_log import logged

from abovechance.core.errors import InputError
from abovechance.core.settings import setting_of
from abovechance.results.imported import read_imported
from abovechance.results.likelihoods import LIKELIHOODS, of_imported

with logged(snakemake):
    source, total = Path(snakemake.input.predictions), 0
    with LIKELIHOODS.writing_parts(snakemake.output[0], {"predictions": source.name}) as write:
        for rows in read_imported(source):
            if setting_of(rows).model not in snakemake.params.models:
                continue
            likelihoods = of_imported(rows)
            write(likelihoods)
            total += len(likelihoods)
        if not total:
            raise InputError(f"{source}: has no log-likelihoods; expected an import of logs that have them")
