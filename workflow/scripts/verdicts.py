"""Write one verdict per setting, with what other analyses add to it."""

from pathlib import Path

from script_log import logged

from abovechance.chance.conclusion import with_conclusions
from abovechance.chance.multiplicity import with_adjusted
from abovechance.chance.randomization import effective_prompts, for_verdicts
from abovechance.chance.verdicts import verdicts, with_left_out
from abovechance.core.errors import InputError
from abovechance.core.files import write_csv
from abovechance.core.settings import SETTING
from abovechance.core.tables import read_made_from, read_table, read_tables

with logged(snakemake):
    files = snakemake.input
    accuracy = read_tables(files.accuracy)
    if accuracy.empty:
        raise InputError(
            "all prompts of all settings are longer than their model's context; right would be fewer shots, "
            "shorter examples or another model"
        )
    table = verdicts(accuracy)
    if files.get("randomization"):
        tested = for_verdicts(read_tables(files.randomization), table[[*SETTING, "best_prompt"]])
        table = table.merge(tested, on=SETTING, how="left")
        draws = read_made_from(Path(files.randomization[0]))["draws"]
        tails = table["randomization_tail"], table["standard_tail"]
        table["effective_prompts"] = effective_prompts(*tails, table["prompts"], draws)
    table = with_conclusions(with_adjusted(table))
    if files.get("left_out"):
        table = with_left_out(table, read_table(Path(files.left_out[0])))
    write_csv(table, Path(snakemake.output[0]))
