"""A software bill of materials: the installed Python and packages, and the models and downloads of a study.

The format is CycloneDX 1.6 (JSON), https://cyclonedx.org/docs/1.6/json/.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, PackageMetadata, distributions
from typing import Any
from urllib.parse import quote

PREFIX = "License :: OSI Approved :: "


def bill_of_materials(
    study: str, models: Iterable[Mapping[str, str]], downloads: Iterable[Mapping[str, Any]]
) -> str:
    """Return the bill as JSON; the same text for the same packages, models and downloads.

    Parameters
    ----------
    study
        The study's name.
    models
        Rows with name, source, revision and precision.
    downloads
        Files with their ``file`` name and ``sha256``.
    """
    packages: dict[str, Distribution] = {}
    for package in distributions():  # the first of a name is the one that Python imports
        if package.metadata:
            packages.setdefault(_name(package), package)
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "data", "name": study}},
        "components": [
            {
                "type": "platform",
                "name": platform.python_implementation(),
                "version": platform.python_version(),
            },
            {"type": "operating-system", "name": f"{platform.system()} {platform.machine()}"},
            *(_package(name, packages[name]) for name in sorted(packages)),
            *({json.dumps(model): model for model in map(_model, models)}.values()),
            *map(_download, downloads),
        ],
    }
    return json.dumps(bill, indent=1, ensure_ascii=False) + "\n"


def _name(package: Distribution) -> str:
    return re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower()


def _package(name: str, package: Distribution) -> dict[str, Any]:
    address = f"pkg:pypi/{name}@{quote(package.version)}"
    component = {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": package.version,
        "purl": address,
    }
    licenses = _licenses(package.metadata)
    return component | ({"licenses": licenses} if licenses else {})


def _licenses(metadata: PackageMetadata) -> list[dict[str, Any]]:
    """Return the licenses that a package declares: an SPDX expression, or names."""
    if "License-Expression" in metadata:
        return [{"expression": metadata["License-Expression"]}]
    names = [
        text.removeprefix(PREFIX) for text in metadata.get_all("Classifier") or [] if text.startswith(PREFIX)
    ]
    text = (metadata.get_all("License") or [""])[0]
    if not names and text and "\n" not in text.strip():  # older packages have the whole text there
        names = [text.strip()]
    return [{"license": {"name": name}} for name in names]


def _model(model: Mapping[str, str]) -> dict[str, Any]:
    facts = {"source": model["source"], "precision": model["precision"]}
    properties = [{"name": f"abovechance:{name}", "value": value} for name, value in facts.items()]
    return {
        "type": "machine-learning-model",
        "name": model["name"],
        "version": model["revision"],
        "properties": properties,
    }


def _download(download: Mapping[str, Any]) -> dict[str, Any]:
    hashes = [{"alg": "SHA-256", "content": download["sha256"]}]
    return {"type": "file", "name": download["file"], "hashes": hashes}
