"""Write what varies in series of models, and draw how their scores develop."""

from script_log import logged

from abovechance.core.tables import read_tables
from abovechance.series.study import evaluations
from abovechance.series.summary import of_evaluations
from abovechance.shown import style
from abovechance.shown.series import curve_numbers, curves, noise, noise_numbers, panels_of
from abovechance.shown.tables import write_all

with logged(snakemake):
    table = evaluations(read_tables(snakemake.input), snakemake.params.series)
    summary, made = of_evaluations(table), list(snakemake.output)
    write_all({"series": summary}, [path for path in made if "/tables/" in path])
    developed, varied = curve_numbers(panels_of(table)), noise_numbers(summary, table)
    style.save_all(
        [("series_curves", curves(developed), developed), ("series_noise", noise(varied), varied)],
        [path for path in made if "/figures/" in path],
    )
