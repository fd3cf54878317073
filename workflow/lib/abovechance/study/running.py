"""Snakemake's command for a study."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from abovechance.core.errors import InputError


def check_installed(scoring: bool = False, slurm: bool = False) -> None:
    """Raise InputError unless Snakemake is installed, and what scoring and SLURM need besides."""
    needed = {"Snakemake": "snakemake", **({"PyTorch": "torch"} if scoring else {})}
    if slurm and not _is_installed("snakemake_executor_plugin_slurm"):
        raise InputError(
            "Snakemake's plugin for SLURM is not installed; install it: pip install "
            "snakemake-executor-plugin-slurm"
        )
    for name, module in needed.items():
        if not _is_installed(module):
            raise InputError(
                f"{name} is not installed; install the extra: pip install 'abovechance[workflow]' "
                "(in a clone: pip install '.[workflow]')"
            )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def snakemake_command(workflow: Path, config: Path, *options: str, profile: str = "default") -> list[str]:
    """Return the command that runs the study of a config.

    Parameters
    ----------
    workflow
        The folder of the workflow (``installed.workflow_folder``).
    config
        The study's config file.
    options
        Further options of Snakemake.
    profile
        A folder of ``profiles``, which says how jobs run.

    Raises
    ------
    InputError
        If there is no such profile.
    """
    profiles = workflow / "profiles"
    if not (profiles / profile / "config.yaml").is_file():
        names = ", ".join(sorted(path.name for path in profiles.iterdir()))
        raise InputError(f"there is no profile '{profile}'; expected one of {names}")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(workflow / "Snakefile")]
    command += ["--workflow-profile", str(profiles / profile)]
    # --configfile takes every word up to the next option
    return [*command, "--configfile", str(config), *options]
