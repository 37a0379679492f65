# Every target sets up what it needs: a virtual environment in .venv, the build tools, the package itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TOOLS := $(VENV)/.tools
TEST_TOOLS := $(VENV)/.test-tools
INSTALLED := $(VENV)/.installed
SOURCES := $(shell find core src -type f -not -path '*/__pycache__/*') CMakeLists.txt pyproject.toml
CPP := $(shell find core tests/core -name '*.cpp' -o -name '*.hpp' -o -name '*.inl')
CHECKS := build/checks
SANITIZED := build/sanitized

.PHONY: demo test lint format bench long sanitize sanitize-core accuracy clean

demo: $(INSTALLED) ## run the library on its own sample scene; leaves a table, a picture and a page in demo/
	$(BIN)/python -m clearance.demo demo

test: $(INSTALLED) $(TEST_TOOLS) $(CHECKS)/passed ## everything but the long suites
	$(BIN)/python -m pytest

long: $(INSTALLED) $(TEST_TOOLS) ## ten million cases per pair, and what else takes minutes
	$(MAKE) $(CHECKS)/built
	$(CHECKS)/elements_against_oracle 10000000
	$(BIN)/python -m pytest -m long

bench: $(INSTALLED) ## us and the strongest peers, side by side
	$(BIN)/pip install -q --group bench
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

accuracy: $(INSTALLED) $(CHECKS)/built ## write docs/accuracy.md anew
	$(CHECKS)/elements_against_oracle 100000 | $(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/accuracy_convex.py --count 20000 --write

lint: $(INSTALLED)
	$(BIN)/pip install -q --group lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p clearance
	$(BIN)/clang-format --dry-run --Werror $(CPP)

format: $(TOOLS)
	$(BIN)/pip install -q --group lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

# The checks of the core, plain and under AddressSanitizer and UndefinedBehaviourSanitizer.
$(CHECKS)/built: $(TOOLS) $(SOURCES) $(shell find tests/core -type f)
	$(BIN)/cmake -S . -B $(CHECKS)/tree -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DCLEARANCE_PYTHON=OFF -DCLEARANCE_TESTS=ON
	$(BIN)/cmake --build $(CHECKS)/tree
	ln -sf tree/tests/core/elements_against_oracle $(CHECKS)/elements_against_oracle
	touch $@

$(CHECKS)/passed: $(CHECKS)/built
	$(BIN)/ctest --test-dir $(CHECKS)/tree --output-on-failure --parallel $(shell nproc)
	touch $@

sanitize-core: $(TOOLS)
	$(BIN)/cmake -S . -B $(SANITIZED)/core -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DCLEARANCE_PYTHON=OFF -DCLEARANCE_TESTS=ON -DCLEARANCE_SANITIZE=address,undefined
	$(BIN)/cmake --build $(SANITIZED)/core
	$(BIN)/ctest --test-dir $(SANITIZED)/core --output-on-failure --parallel $(shell nproc)

# The whole suite on a sanitized module, in an environment of its own. Python itself is not sanitized, so the run-time
# libraries are loaded first, and leaks (Python's own) are not reported.
sanitize: sanitize-core
	$(PYTHON) -m venv $(SANITIZED)/venv
	$(SANITIZED)/venv/bin/pip install -q -U pip
	$(SANITIZED)/venv/bin/pip install -q --group build --group test
	$(SANITIZED)/venv/bin/pip install -q --no-build-isolation '.[view]' \
	  -C build-dir=$(SANITIZED)/tree -C cmake.define.CLEARANCE_SANITIZE=address,undefined
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 $(SANITIZED)/venv/bin/python -m pytest -p no:cacheprovider

$(TOOLS): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -U pip
	$(BIN)/pip install -q --group build
	touch $@

# Real robots and the libraries that our answers are compared with: more than the library itself needs.
$(TEST_TOOLS): $(TOOLS)
	$(BIN)/pip install -q --group test
	touch $@

$(INSTALLED): $(TOOLS) $(SOURCES)
	$(BIN)/pip install -q --no-build-isolation '.[view]'
	touch $@

clean:
	rm -rf build $(VENV) demo dist
