"""Write how many of a model's prompts get each example right."""

from pathlib import Path

from script_log import logged

from abovechance.compare.study import ANSWERS, answers
from abovechance.core.settings import setting_of
from abovechance.core.tables import read_parts

with logged(snakemake):
    found = [setting_of(rows).label(answers(rows)) for rows in read_parts(Path(snakemake.input[0]))]
    ANSWERS.write(ANSWERS.together(found), Path(snakemake.output[0]), {})
