"""The packages of a distribution: the library, and as data the workflow and its environments."""

from setuptools import find_packages, setup

LIBRARY = "workflow/lib"

setup(
    # with the workflow inside, `abovechance run` needs no checkout
    packages=[*find_packages(LIBRARY), "abovechance.workflow", "abovechance.envs"],
    package_dir={"": LIBRARY, "abovechance.workflow": "workflow", "abovechance.envs": "envs"},
    include_package_data=False,
)
