"""The command line as a whole: its name, its version, and how it ends."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from abovechance import __version__
from abovechance.core.untrusted import printable

# Set to anything, an error that nobody foresaw is shown with its traceback.
TRACEBACK = "ABOVECHANCE_TRACEBACK"


def example_lines(*commands: str) -> str:
    """Commands to copy, each on its line of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


app = typer.Typer(
    help="Can I believe this score? Test whether scores are better than chance, and differences real.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"abovechance {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Test whether a model's best score is better than chance, given the number of prompts tried."""


def main() -> None:
    """Run a command. If its input is invalid, print one line and exit with status 1."""
    try:
        app()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if TRACEBACK in os.environ:
            raise
        typer.echo(f"abovechance: error: {_in_words(error)}", err=True)
        sys.exit(1)


def _in_words(error: Exception) -> str:
    """One line on an error."""
    if isinstance(error, ValueError):  # InputError among them
        return printable(" ".join(str(error).split()))
    if isinstance(error, OSError):
        return f"{error.filename or 'output'}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for input of this size"
    return f"{type(error).__name__}: {error} (unexpected error; set {TRACEBACK}=1 to see the traceback)"
