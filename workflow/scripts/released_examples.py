"""Write what the example ids of a release stand for."""

from pathlib import Path

from job import logged

from abovechance.archive import write_table
from abovechance.mend import released_examples
from abovechance.sources import check_sha256
from abovechance.tasks import read_bigbench_tasks

with logged(snakemake):
    source = Path(snakemake.input.source)
    if snakemake.params.pinned:
        check_sha256(source, snakemake.params.pinned)
    examples = released_examples(read_bigbench_tasks(source, snakemake.params.tasks))
    write_table(examples, "released_examples", Path(snakemake.output[0]), {"source": source.name})
