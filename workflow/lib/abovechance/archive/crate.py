"""An archive's description for machines: a Workflow Run RO-Crate, profile 0.5 of Workflow Run Crate.

https://w3id.org/ro/wfrun/workflow: the workflow is the main entity, and one action says what it was given
and what it made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from abovechance.study.config import start_of

METADATA = "ro-crate-metadata.json"
WORKFLOW = "code/workflow/Snakefile"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
NO_LICENSE = "None was chosen by those who made these results; that of the code is in code/LICENSE."
SPDX = "https://spdx.org/licenses/"

# {file or folder of the results: what it is}, of those that a description names.
RESULTS = {
    "results/report.html": "The report: verdicts, figures, and how to read them",
    "results/verdicts.csv": "One verdict for each model, task and number of shots",
    "results/tables/": "All tables, as CSV, Markdown and LaTeX",
    "results/figures/": "All figures as PDF and PNG, and the numbers that they show as CSV",
    "results/predictions/": "What each prompt predicts for each example, of each model",
    "results/accuracy/": "The accuracy of each prompt, of each model",
    "results/heldout/": "What the best prompt reaches on held-out data",
    "results/scores/": "The log-likelihood of every choice of every example under every prompt",
    "results/tasks/": "The examples",
    "results/prompts/": "The prompts",
}
INPUTS = {
    "results/config.yaml": "The study's config with its defaults",
    "inputs.csv": "The files and models that the study was made from, by their hashes and revisions",
}
OTHERS = {
    "environment.txt": "The packages that were installed",
    "sbom.cdx.json": "The software bill of materials: packages, licenses and models, in CycloneDX",
    "logs.csv": "What each job said last",
    "CITATION.cff": "How to cite these results",
    "README.md": "What is here, and how to check it and run it again",
}
FORMATS = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".html": "text/html",
    ".yaml": "application/yaml",
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".cff": "application/yaml",
}


CHANCE = "Whether best scores of in-context learning are better than chance"
VARIANCE = "How much scores vary over training seeds and checkpoints"


def metadata(
    name: str,
    config: Mapping[str, Any],
    version: str,
    files: Mapping[str, int],
    run: Sequence[float],
) -> bytes:
    """Return the crate's metadata as JSON.

    Parameters
    ----------
    name
        Name of the study.
    config
        The study's config.
    version
        That of the code.
    files
        {name in the archive: its bytes} of all files.
    run
        When the first and the last result were written, in seconds since 1970.
    """
    crate, settings = ROCrate(version="1.1"), config["archive"]
    begun, ended = (datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") for seconds in run)
    crate.name = settings.get("title", f"Results of the study '{name}'")
    question = VARIANCE if start_of(config) == "evaluations" else CHANCE
    crate.description = (
        f"{question}: results of an abovechance study, its config, and the code that made them."
    )
    crate.root_dataset["datePublished"] = ended
    crate.root_dataset["license"] = _license(crate, settings.get("license"))
    _add_profiles(crate)
    workflow = _add_workflow(crate, version)
    objects = [_add(crate, file, INPUTS[file], files) for file in INPUTS if file in files]
    entities = [_add(crate, file, text, files) for file, text in RESULTS.items() if _is_present(file, files)]
    for file in OTHERS:
        _add(crate, file, OTHERS[file], files)
    crate.get("README.md")["about"] = crate.root_dataset
    _add(crate, "code/", "The workflow and its library", files)
    _add_parameters(crate, workflow, objects, entities)
    action = crate.add_action(
        workflow,
        identifier="#run",
        object=objects,
        result=entities,
        properties={
            "name": f"Run of the study '{name}'",
            "startTime": begun,
            "endTime": ended,
            "description": f"From tasks to figures, with the config of the study '{name}'",
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    people = _people(crate, settings.get("authors", ()))
    action["agent"] = crate.root_dataset["author"] = people if len(people) > 1 else people[0]
    crate.root_dataset["mentions"] = action
    return _json(crate)


def _json(crate: ROCrate) -> bytes:
    described = crate.metadata.generate()
    described["@graph"].sort(key=lambda entity: entity["@id"])
    return (json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _add_profiles(crate: ROCrate) -> None:
    for address, title in PROFILES.items():
        properties = {"@type": "CreativeWork", "name": title, "version": address.rpartition("/")[2]}
        profile = crate.add(ContextEntity(crate, address, properties=properties))
        crate.root_dataset.append_to("conformsTo", profile)


def _license(crate: ROCrate, license: str | None) -> ContextEntity:
    if license is None:
        about = {"@type": "CreativeWork", "name": "No license", "description": NO_LICENSE}
        return crate.add(ContextEntity(crate, "#license", properties=about))
    address = license if "/" in license else SPDX + license
    about = {
        "@type": "CreativeWork",
        "name": license,
        "description": f"The license of these results: {license}",
    }
    return crate.add(ContextEntity(crate, address, properties=about))


def _add_workflow(crate: ROCrate, version: str) -> Any:
    workflow = crate.add_workflow(
        dest_path=WORKFLOW,
        main=True,
        lang="snakemake",
        properties={
            "name": "abovechance",
            "description": "Is a model's best score better than chance? From task files to figures",
            "version": version,
            "encodingFormat": "text/plain",
            "conformsTo": {"@id": BIOSCHEMAS},
        },
    )
    crate.add(
        ContextEntity(
            crate,
            BIOSCHEMAS,
            properties={"@type": "CreativeWork", "name": "ComputationalWorkflow", "version": "1.0-RELEASE"},
        )
    )
    workflow["license"] = crate.add(
        ContextEntity(
            crate,
            SPDX + "MIT",
            properties={"@type": "CreativeWork", "name": "MIT", "description": "The license of the code"},
        )
    )
    return workflow


def _is_present(name: str, files: Mapping[str, int]) -> bool:
    return name in files or (name.endswith("/") and any(file.startswith(name) for file in files))


def _add(crate: ROCrate, name: str, text: str, files: Mapping[str, int]) -> Any:
    """Describe a file, or a folder whose name ends in a slash."""
    properties: dict[str, Any] = {"name": text}
    if name.endswith("/"):
        return crate.add_dataset(dest_path=name, properties=properties)
    if name in files:  # what is written after this has no size yet
        properties["contentSize"] = str(files[name])
    if (suffix := Path(name).suffix) in FORMATS:
        properties["encodingFormat"] = FORMATS[suffix]
    return crate.add_file(dest_path=name, properties=properties)


def _add_parameters(crate: ROCrate, workflow: Any, objects: Sequence[Any], added: Sequence[Any]) -> None:
    """Add a parameter of the workflow for each input and output file."""
    for direction, entities in (("input", objects), ("output", added)):
        for entity in entities:
            slot = Path(entity.id.rstrip("/")).stem
            kind = "Dataset" if entity.id.endswith("/") else "File"
            parameter = crate.add_formal_parameter(slot, kind, identifier=f"#{direction}-{slot}")
            workflow.append_to(direction, parameter)
            entity["exampleOfWork"] = parameter


def _people(crate: ROCrate, authors: Sequence[str]) -> list[ContextEntity]:
    return [
        crate.add(ContextEntity(crate, f"#author-{number}", properties={"@type": "Person", "name": name}))
        for number, name in enumerate(authors or ["Whoever ran the study"], start=1)
    ]
