# Two commands are enough: `make demo` and `make test`. Both set everything up when it is not there yet.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help setup demo test lint science studies chaos extras bench docs pictures format clean

help:            ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 12

setup: $(READY)  ## create .venv and install (only when something changed)

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,report]'
	@touch $@

demo: $(READY)   ## note 5 run again on the embedded digits: lambda explodes, the doctor says why, a remedy holds
	$(BIN)/mooring study 5 scale=quick

test: $(READY) lint  ## lint, then the whole suite
	$(BIN)/python -m pytest -n 2

lint: $(READY)   ## ruff, mypy --strict, and the layers of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

science: $(READY)  ## what the notes claim, on many digits runs (about 35 minutes)
	$(BIN)/python -m pytest -m "slow and not chaos" -rP

studies: $(READY)  ## the studies on the digits, and their pages (about an hour)
	for n in 1 2 3 4 5; do $(BIN)/mooring study $$n || exit; done
	$(BIN)/python studies/bench.py fusions
	$(BIN)/python studies/bench.py write

chaos: $(READY)  ## sixty kills at random moments, each resumed, byte for byte the same (about 15 minutes)
	$(BIN)/python -m pytest -m chaos -s tests/faults

extras: $(READY)  ## what is skipped without extras: TensorBoard, MLflow, Optuna, the site (two minutes to install)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[track,search,docs]'
	$(BIN)/python -m pytest -rs tests/unit/test_track.py tests/end_to_end/test_sweep.py tests/unit/test_site.py

bench: $(READY)  ## speed against its goals, into docs/performance.md (about 12 minutes)
	$(BIN)/python -m benchmarks --write

docs: $(READY)   ## the documentation site, into site/ (python -m http.server -d site shows it)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pictures: $(READY)  ## draw the pictures of the method cards again (about 20 minutes)
	$(BIN)/python docs/make_methods.py

format: $(READY) ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:           ## remove .venv and caches; runs/ stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist site
