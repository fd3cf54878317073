"""Write the prompts of a task and number of shots."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.study.prompts import PROMPTS, draw_prompts

with logged(snakemake) as log:
    facts = {name: snakemake.params[name] for name in ("seed", "prompts", "demonstrations")}
    table = draw_prompts(
        read_table(Path(snakemake.input.task)),
        read_table(Path(snakemake.input.evaluation_set)),
        snakemake.wildcards.task,
        shots=int(snakemake.wildcards.shots),
        **facts,
    )
    log.info(f"{len(table)} of {facts['prompts']} prompts; fewer where no more exist")
    PROMPTS.write(table, Path(snakemake.output.table), facts)
