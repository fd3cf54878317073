"""Write the prompts of a task and number of shots."""

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.study.prompts import PROMPTS, draw_prompts

with logged(snakemake) as log:
    facts = {name: snakemake.params[name] for name in ("seed", "prompts", "demonstrations")}
    table = draw_prompts(
        read_table(snakemake.input.drawn_on),
        read_table(snakemake.input.evaluation_set),
        snakemake.params.name,
        shots=int(snakemake.wildcards.shots),
        **facts,
        texts=read_table(snakemake.input.task),
    )
    log.info(f"{len(table)} of {facts['prompts']} prompts; fewer where no more exist")
    PROMPTS.write(table, snakemake.output.table, facts)
