"""Write what varies in series of models, and draw how their scores develop."""

from script_log import logged

from abovechance.core.tables import read_tables
from abovechance.series.study import evaluations
from abovechance.series.summary import of_evaluations
from abovechance.shown import style
from abovechance.shown.series import curve_numbers, curves, panels_of
from abovechance.shown.tables import write_all

with logged(snakemake):
    table = evaluations(read_tables(snakemake.input), snakemake.params.series)
    numbers = curve_numbers(panels_of(table))
    made = list(snakemake.output)
    write_all({"series": of_evaluations(table)}, [path for path in made if "/tables/" in path])
    pictures = [path for path in made if "/figures/" in path]
    style.save_all([("series_curves", curves(numbers), numbers)], pictures)
