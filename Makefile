# make demo: build the demo pack and serve it.   make test: everything that CI checks.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types docs clean

demo: $(VENV)/.installed
	$(BIN)/lorepack build packs/demo.toml --out out
	$(BIN)/lorepack serve out

test: $(VENV)/.dev lint
	$(BIN)/pytest

lint: $(VENV)/.dev types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/generate.py --check

types:
	mkdir -p build/types/lorepack
	for folder in builder packfile server site templates; do \
	    ln -sfn ../../../$$folder build/types/lorepack/$$folder; \
	done

docs: $(VENV)/.dev
	$(BIN)/python docs/generate.py

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) out build dist *.egg-info
