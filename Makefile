# Every target makes its own environment in .venv when there is none, or when pyproject.toml or
# constraints.txt changed since. Nothing outside this folder is touched, except that
# `make test-browser`, run as root on Debian, installs the chromium package when no Chromium is found.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.PHONY: help demo test lint test-python test-browser test-all attack bench docs install-verified \
	hashes licences vendor clean

# The oldest supported Python comes first because the pinned set was tested with it.
PYTHON ?= $(shell for p in python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH := $(shell grep '^torch==' constraints.txt)
# Options for pip's torch step alone, for instance another index: on Linux the default index serves
# a build with several GB of CUDA libraries.
TORCH_FLAGS ?=

ASSETS := src/pgode/reports/assets
3DMOL := 2.5.5

# What `make demo` gives to each command. It stays within a few minutes on two cores.
DEMO := demo
DEMO_SIMULATE ?= --train 200 --val 60 --test 100 --ood 100
DEMO_TRAIN ?=
DEMO_EVALUATE ?=
# For instance `make test PYTEST_FLAGS="-k solver"`.
PYTEST_FLAGS ?=
# Processes that share the tests, each with one thread.
TEST_JOBS ?= 2
# The Pythons of `make test-all`, and the target it runs with each.
PYTHONS ?= 3.11 3.12 3.13
TARGET ?= test-python

define check-python
if ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	echo "pgode needs Python 3.11 or newer, and $(or $(PYTHON),python3) is missing or older." >&2; \
	echo "Install one and name it: make $(MAKECMDGOALS) PYTHON=python3.11" >&2; \
	exit 1; \
fi
endef

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP)  ## Simulate Charged, find its law, evaluate, forecast, and write a report
	rm -rf $(DEMO)/run
	$(BIN)/pgode simulate charged -o $(DEMO)/charged.nc --overwrite $(DEMO_SIMULATE)
	$(BIN)/pgode train $(DEMO)/charged.nc -o $(DEMO)/run $(DEMO_TRAIN)
	$(BIN)/pgode laws $(DEMO)/run
	$(BIN)/pgode evaluate $(DEMO)/run $(DEMO_EVALUATE)
	$(BIN)/pgode forecast $(DEMO)/run $(DEMO)/charged.nc -o $(DEMO)/forecast.nc --overwrite
	$(BIN)/pgode report $(DEMO)/run

# One after the other even under `make -j`: they share the cores, and the first failure ends it.
test: $(STAMP)  ## Linters, types, import contract, all tests
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test-python
	@$(MAKE) --no-print-directory test-browser

lint: $(STAMP)  ## ruff, mypy and the import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src release
	$(BIN)/lint-imports --no-logo

# A file goes to one process as a whole: what its tests share, often a training, is then made once.
test-python: $(STAMP)  ## The tests that need no browser
	$(BIN)/python -m pytest -n $(TEST_JOBS) --dist loadfile --no-loadscope-reorder $(PYTEST_FLAGS)

test-browser: $(STAMP)  ## The tests that open the report in headless Chromium
	@if ! command -v chromium chromium-browser google-chrome >/dev/null; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "No Chromium on PATH: installing Debian's package chromium."; \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
				apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
		else \
			echo "make test-browser needs chromium, chromium-browser or google-chrome on PATH." >&2; \
			echo "Install one (Debian, Ubuntu: sudo apt-get install chromium), then run it again." >&2; \
			exit 1; \
		fi; \
	fi
	$(BIN)/python -m pytest -m browser $(PYTEST_FLAGS)

test-all:  ## The tests with Python 3.11, 3.12 and 3.13, as far as they are on this machine
	@$(check-python)
	@$(PYTHON) -m release.interpreters $(PYTHONS) --target $(TARGET)

attack: $(STAMP)  ## Bad input, damaged files, kills, signals, full disks; writes docs/attack.md
	$(BIN)/python -m tests.attack --jobs $(TEST_JOBS) --page docs/attack.md

bench: $(STAMP)  ## Measure speed, memory and scaling (benchmarks/)
	$(BIN)/python -m benchmarks

docs: $(DOCS_STAMP)  ## Build the pages into site/, without network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open site/index.html"

# Whatever the index serves, only files whose hash is in constraints-hashed.txt get into it.
install-verified:  ## pgode in .venv-verified, the SHA-256 of every file checked (Linux x86-64)
	@$(check-python)
	@$(PYTHON) -m release.install .venv-verified --flags '$(TORCH_FLAGS)'

hashes: $(STAMP)  ## Write constraints-hashed.txt anew after constraints.txt changed (needs a network)
	$(BIN)/python -m release.hashes

licences: $(STAMP)  ## Licences of all that pgode installs, as a table and an SBOM, into build/
	$(BIN)/python -m release.licences

# The report's molecule player is 3Dmol.js, which its pages carry, so that they need no network. Its
# minified build and its licence are in the repository, as this target takes them from npm's package,
# but for one thing: the library would evaluate text given as a callback, and ours ignores it.
vendor:  ## Fetch the pinned 3Dmol.js into src/pgode/reports/assets/ (needs npm and a network)
	folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	archive=$$(npm pack --silent --pack-destination "$$folder" 3dmol@$(3DMOL)); \
	tar -xzf "$$folder/$$archive" -C "$$folder"; \
	sed 's/callback=eval("("+callback+")")/callback=null/' "$$folder/package/build/3Dmol-min.js" \
		> $(ASSETS)/3Dmol-min.js; \
	cp "$$folder/package/LICENSE" $(ASSETS)/3Dmol-LICENSE.txt

clean:  ## Remove the environment and everything that was built, run or cached
	rm -rf $(VENV) .venv-* build dist site $(DEMO) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find src tests benchmarks docs release -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@$(check-python)
	$(PYTHON) -m venv $(VENV)

# torch goes first and alone: its exact version is then settled before anything else asks for it.
$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt $(TORCH_FLAGS) $(TORCH)
	$(PIP) install --quiet -c constraints.txt -e '.[dev,track,ray,tune,md,tables,export]'
	$(PIP) check
	@touch $@

$(DOCS_STAMP): $(STAMP)
	$(PIP) install --quiet -c constraints.txt -e '.[docs]'
	@touch $@
