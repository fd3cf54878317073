"""Write the report."""

from pathlib import Path

from script_log import logged

import yaml

from abovechance.core.files import write_text
from abovechance.core.tables import read_made_from, read_table
from abovechance.shown import report

with logged(snakemake):
    files = snakemake.input
    verdicts = read_table(files.verdicts) if files.get("verdicts") else None
    text = report.render(
        study=snakemake.params.study,
        parts=report.parts(Path(files.config[0]).parent, snakemake.params.questions),
        facts=report.facts(
            yaml.safe_load(Path(files.config[0]).read_text()),
            [read_made_from(path) for path in files.get("predictions", [])],
            verdicts,
        ),
        verdicts=verdicts,
    )
    write_text(text, Path(snakemake.output[0]))
