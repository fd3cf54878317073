"""Planning, at the place where users import it from; see ``abovechance.chance.planning``."""

from abovechance.chance.planning import (
    examples_for_power,
    examples_needed,
    least_above,
    least_significant,
    power,
    power_curve,
    prompts_allowed,
)

__all__ = [
    "examples_for_power",
    "examples_needed",
    "least_above",
    "least_significant",
    "power",
    "power_curve",
    "prompts_allowed",
]
