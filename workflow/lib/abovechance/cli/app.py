"""The command line as a whole: its name, its version, and how it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from abovechance import __version__
from abovechance.core.untrusted import printable

GATE_ERROR = 3  # exit status of a gate that cannot decide because of wrong input; no decision has it
# Set to anything, an error that nobody foresaw is shown with its traceback.
TRACEBACK = "ABOVECHANCE_TRACEBACK"
# Temporary files, and the names that errors use for them.
names_in_errors: dict[str, str] = {}


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


class _UntilClosed:
    """Output that is dropped when its reader is gone, so that the exit status stays the result."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def buffer(self) -> _UntilClosed:
        """The stream of bytes behind a stream of text."""
        return _UntilClosed(self._stream.buffer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str | bytes) -> int:
        """Write a text if somebody reads it."""
        return self._attempted(lambda: self._stream.write(text)) or 0

    def flush(self) -> None:
        """Pass on what is written if somebody reads it."""
        self._attempted(self._stream.flush)

    def _attempted(self, action: Callable[[], int | None]) -> int | None:
        try:
            return action()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            return None


def main() -> None:
    """Run a command. If its input is invalid, print one line and exit with status 1, or 3 for a gate."""
    is_gate = sys.argv[1:2] == ["gate"] or "--gate" in sys.argv
    for name in ("stdout", "stderr"):
        if (stream := getattr(sys, name)) is not None:  # None if it is closed
            setattr(sys, name, _UntilClosed(stream))
    try:
        app()
    except SystemExit as end:
        is_usage_error = end.code == 2 and not isinstance(end.__context__, typer.Exit)
        sys.exit(GATE_ERROR if is_gate and is_usage_error else end.code)
    except Exception as error:
        if TRACEBACK in os.environ:
            raise
        typer.echo(f"abovechance: error: {_in_words(error)}", err=True)
        sys.exit(GATE_ERROR if is_gate else 1)


def _in_words(error: Exception) -> str:
    """One line on an error."""
    if isinstance(error, ValueError):  # InputError among them
        message = " ".join(str(error).split())
        for path, name in names_in_errors.items():
            message = message.replace(path, name)
        return printable(message)
    if isinstance(error, OSError):
        return f"{error.filename or 'output'}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for input of this size"
    return f"{type(error).__name__}: {error} (unexpected error; set {TRACEBACK}=1 to see the traceback)"
