"""Write and draw how well the debiased accuracy predicts held-out accuracy."""

from pathlib import Path

from script_log import logged

from abovechance.best.heldout import HELDOUT_DEBIASED, calibration
from abovechance.best.study import LUCK, luck
from abovechance.core.tables import read_table, read_tables
from abovechance.shown import style
from abovechance.shown.candidates import calibration_figure, calibration_numbers
from abovechance.shown.tables import write_all

with logged(snakemake):
    estimates = read_tables(snakemake.input.debiased)
    verdicts = read_table(snakemake.input.verdicts)
    tables = [(LUCK, luck(verdicts)), (HELDOUT_DEBIASED, calibration(estimates))]
    write_all(tables, snakemake.output.tables)
    numbers = calibration_numbers(estimates)
    style.save(calibration_figure(numbers), numbers, Path(snakemake.output.png).with_suffix(""))
