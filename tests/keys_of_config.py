"""Write the generated part of config/README.md: every key of a config, as the schema defines it.

python -m tests.keys_of_config
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from abovechance.core.files import write_text

REPOSITORY = Path(__file__).resolve().parents[1]
README = REPOSITORY / "config" / "README.md"
SCHEMA = yaml.safe_load((REPOSITORY / "workflow" / "schemas" / "config.schema.yaml").read_text())
HEADING = "## Keys\n"
STUDIES = {
    "models": "scored",
    "stored": "stored",
    "imported": "imported",
    "release": "release",
    "evaluations": "evaluations",
}
TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "`true` or `false`",
    "object": "mapping",
}
BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
}


def defined_keys(schema: Mapping[str, Any] = SCHEMA, above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every key with its definition; keys inside others have a point before them."""
    for name, argument in schema.get("properties", {}).items():
        key, part = above + name, _whole(argument)
        part["needed"] = part.get("needed", False) or name in schema.get("required", [])
        yield key, part
        inside = part.get("additionalProperties")
        yield from defined_keys(part, f"{key}.")
        if isinstance(inside, Mapping):
            yield from defined_keys(inside, f"{key}.<name>.")


def _whole(part: Mapping[str, Any]) -> dict[str, Any]:
    """A definition with what it refers to."""
    reference = part.get("$ref", "").rpartition("/")[2]
    return (SCHEMA["$defs"][reference] if reference else {}) | dict(part)


def values(part: Mapping[str, Any]) -> str:
    """Return the values of a key in words."""
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if part["type"] == "array":
        least = f", at least {part['minItems']} of them" if part.get("minItems", 1) > 1 else ""
        return f"list of: {values(_whole(part['items']))}{least}"
    bounds = [text.format(f"{part[name]:,}") for name, text in BOUNDS.items() if name in part]
    return ", ".join([TYPES[part["type"]], *bounds])


def written(value: Any) -> str:
    """Return a default as YAML writes it."""
    text = yaml.safe_dump(value, default_flow_style=True).removesuffix("...\n").strip()
    return f"`{text}`"


def generated() -> str:
    """Return the generated part."""
    lines = [
        HEADING,
        "This part is generated from [the schema](../workflow/schemas/config.schema.yaml) by",
        "`python -m tests.keys_of_config`. A dot separates a key from the key that contains it. `<name>` is",
        "the name of a task or a model. The last column lists the kinds of studies that can have the key.",
        "",
        "| key | values | default | meaning | studies |",
        "|---|---|---|---|---|",
    ]
    starts: dict[str, str] = {}
    for key, part in defined_keys():
        top = key.partition(".")[0]
        if key == top:
            total = [STUDIES[start] for start in part.get("starts", [])]
            starts[top] = ", ".join(total) or "all"
        needed = "needed" if part["needed"] else ""
        default = written(part["default"]) if part.get("default") not in (None, {}) else needed
        row = [f"`{key}`", values(part), default, part["description"], starts[top]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Replace the generated part of the file."""
    before, _, _ = README.read_text(encoding="utf-8").partition(HEADING)
    write_text(before + generated(), README)


if __name__ == "__main__":
    main()
