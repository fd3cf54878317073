"""Commands that begin a study: write its config, and run it."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.output import check_writable, expanded, tell_note
from abovechance.core.errors import InputError
from abovechance.core.words import counted

CONFIG = Path("config.yaml")


@app.command(
    epilog=example_lines(
        "abovechance run",
        "abovechance run mine.yaml --cores 4",
        "abovechance run mine.yaml --dry-run",
        "abovechance run mine.yaml -- cost",
        "abovechance run mine.yaml --profile slurm -- --jobs 50",
    )
)
def run(
    config: Annotated[Path, typer.Argument(help="Config of the study.")] = CONFIG,
    snakemake_options: Annotated[
        list[str] | None,
        typer.Argument(
            help="Options and targets of Snakemake, after --. Targets are cost, fetch and archive.",
            show_default=False,
        ),
    ] = None,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Number of processor cores.", show_default="all")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the jobs without running them.")] = False,
    profile: Annotated[
        str, typer.Option(help="Where jobs run: default (this machine) or slurm.")
    ] = "default",
    release: Annotated[
        Path | None,
        typer.Option(
            help="Folder or zip file of published predictions, if the study starts from them.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a study from its config to its report.

    The results are stored in results/<study>/ in the current folder. Finished work is not repeated. The
    command requires the extra `workflow`: pip install 'abovechance[workflow]'.
    """
    from abovechance.core.reading import read_yaml
    from abovechance.study.installed import workflow_folder
    from abovechance.study.running import check_installed, snakemake_command

    path = expanded(config, "CONFIG")
    if not path.exists() and config == CONFIG:
        raise InputError("there is no config.yaml in this folder; use `abovechance init` to write one")
    study = read_yaml(path)
    check_installed(scoring="models" in study and not dry_run, slurm=profile == "slurm")
    options = ["--cores", str(cores or os.cpu_count() or 1)] if cores or profile == "default" else []
    options += ["--logger", "abovechance", *["--dry-run"] * dry_run]
    if release:
        options += ["--config", f"release={expanded(release, '--release').resolve()}"]
    command = snakemake_command(workflow_folder(), path, *options, profile=profile)
    # first, because several options take every word up to the next option
    command[3:3] = snakemake_options or []
    elsewhere = any(option.startswith(("--directory", "-d")) for option in snakemake_options or [])
    try:
        if not elsewhere:
            with tempfile.TemporaryFile(dir="."):
                pass
    except OSError as error:
        raise InputError(
            f"{Path.cwd()}: cannot be written ({error.strerror}); results are stored in the current folder"
        ) from None
    typer.echo(f"Running the study of {path}; finished work is not repeated.")
    sys.stdout.flush()
    os.execv(command[0], command)  # so that signals reach Snakemake


@app.command(
    epilog=example_lines(
        "abovechance init",
        "abovechance init --task mine.jsonl --model models/mine --shots 0,2",
        "abovechance init --task emoji_movie --model HuggingFaceTB/SmolLM2-135M",
    )
)
def init(
    study: Annotated[
        str | None, typer.Option(help="Name of the study.", show_default="the output's name")
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(help="Task file, or name of a BIG-bench task; repeat for several.", show_default=False),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Model folder, GGUF file, or Hugging Face id; repeat for several.", show_default=False
        ),
    ] = None,
    precision: Annotated[str, typer.Option(help="float32, bfloat16, float16 or nf4.")] = "bfloat16",
    shots: Annotated[str, typer.Option(help="Numbers of demonstrations, separated by commas.")] = "1,2",
    prompts: Annotated[
        int, typer.Option(min=1, help="Number of prompts for each task and each number of shots.")
    ] = 50,
    output: Annotated[Path, typer.Option(help="Config file to write.")] = CONFIG,
) -> None:
    """Write the config of a study, with comments.

    If --task or --model is missing, the command asks for it. It checks the config and the task files before
    writing, and never overwrites an existing file.
    """
    import yaml

    from abovechance.study.installed import resolved
    from abovechance.study.template import as_name, config_text

    path = check_writable(output, "--output", (".yaml", ".yml"))
    if path.exists():
        raise InputError(f"{path}: exists already; use --output with another name")
    tasks = task or _asked_for("Task files (.jsonl, .csv, .parquet) or BIG-bench tasks", "--task")
    models = model or _asked_for("Model folders, GGUF files or Hugging Face ids", "--model")
    home = path.stem if path.stem != CONFIG.stem else path.resolve().parent.name
    name = study or as_name(home)
    for source in models:
        if "/" in source and Path(source).parent.is_dir() and not Path(source).exists():
            tell_note(f"the folder {source} does not exist, so the config names a Hugging Face id")
    text = config_text(output, name, tasks, models, precision, shots, prompts)
    _check_own_tasks(resolved(yaml.safe_load(text), str(path)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    typer.echo(
        f"{path}: {counted(len(tasks), 'task')} and {counted(len(models), 'model')}. "
        f"Next: abovechance run {shlex.quote(str(path))}"
    )


def _check_own_tasks(config: dict[str, Any]) -> None:
    """Read the task files of a config and draw a prompt of each; InputError if that is impossible."""
    from abovechance.study.own_tasks import read_own
    from abovechance.study.prompts import draw_prompts, evaluation_set
    from abovechance.study.task_sources import OWN_TASK_SUFFIXES

    for name, entry in config["tasks"].items():
        file = Path(entry["source"])
        if file.suffix in OWN_TASK_SUFFIXES:
            table = read_own(file)
            evaluated = evaluation_set(table, name, config["seed"], entry["max_examples"])
            draw_prompts(table, evaluated, name, config["seed"], max(entry["shots"]), prompts=1)


def _asked_for(question: str, option: str) -> list[str]:
    """Return the answers to a question, which are separated by commas."""
    if not sys.stdin.isatty():
        raise InputError(f"{option} is missing, and standard input is not a terminal to ask for it")
    answers = str(typer.prompt(f"{question}, separated by commas"))
    return [answer.strip() for answer in answers.split(",") if answer.strip()]
