"""Write the prompts of a task and number of shots."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.study.prompts import PROMPTS, draw_prompts

with logged(snakemake) as log:
    facts = {name: snakemake.params[name] for name in ("seed", "prompts", "demonstrations")}
    table = draw_prompts(
        read_table(Path(snakemake.input.drawn_on)),
        read_table(Path(snakemake.input.evaluation_set)),
        snakemake.params.name,
        shots=int(snakemake.wildcards.shots),
        **facts,
        texts=read_table(Path(snakemake.input.task)),
    )
    log.info(f"{len(table)} of {facts['prompts']} prompts; fewer where no more exist")
    PROMPTS.write(table, Path(snakemake.output.table), facts)
