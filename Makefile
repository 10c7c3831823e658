# `make run` serves the app, `make test` passes every test; each sets up what it needs first, and may be run again.
# Paths may hold spaces: everything is relative to this folder.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501

.PHONY: run test setup setup-dev chromium postgresql prometheus check messages bench clean

run: setup
	"$(BIN)/python" -m streamlit run app.py --server.port $(PORT)

test: setup-dev chromium postgresql prometheus
	"$(BIN)/python" -m pytest

# Rebuilt only when the requirements change.
setup: $(VENV)/run.stamp
setup-dev: $(VENV)/dev.stamp

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "GPU Planner needs Python 3.11 or newer; $(PYTHON) is older. Try: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	    { echo "Python's venv module is missing. On Debian or Ubuntu: apt install python3-venv"; exit 1; }

$(VENV)/run.stamp: requirements.txt | $(BIN)/python
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements.txt requirements-dev.txt | $(BIN)/python
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@ $(VENV)/run.stamp

# The browser tests need a Chromium; without one they are skipped, and say so.
chromium:
	@if command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || \
	    command -v google-chrome >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    echo "Installing Chromium for the browser tests"; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } >/dev/null || \
	    echo "Chromium could not be installed: the browser tests will be skipped"; \
	else echo "No Chromium here: the browser tests will be skipped (Debian: apt install chromium)"; fi

# The store is tested on PostgreSQL too; without one these tests are skipped, and say so.
postgresql:
	@if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    echo "Installing PostgreSQL for the tests of the store"; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql; } >/dev/null || \
	    echo "PostgreSQL could not be installed: its tests will be skipped"; \
	else echo "No PostgreSQL here: its tests will be skipped (Debian: apt install postgresql)"; fi

# The fleet is tested against a real Prometheus; without one these tests are skipped, and say so.
prometheus:
	@if command -v prometheus >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    echo "Installing Prometheus for the tests of the fleet"; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends prometheus; } \
	    >/dev/null || echo "Prometheus could not be installed: its tests will be skipped"; \
	else echo "No Prometheus here: its tests will be skipped (Debian: apt install prometheus)"; fi

check: setup-dev
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"

# Collect the texts to translate from the code, merge them into both catalogues, compile. A test compares all three.
messages: setup-dev
	"$(BIN)/pybabel" -q extract -F assets/locale/babel.cfg -k t -k n:1,2 -k p:1c,2 --no-location --sort-output \
	    -o $(VENV)/messages.pot .
	for language in en ar; do "$(BIN)/pybabel" -q update -i $(VENV)/messages.pot -d assets/locale -l $$language \
	    --no-fuzzy-matching --ignore-obsolete --no-wrap --ignore-pot-creation-date; done
	"$(BIN)/pybabel" -q compile -d assets/locale

bench: setup-dev
	"$(BIN)/python" -m tests.benchmarks

clean:
	rm -rf $(VENV)
