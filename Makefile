# make demo: build the demo pack and serve it.   make test: everything that CI checks.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

PIP := $(BIN)/pip install --quiet
LOCKED := $(PIP) --require-hashes --requirement
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
    --generate-hashes --no-header --no-annotate --upgrade

.PHONY: demo test test-all lint docs lock audit clean

demo: $(VENV)/.installed
	$(BIN)/lorepack build packs/demo.toml --out out
	$(BIN)/lorepack serve out

test: $(VENV)/.dev lint
	$(BIN)/pytest -n 3 --dist worksteal

test-all: test
	$(BIN)/pytest -m slow -n 2 --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

docs: $(VENV)/.dev
	$(BIN)/python docs/generate.py

# The newest versions that fit, by hash; of all that is tested with, then of what is less.
lock: $(VENV)/.dev
	$(COMPILE) --extra dev --output-file locks/dev.txt
	$(COMPILE) --extra build --constraint locks/dev.txt --output-file locks/build.txt
	$(COMPILE) --constraint locks/dev.txt --output-file locks/base.txt
	$(BIN)/python docs/licences.py

# Asks a database of known faults for what the locks name.
audit: $(VENV)/.dev
	$(BIN)/uvx pip-audit --disable-pip --require-hashes --requirement locks/build.txt

$(VENV)/.installed: pyproject.toml locks/build.txt
	$(PYTHON) -m venv $(VENV)
	$(LOCKED) locks/build.txt
	$(PIP) --no-deps --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.installed locks/dev.txt
	$(LOCKED) locks/dev.txt
	touch $@

clean:
	rm -rf $(VENV) out build dist *.egg-info
