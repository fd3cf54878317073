"""Write how many tokens a task's prompts have, and how many of them a model computes."""

from pathlib import Path

from script_log import logged

with logged(snakemake):
    from abovechance.core.settings import Setting
    from abovechance.core.tables import read_table
    from abovechance.scoring.cells import Cell, Reading
    from abovechance.scoring.cost import TOKEN_COUNTS, count_tokens
    from abovechance.scoring.reader import Reader, expected_path
    from abovechance.study.kinds import KINDS

    files, params, wildcards = snakemake.input, snakemake.params, snakemake.wildcards
    reader = Reader.read(Path(files.reader))
    task, sets = read_table(files.task), {"evaluation_sets": read_table(files.evaluation_set)}
    if files.training_set:
        sets["training_sets"] = read_table(files.training_set)
    cells = []
    for kind in (kind for kind in KINDS if kind.name in params.kinds):
        for shots, prompts in zip(params.shots, map(Path, files.prompts), strict=True):
            # which demonstrations are hard is not known yet: the drawn ones stand in for them
            setting = Setting(wildcards.weights, wildcards.task, shots)
            cell = Cell(setting, task, sets[kind.examples], read_table(prompts))
            cells.append((kind.name, cell.without_inputs() if kind.null else cell))
    table = count_tokens(
        cells,
        Reading.from_weights(reader.weights, params.special_tokens),
        path=expected_path(reader.weights),
        leave_out=params.too_long == "leave_out",
    )
    TOKEN_COUNTS.write(table, snakemake.output[0], {"special_tokens": params.special_tokens})
