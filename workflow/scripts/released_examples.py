"""Write what the example ids of a release stand for."""

from pathlib import Path

from script_log import logged

from abovechance.published.pools import RELEASED_EXAMPLES, released_examples
from abovechance.study.bigbench import read_bigbench_tasks
from abovechance.study.downloads import check_sha256

with logged(snakemake):
    source = Path(snakemake.input.source)
    if snakemake.params.pinned:
        check_sha256(source, snakemake.params.pinned)
    examples = released_examples(read_bigbench_tasks(source, snakemake.params.tasks))
    RELEASED_EXAMPLES.write(examples, snakemake.output[0], {"source": source.name})
