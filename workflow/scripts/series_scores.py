"""Write a model's scores, discrete and continuous, with standard errors."""

from script_log import logged

from abovechance.core.settings import setting_of
from abovechance.core.tables import read_parts, read_table
from abovechance.study.clusters import clusters_of
from abovechance.variance.study import SERIES_SCORES, score_setting

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    tasks = dict(zip(params.tasks, map(read_table, files.tasks), strict=True))
    clusters = clusters_of(tasks)
    likelihoods = {setting_of(rows): rows for rows in read_parts(files.likelihoods)}
    tables = []
    for predictions in read_parts(files.predictions):
        setting = setting_of(predictions)
        table = score_setting(predictions, likelihoods[setting], clusters[setting.task])
        tables.append(setting.label(table))
    SERIES_SCORES.write(SERIES_SCORES.together(tables), snakemake.output[0], {})
