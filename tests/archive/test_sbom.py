"""The software bill of materials of an archive."""

import json
import sys
from importlib.metadata import version

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from abovechance.archive import sbom
from abovechance.archive.sbom import bill_of_materials

MODEL = {"name": "tiny", "source": "org/tiny", "revision": "abc", "precision": "float32", "tokenizer": ""}
DOWNLOAD = {"file": "bigbench.tar.gz", "sha256": "0" * 64, "url": "https://example.org"}


def test_a_bill_is_valid_and_names_packages_models_and_downloads():
    text = bill_of_materials("study", [MODEL, MODEL], [DOWNLOAD])
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    components = json.loads(text)["components"]
    by_type = {kind: [c for c in components if c["type"] == kind] for kind in {c["type"] for c in components}}
    assert [model["version"] for model in by_type["machine-learning-model"]] == ["abc"]
    assert by_type["file"][0]["hashes"] == [{"alg": "SHA-256", "content": "0" * 64}]
    packages = {package["name"]: package for package in by_type["library"]}
    assert packages["numpy"]["purl"] == f"pkg:pypi/numpy@{version('numpy')}"
    assert packages["abovechance"]["licenses"] == [{"expression": "MIT"}]
    assert packages["python-dateutil"]  # a name with a hyphen
    assert sum("licenses" in package for package in packages.values()) > 0.8 * len(packages)
    assert bill_of_materials("study", [MODEL], [DOWNLOAD]) == text


def test_the_package_that_python_imports_is_listed_and_versions_are_escaped(tmp_path, monkeypatch):
    for folder, number in (("first", "1.0+cpu"), ("second", "9.0")):
        info = tmp_path / folder / "Mine_Package.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: Mine_Package\nVersion: {number}\n")
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / folder)])
    components = json.loads(bill_of_materials("study", [], []))["components"]
    (package,) = [component for component in components if component["name"] == "mine-package"]
    assert (package["version"], package["purl"]) == ("1.0+cpu", "pkg:pypi/mine-package@1.0%2Bcpu")


def test_a_broken_bill_is_noticed_by_the_validator():
    bill = json.loads(bill_of_materials("study", [], []))
    bill["components"][0]["type"] = "engine"
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is not None


@pytest.mark.parametrize(
    ("lines", "licenses"),
    [
        ({"License-Expression": "MIT OR Apache-2.0", "License": "x"}, [{"expression": "MIT OR Apache-2.0"}]),
        ({"Classifier": "License :: OSI Approved :: MIT License"}, [{"license": {"name": "MIT License"}}]),
        ({"License": "BSD"}, [{"license": {"name": "BSD"}}]),
        ({"License": "The whole\ntext of it"}, []),
        ({}, []),
    ],
)
def test_licenses_are_what_a_package_declares(lines, licenses):
    from email.message import Message

    metadata = Message()
    for name, value in lines.items():
        metadata[name] = value
    assert sbom._licenses(metadata) == licenses
