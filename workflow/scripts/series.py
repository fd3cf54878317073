"""Write what varies in series of models, and draw how their scores develop."""

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.shown import style
from abovechance.shown.tables import write_all
from abovechance.shown.variance import curve_numbers, curves, noise, noise_numbers, panels_of
from abovechance.variance.summary import SERIES, of_evaluations

with logged(snakemake):
    table, outputs = read_table(snakemake.input[0]), list(snakemake.output)
    summary, panels = of_evaluations(table), panels_of(table)
    write_all([(SERIES, summary)], [path for path in outputs if "/tables/" in path])
    developed, varied = curve_numbers(panels), noise_numbers(summary, panels)
    style.save_all(
        [("series_curves", curves(developed), developed), ("series_noise", noise(varied), varied)],
        [path for path in outputs if "/figures/" in path],
    )
