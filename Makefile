# make run: set up and run the default study; make test: set up and run all tests.

CORES ?= $(shell nproc)
CONFIG ?= config.yaml
VENV := .venv
PYTHON ?= python3
SNAKEMAKE := $(VENV)/bin/snakemake --workflow-profile workflow/profiles/default

.PHONY: run test lint setup help
.DEFAULT_GOAL := help

help:
	@echo "make run     set up and run a study to its report: CONFIG=$(CONFIG), CORES=$(CORES)"
	@echo "make test    set up and run all tests"
	@echo "make lint    check style: ruff, snakefmt, snakemake --lint"
	@echo "make setup   install the pinned packages into $(VENV), no more"

run: $(VENV)/.installed
	@echo "Running the study of $(CONFIG) on $(CORES) cores; what is done already is not done again."
	@$(SNAKEMAKE) --cores $(CORES) --configfile $(CONFIG)

test: $(VENV)/.installed-dev
	@echo "Running all tests; the first time, this downloads the real model and tasks (440 MB)."
	@$(VENV)/bin/python -m pytest

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/snakefmt --check Snakefile workflow/rules
	$(VENV)/bin/snakemake --lint

setup: $(VENV)/.installed

$(VENV)/.installed: envs/requirements.txt pyproject.toml
	@echo "Setting up $(VENV) with the pinned packages (once, some minutes) ..."
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement envs/requirements.txt
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed envs/requirements-dev.txt
	@echo "Adding what the tests need ..."
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement envs/requirements-dev.txt
	@touch $@
