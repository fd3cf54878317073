"""Write one verdict per setting, and how many settings have which conclusion."""

from script_log import logged

from abovechance.chance.study import VERDICT_COUNTS, VERDICTS, judge, verdict_counts
from abovechance.core.settings import by_setting
from abovechance.core.tables import read_made_from, read_table, read_tables
from abovechance.ladder.study import for_verdicts
from abovechance.shown.tables import write_all

with logged(snakemake):
    files = snakemake.input
    tested = files.get("randomization")
    accuracy = read_tables(files.accuracy)
    metrics = {}  # of imported results, {setting in words: metric}
    for path in files.accuracy:
        metrics |= read_made_from(path).get("metrics", {})
    table = judge(
        accuracy,
        read_tables(tested) if tested else None,
        read_made_from(tested[0])["draws"] if tested else 0,
        read_table(files.left_out[0]) if files.get("left_out") else None,
        read_tables(files.selection),
        for_verdicts(read_tables(files.ladder)) if files.get("ladder") else None,
        metrics={setting: metrics[setting.words] for setting, _ in by_setting(accuracy)} if metrics else None,
    ).table
    write_all([(VERDICTS, table), (VERDICT_COUNTS, verdict_counts(table))], snakemake.output)
