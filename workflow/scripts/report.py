"""Write the report."""

from pathlib import Path

from script_log import logged

import pandas as pd
import yaml

from abovechance.core.files import write_text
from abovechance.core.tables import read_table
from abovechance.shown import report

with logged(snakemake):
    text = report.render(
        study=snakemake.params.study,
        verdicts=pd.read_csv(snakemake.input.verdicts),
        outcomes=read_table(Path(snakemake.input.outcomes)),
        pictures=report.pictures(snakemake.params.figures, [Path(path) for path in snakemake.input.figures]),
        facts=report.facts(
            yaml.safe_load(Path(snakemake.input.config[0]).read_text()),
            report.made_from([Path(path) for path in snakemake.input.made_from]),
        ),
        sections=report.sections(Path(snakemake.input.tables[0]).parent, snakemake.params.tables),
    )
    write_text(text, Path(snakemake.output[0]))
