# Each command sets up what it needs in .venv, so it runs on a machine that has only Python and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# In parallel on every core; a file's tests stay in one process, so that a server, a cluster or a browser starts once.
# Compiled modules are kept, whatever the environment says: the tests start hundreds of programs that read them.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist loadfile

.PHONY: help demo test test-campaigns test-all test-lowest check bench bench-full search-figure dependence-figures ama-figures risk-map blocks-figure pictures algorithm-pictures docs experiments experiments-quick fuzz kill soak same clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    mask a synthetic survey and print what it cost"
	@echo "make test    run the tests, but for the longest (set MICROAGG_DATA to include the CASC files)"
	@echo "make test-all   run every test (make test-campaigns: only those that make test leaves out)"
	@echo "make check   linter, types, import contract, then every test"
	@echo "make docs    build the documentation site into build/site"
	@echo "make bench   time the partitioners and whole jobs (make bench-full: twenty minutes)"
	@echo "make search-figure dependence-figures ama-figures risk-map blocks-figure pictures algorithm-pictures   draw the figures of the docs"
	@echo "make fuzz    odd files, recipes and arguments, each release recounted (SEED=1 CASES=10000; 100000 before a release)"
	@echo "make experiments   run the papers' tables again, an hour or so (make experiments-quick: five minutes, prints only)"
	@echo "make kill soak same   before a release: kill jobs at random moments (KILLS=100 SEED=1), mixed jobs for an hour (MINUTES=60), the same bytes in every way"
	@echo "make clean   remove the virtual environment and caches"

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "microagg needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/installed-for-checks: $(VENV)/installed
	$(BIN)/pip install --quiet --group check
	touch $@

$(VENV)/installed-for-docs: $(VENV)/installed
	$(BIN)/pip install --quiet --group docs
	touch $@

$(VENV)/installed-for-figures: $(VENV)/installed
	$(BIN)/pip install --quiet --group figures
	touch $@

demo: $(VENV)/installed
	$(BIN)/microagg demo --force

test: $(VENV)/installed-for-checks
	$(PYTEST) -m "not campaign" --durations 5 --durations-min 20

test-campaigns: $(VENV)/installed-for-checks
	$(PYTEST) -m campaign

test-all: test test-campaigns

# The lowest versions that pyproject.toml allows, in an environment of their own.
test-lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1" uv
	$(VENV)-lowest/bin/uv pip install --quiet --python $(VENV)-lowest/bin/python --resolution lowest-direct --editable . --group test
	$(VENV)-lowest/bin/python -m pytest --numprocesses logical --maxprocesses 8 --dist loadfile -m "not campaign"

check: $(VENV)/installed-for-checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test
	$(MAKE) test-campaigns

# Case I of a seed is always the same; those that fail are kept in build/fuzz.
SEED ?= 1
CASES ?= 10000
JOBS ?= 2
fuzz: $(VENV)/installed-for-checks
	$(BIN)/python -m adversary fuzz --seed $(SEED) --cases $(CASES) --jobs $(JOBS)
	$(BIN)/python -m adversary grammar --seed $(SEED)

bench: $(VENV)/installed
	$(BIN)/python benchmarks/partitioners.py
	$(BIN)/python benchmarks/job.py

bench-full: $(VENV)/installed
	$(BIN)/python benchmarks/partitioners.py --full
	$(BIN)/python benchmarks/job.py --million --empty-cache
	$(BIN)/python benchmarks/beyond.py --sizes 1,5

search-figure: $(VENV)/installed-for-figures
	$(BIN)/python benchmarks/search_figure.py

dependence-figures: $(VENV)/installed-for-figures
	$(BIN)/python benchmarks/dependence_figures.py

ama-figures: $(VENV)/installed-for-figures
	$(BIN)/python benchmarks/ama_figures.py

risk-map: $(VENV)/installed-for-figures
	$(BIN)/python benchmarks/risk_map.py

blocks-figure: $(VENV)/installed-for-figures
	$(BIN)/python benchmarks/blocks_figure.py --paper

experiments: $(VENV)/installed-for-figures
	$(BIN)/python -m experiments

experiments-quick: $(VENV)/installed-for-figures
	$(BIN)/python -m experiments --quick

# What an adversary would try. A small part of each is among the tests; the long ones are for before a release.
KILLS ?= 100
MINUTES ?= 60
SEED ?= 1

kill: $(VENV)/installed-for-checks
	$(BIN)/python -m adversary kill --seed $(SEED) --cases $(KILLS)

soak: $(VENV)/installed-for-checks
	$(BIN)/python -m adversary soak --seed $(SEED) --minutes $(MINUTES)

same: $(VENV)/installed-for-checks
	$(BIN)/python -m adversary same

pictures: $(VENV)/installed-for-checks
	$(BIN)/python docs/make_pictures.py

algorithm-pictures: $(VENV)/installed-for-figures
	$(BIN)/python docs/make_algorithm_pictures.py

docs: $(VENV)/installed-for-docs
	$(BIN)/python -m sphinx -q -W --keep-going -E docs build/site
	@echo "The site is in build/site/index.html"

clean:
	rm -rf $(VENV) $(VENV)-lowest .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis build dist
