"""Results of an earlier config that the present one does not make, such as those of a removed model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from abovechance.core.errors import InputError
from abovechance.core.tables import read_made_from
from abovechance.study.kinds import KINDS

OTHER_FOLDERS = ("archive", "benchmarks", "cost", "logs")  # besides those of stored scores, which are kept


def outdated_results(
    folder: Path,
    current: Collection[Path],
    exhibits: dict[str, Sequence[str]],
    is_made: Callable[[Path], bool],
) -> Iterator[Path]:
    """Yield the results in a study's folder that are of an earlier config.

    A user's own files are none of them: a table or figure is one if all its files are there, any other file
    if it is Parquet with an account of what it was made from.

    Parameters
    ----------
    folder
        The folder of the study's results.
    current
        The results that the study has now.
    exhibits
        {folder of tables or figures: the suffixes of each of them}.
    is_made
        Whether the workflow can make a file that ``current`` does not have.
    """
    for name, suffixes in exhibits.items():
        first = f".{suffixes[0]}"
        for path in sorted((folder / name).glob(f"*{first}")):
            files = [path.with_name(path.name.removesuffix(first) + f".{suffix}") for suffix in suffixes]
            if not {*files} & {*current} and all(file.is_file() for file in files):
                yield from files
    left_out = {*OTHER_FOLDERS, *exhibits, *(kind.scores for kind in KINDS)}
    for part in sorted(folder.glob("*")):
        files = [] if part.name in left_out else [part] if part.is_file() else sorted(part.rglob("*.parquet"))
        yield from (
            file
            for file in files
            if file.suffix == ".parquet" and file not in current and _is_result(file) and not is_made(file)
        )


def _is_result(path: Path) -> bool:
    """Return whether a workflow has made a Parquet file; a damaged one is reported where it is read."""
    try:
        return bool(read_made_from(path))
    except InputError:
        return False
