"""Commands on studies and archives: ``diff``, ``cost``, ``verify`` and ``rerun``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.options import Json
from abovechance.cli.output import expanded, show, show_json
from abovechance.core.errors import InputError
from abovechance.core.untrusted import printable
from abovechance.core.words import counted


@app.command(
    epilog=example_lines("abovechance diff results/default ../other-machine/results/default"),
)
def diff(
    first: Annotated[Path, typer.Argument(help="Folder of a study, results/<study>.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Folder of another run of the study.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Compare two runs of a study.

    The output lists the settings whose predictions or verdicts differ. With --json, it lists all settings.
    The exit status is 1 if a verdict differs, or if a setting is in one run only.
    """
    from abovechance.shown.differences import differ, differences, in_words

    table = differences(expanded(first, "FIRST"), expanded(second, "SECOND"))
    changed = table[differ(table) | (table["predictions"] > 0) | (table["prompts"] == 0)]
    if as_json:
        show(table, as_json)
    elif len(changed):
        show(changed, as_json)
    if not as_json:
        typer.echo(("\n" if len(changed) else "") + in_words(table))
    if differ(table).any():
        raise typer.Exit(1)


@app.command(epilog=example_lines("abovechance cost config.yaml", "abovechance cost results/default"))
def cost(
    study: Annotated[
        Path,
        typer.Argument(help="Folder of a study, results/<study>, or its config.", show_default=False),
    ],
    as_json: Json = False,
) -> None:
    """Report the estimated and the actual cost of a study.

    The estimate comes from the last `abovechance run CONFIG -- cost` or `make cost`. The actual cost includes
    running jobs.
    """
    from abovechance.core.tables import read_table
    from abovechance.scoring.ledgers import ledgers_in, spent
    from abovechance.shown.costs import changed_since, in_words, of_machines, of_models
    from abovechance.study.installed import resolved_file

    folder, config = expanded(study, "STUDY"), None
    if folder.is_file():
        config = resolved_file(folder)
        folder = Path("results", config["study"])
    elif not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")
    tables = {name: folder / "cost" / f"{name}.parquet" for name in ("estimate", "machines")}
    accounts = {name: read_table(path) for name, path in tables.items() if path.is_file()}
    if ledgers := ledgers_in(folder / "cost"):  # as they are now, of jobs that are at work too
        accounts["spent"] = spent(ledgers)
    if not accounts:
        raise InputError(
            f"{folder}: has no estimated or actual costs; if the study scores models, run `abovechance run "
            "CONFIG -- cost` (in a clone: `make cost`) first"
        )
    changed = changed_since(folder, config) if "estimate" in accounts else []
    if as_json:
        rows: dict[str, Any] = {
            name: json.loads(table.to_json(orient="records")) for name, table in accounts.items()
        }
        show_json(rows | ({"changed_since": changed} if changed else {}))
        return
    if changed:
        typer.echo(
            f"This estimate was made for an earlier config. Since then, these keys changed: "
            f"{', '.join(changed)}. Run `make cost` or `abovechance run CONFIG -- cost` again.\n"
        )
    if "estimate" in accounts:
        typer.echo(in_words(accounts["estimate"]) + "\n")
        show(of_machines(accounts["machines"]), as_json)
    if len(accounts.get("spent", ())):
        typer.echo("\nSpent so far:\n" if "estimate" in accounts else "Spent so far:\n")
        show(of_models(accounts["spent"]), as_json)


Archived = Annotated[
    Path,
    typer.Argument(
        help="Zip file of `make archive` or `abovechance run CONFIG -- archive`, or its unpacked folder.",
        show_default=False,
    ),
]


