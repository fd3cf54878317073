"""A distribution has the workflow next to the library, so that `abovechance run` needs no checkout."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

DATA = {
    "workflow": (
        *("Snakefile", "downloads.yaml", "rules/**/*.smk", "scripts/*.py", "schemas/*.yaml"),
        *("report/*.rst", "profiles/*/*", "studies/*"),
    ),
    "envs": ("*.yaml", "requirements.txt"),
    "results": ("README.md",),
    ".": ("LICENSE", "CITATION.cff"),
}


class BuildWithWorkflow(build_py):
    """Build the library, and copy the workflow into it; an editable install finds it in the checkout."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for folder, patterns in DATA.items():
            for path in (path for pattern in patterns for path in Path(folder).glob(pattern)):
                target = Path(self.build_lib, "abovechance", path)
                self.mkpath(str(target.parent))
                self.copy_file(str(path), str(target))


setup(cmdclass={"build_py": BuildWithWorkflow})
