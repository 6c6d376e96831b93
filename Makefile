# Two commands are enough: `make demo` and `make test`. Both set everything up when it is not there yet.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# enough for the demo; and with every extra, the tools, and a browser where one can be had, enough for the rest
READY := .venv/.ready
COMPLETE := .venv/.complete

.PHONY: help setup demo test lint science studies chaos fuzz bench sbom docs pictures format clean

help:            ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 12

setup: $(COMPLETE)  ## create .venv and install everything (only when something changed)

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) -e '.[report]'
	@touch $@

$(COMPLETE): $(READY)
	$(INSTALL) -e '.[report,encoder,serve,dicom,track,search,ot,pandas,docs,dev]'
	@$(INSTALL) -e '.[flower]' || echo "Flower could not be installed; the tests go on without it"
	@if ! command -v chromium > /dev/null && command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
	  echo "installing chromium: the report page is tested in a real browser"; \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends chromium; } > /dev/null 2>&1 \
	    || echo "chromium could not be installed; the tests go on without it"; \
	fi
	@if command -v npm > /dev/null; then npm install --silent --no-save --prefix .venv axe-core > /dev/null 2>&1 \
	  || echo "axe-core could not be installed; the tests go on without it"; fi
	@touch $@

demo: $(READY)   ## note 5 run again on the embedded digits: lambda explodes, and what helps
	$(BIN)/mooring study 5 scale=quick

test: lint       ## lint, then the whole suite; what this machine lacks is skipped and named at the end
	@# compiled files are kept: without them each of some hundred processes would compile the package again
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(COMPLETE)  ## ruff, mypy --strict, and the layers of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

science: $(COMPLETE)  ## what the notes claim, on many digits runs (about 35 minutes)
	$(BIN)/python -m pytest -m "slow and not chaos" -rP

studies: $(COMPLETE)  ## the studies on the digits, and their pages (about an hour)
	for n in 1 2 3 4 5; do $(BIN)/mooring study $$n || exit; done
	$(BIN)/python studies/bench.py fusions
	$(BIN)/python studies/bench.py write
	$(BIN)/python studies/doctor.py

chaos: $(COMPLETE)  ## sixty kills at random moments, each resumed, byte for byte the same (about 15 minutes)
	$(BIN)/python -m pytest -m chaos -s tests/faults

fuzz: $(COMPLETE)  ## twenty thousand damaged files, each refused in one line or read (about 10 minutes)
	$(BIN)/python tests/hostile/fuzz.py --count 10000 --seed 1
	$(BIN)/python tests/hostile/fuzz.py --count 10000 --seed 1 --of federation

bench: $(COMPLETE)  ## speed against its goals, into docs/performance.md (about 12 minutes)
	$(BIN)/python -m benchmarks --write

sbom: $(COMPLETE)  ## the installed packages as CycloneDX, into sbom.json; hashes for sites into supply/
	$(BIN)/python supply/sbom.py sbom.json
	$(BIN)/python supply/pin_hashes.py

docs: $(COMPLETE)  ## the documentation site, into site/ (python -m http.server -d site shows it)
	$(BIN)/python docs/make_reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pictures: $(COMPLETE)  ## measure all methods on the digits again and draw the pictures (about 40 minutes)
	$(BIN)/python docs/make_methods.py

format: $(COMPLETE)  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:           ## remove .venv and caches; runs/ stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist site