@app.command(epilog=example_lines("abovechance verify default.zip"))
def verify(archive: Archived, as_json: Json = False) -> None:
    """Check every file of an archive against its list of hashes.

    The exit status is 1 if a file is changed, missing, or not listed. This check alone does not prove
    integrity, because anyone who changes an archive can also change its list of hashes. To prove it, compare
    the printed SHA-256 of the zip file with the hash that the authors published, for example in the paper.
    """
    from abovechance.archive import bundle

    path = expanded(archive, "ARCHIVE")
    problems, lacking = bundle.verify(path), bundle.lacking(path)
    if as_json:
        rows = [{"file": problem.file, "problem": problem.problem} for problem in problems]
        digest = bundle.sha256(path) if path.is_file() else None
        show_json({"problems": rows, "lacking": lacking, "sha256": digest})
    else:
        for problem in problems:  # a name that could be read as a line of ours stands behind what it is
            typer.echo(f"{problem.problem}: '{printable(problem.file)}'")
        for name in lacking:
            typer.echo(f"not checked, because it is not in the folder of this archive: '{printable(name)}'")
        added = {problem.file for problem in problems if problem.problem == "not listed"}
        changed = {problem.file for problem in problems} - added
        sentences = []
        if changed:
            sentences.append(f"{counted(len(changed), 'file')} changed, missing or invalid.")
        if added:
            sentences.append(f"{counted(len(added), 'file')} not listed in the archive.")
        scope = "All checked files" if lacking else "All files"
        typer.echo(" ".join(sentences) or f"{scope} are unchanged.")
        if path.is_file():
            typer.echo(f"SHA-256 of the archive: {bundle.sha256(path)}")
    if problems:
        raise typer.Exit(1)


@app.command(
    epilog=example_lines("abovechance rerun default.zip", "abovechance rerun default.zip --into again")
)
def rerun(
    archive: Annotated[
        Path,
        typer.Argument(
            help="Zip file of `make archive` or `abovechance run CONFIG -- archive`.", show_default=False
        ),
    ],
    into: Annotated[
        Path | None,
        typer.Option(
            help="New folder for the rerun.", show_default="the archive's name with the suffix -rerun"
        ),
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option(
            help="Folder or zip file of published predictions, if the study starts from them.",
            show_default=False,
        ),
    ] = None,
    bigbench: Annotated[
        Path | None,
        typer.Option(help="BIG-bench checkout that the study reads tasks from, if any.", show_default=False),
    ] = None,
    cores: Annotated[int, typer.Option(min=1, help="Number of processor cores.")] = 2,
    run_archived_code: Annotated[
        bool,
        typer.Option(
            "--run-archived-code",
            help="Run the archive's own workflow. Only do this if you trust its authors.",
        ),
    ] = False,
) -> None:
    """Repeat the analysis of an archived study.

    The results are compared with the archived ones.

    The installed workflow analyses the stored scores again, without a model. No code from the archive runs.
    If all files are identical, the installed version reproduces the tables and figures from the stored
    scores. This does not prove that the scores came from the model. With --run-archived-code, the workflow in
    the archive runs instead. Only use this option if you trust the authors of the archive.

    The exit status is 1 if a table, a figure or the report differs.
    """
    from abovechance.archive import rerun as again
    from abovechance.study.running import check_installed

    path = expanded(archive, "ARCHIVE")
    folder = expanded(into, "--into") if into else Path(f"{path.stem}-rerun")
    check_installed()
    code = again.archived_code(path)
    typer.echo(f"The archive says that it was made by abovechance {printable(code.version)}.", err=True)
    if code.different:
        use = "is used" if run_archived_code else "is not used"
        files = counted(len(code.different), "file")
        typer.echo(
            f"The archived workflow {use}. It differs from the installed one in {files}, such as "
            f"'{printable(code.different[0])}'.",
            err=True,
        )
    else:
        typer.echo("The archived workflow and its library are identical to the installed ones.", err=True)
    outcome = again.rerun(
        path,
        folder,
        expanded(release, "--release") if release else None,
        cores,
        bigbench=expanded(bigbench, "--bigbench") if bigbench else None,
        archived_code=run_archived_code,
    )
    for name in outcome.different:
        typer.echo(f"differs: '{printable(name)}'")
    typer.echo(
        f"{counted(outcome.equal, 'file')} identical, {len(outcome.different) or 'none'} different. "
        f"The new files are in {folder}/rerun."
    )
    if outcome.different:
        raise typer.Exit(1)
