PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint bench clean

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-tests: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

demo: $(VENV)/installed           ## release all 2-way tables of a bundled census extract and show one
	$(BIN)/python examples/demo.py

lint: $(VENV)/installed-tests     ## style, types, import rules
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint                        ## everything that must hold
	$(BIN)/pytest

bench: $(VENV)/installed-tests    ## speed, ours beside a rival's, as JSON
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) demo-release build dist
