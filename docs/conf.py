"""The documentation site: ``make docs`` builds it from the pages in this folder and the docstrings."""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow" / "lib"))

project = "abovechance"
author = "The abovechance authors"
release = version = installed_version("abovechance")
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
exclude_patterns = ["design.md", "images"]
# Pages link to files of the repository, which are no pages of the site (checked in tests/test_docs.py).
# Several classes have attributes of one name.
suppress_warnings = ["myst.xref_missing", "ref.python"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
nb_execution_mode = "force"  # the notebook has no outputs in the repository
nb_execution_raise_on_error = True
html_theme = "pydata_sphinx_theme"
html_title = "abovechance"
html_show_sphinx = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


class CommandHelp(SphinxDirective):
    """The help of every command of the command line, each in a section of its own."""

    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        from typer.main import get_command
        from typer.testing import CliRunner

        from abovechance.cli import app

        sections: list[nodes.Node] = []
        for name in get_command(app).commands:  # type: ignore[attr-defined]
            text = (
                CliRunner()
                .invoke(app, [name, "--help"], prog_name="abovechance", env={"COLUMNS": "80"})
                .output
            )
            section = nodes.section(ids=[f"command-{name}"])
            section += nodes.title(text=f"abovechance {name}")
            section += nodes.literal_block(text=text.strip(), language="none")
            sections.append(section)
        return sections


def add_calculator(app: Sphinx, error: Exception | None) -> None:
    """Put the calculator, which is a page without Sphinx, into the site."""
    if error is None:
        shutil.copytree(Path(app.srcdir, "calculator"), Path(app.outdir, "calculator"), dirs_exist_ok=True)


def link_calculator(_: Sphinx, doctree: nodes.document) -> None:
    """Let links to the calculator open its page. Sphinx makes a download of a link to other files."""
    for node in list(doctree.findall(download_reference)):
        if (target := node["reftarget"]) == "calculator/index.html":
            node.replace_self(nodes.reference("", "", *node.children, refuri=target, internal=False))


def unlink_files(_: Sphinx, doctree: nodes.document, __: str) -> None:
    """Replace links to files of the repository by their text, because the site does not have these files."""
    for node in list(doctree.findall(nodes.reference)):
        if node.get("refid", "").startswith("../") or node.get("refuri", "").startswith("#../"):
            node.replace_self(node.children)


def setup(app: Sphinx) -> None:
    """Register the directive and the calculator."""
    app.connect("doctree-resolved", unlink_files)
    app.connect("doctree-read", link_calculator, priority=1)  # before downloads are collected
    app.add_directive("command-help", CommandHelp)
    app.connect("build-finished", add_calculator)
