"""Write the prompts of a task and number of shots."""

import sys

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.study.prompts import PROMPTS, draw_prompts

with logged(snakemake) as log:
    facts = {name: snakemake.params[name] for name in ("seed", "prompts", "demonstrations")}
    evaluation, shots = read_table(snakemake.input.evaluation_set), int(snakemake.wildcards.shots)
    table = draw_prompts(
        read_table(snakemake.input.drawn_on),
        evaluation,
        snakemake.params.name,
        shots=shots,
        **facts,
        texts=read_table(snakemake.input.task),
    )
    if shots and len(table) < facts["prompts"]:
        message = (
            f"{snakemake.params.name}, {shots}-shot: {len(table)} of {facts['prompts']} prompts, because "
            f"only {evaluation['demonstration'].sum()} of {len(evaluation)} examples may be demonstrations"
        )
        log.info(message)
        print(f"  {message}", file=sys.stderr, flush=True)
    PROMPTS.write(table, snakemake.output.table, facts)
