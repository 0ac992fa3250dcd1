# Everything runs in a virtual environment of its own; only python3 (3.11 or newer) and make are needed.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PACKAGED = pyproject.toml setup.py MANIFEST.in
WORKERS ?= 2
QUESTION ?= How do certificates, HSTS and Certificate Transparency protect the visitors of a website?
TOPIC ?= How do HSTS and certificates protect visitors of a website?
ARGS ?= --corpus examples/corpus
# A PYTHONPATH or a foreign virtual environment must not leak into this one.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.PHONY: help demo demo-vault app test test-postgres check lint types imports er openapi bench-floors clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    install, then answer a question from examples/corpus without any model"
	@echo "make demo-vault  install, then research a topic into a vault, over a SearXNG double that serves examples/corpus"
	@echo "make app     install, then open the app (ARGS=... passes other flags)"
	@echo "make test    install with test tools, then run the tests"
	@echo "make check   lint, types, import contracts and tests"
	@echo "make test-postgres  the tests of ledger and vault on a PostgreSQL of their own (Debian: apt install postgresql)"
	@echo "make er openapi  make the diagrams and the description of the API anew"
	@echo "make clean   remove what these made"

demo: $(VENV)/.installed
	DEEPDELVE_HOME="$${DEEPDELVE_HOME:-$(CURDIR)/.demo}" $(BIN)/deepdelve run "$(QUESTION)" --backend builtin --corpus examples/corpus

demo-vault: $(VENV)/.installed-vault
	DEEPDELVE_HOME="$${DEEPDELVE_HOME:-$(CURDIR)/.demo}" $(BIN)/python -m tests.support.corpus_web examples/corpus -- \
		$(BIN)/deepdelve vault research "$(TOPIC)" --backend builtin

app: $(VENV)/.installed
	@$(BIN)/deepdelve $(ARGS)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(WORKERS)

test-postgres: $(VENV)/.installed-dev
	$(BIN)/python -m tests.support.postgres $(BIN)/python -m pytest tests/engine/bounded tests/engine/vault

check: lint types imports test

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/pyright --pythonpath $(BIN)/python src

imports: $(VENV)/.installed-dev
	PYTHONPATH=.typecheck $(BIN)/lint-imports

er: $(VENV)/.installed-dev
	$(BIN)/python -c "from pathlib import Path; from deepdelve.engine.bounded import diagrams as d; \
		Path('docs/er/schema.mmd').write_text(d.er_text()); Path('docs/sequences/deep-research.mmd').write_text(d.sequence_text())"

openapi: $(VENV)/.installed-dev
	$(BIN)/python -c "from pathlib import Path; from deepdelve.api.description import openapi_text; \
		Path('docs/openapi.json').write_text(openapi_text())"

bench-floors: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.grounding --floors

# pip is upgraded first: the one that comes with Python 3.11 fails on some of today's packages.
$(VENV)/.pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25"
	@touch $@

$(VENV)/.installed: $(VENV)/.pip $(PACKAGED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-vault: $(VENV)/.pip $(PACKAGED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[vault]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: $(VENV)/.pip $(PACKAGED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ $(VENV)/.installed $(VENV)/.installed-vault

clean:
	rm -rf .venv .ci-venv .demo build deepdelve.egg-info src/*.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis
