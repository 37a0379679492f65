# Every target sets up what it needs: a virtual environment in .venv, the build tools, the package itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TOOLS := $(VENV)/.tools
TEST_TOOLS := $(VENV)/.test-tools
INSTALLED := $(VENV)/.installed
SOURCES := $(shell find core src -type f -not -path '*/__pycache__/*') CMakeLists.txt pyproject.toml
CPP := $(shell find core tests/core tests/fuzz -name '*.cpp' -o -name '*.hpp' -o -name '*.inl')
CHECKS := build/checks
SANITIZED := build/sanitized
WHEELS := build/wheels
FUZZED := build/fuzzed
FUZZ_SECONDS ?= 600
FUZZ_TARGETS := distance elements contacts raycast nearest robot mesh_file
FUZZ_CXX ?= $(firstword $(foreach c,$(foreach v,22 21 20 19 18 17 16,clang++-$(v)) clang++,$(shell command -v $(c))))

.PHONY: demo test lint format bench long docs sanitize sanitize-core tsan traps fuzz fuzz-files soak wheel-test accuracy clean

demo: $(INSTALLED) ## run the library on its own sample scene; leaves a table, a picture and a page in demo/
	$(BIN)/python -m clearance.demo demo

test: $(INSTALLED) $(TEST_TOOLS) $(CHECKS)/passed ## everything but the long suites
	$(BIN)/python -m pytest -n $(shell nproc) --dist loadfile

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

docs: $(INSTALLED) ## the documentation as pages, in build/docs; a warning is an error
	$(BIN)/pip install -q --group docs
	$(BIN)/python -m sphinx -W --keep-going -q docs build/docs

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
$(CHECKS)/built: $(TOOLS) $(SOURCES) $(shell find tests/core tests/fuzz -type f -not -path '*/__pycache__/*')
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
	  ASAN_OPTIONS=detect_leaks=0 $(SANITIZED)/venv/bin/python -m pytest -p no:cacheprovider -n $(shell nproc) --dist loadfile

# Several threads at a time, under ThreadSanitizer. It wants addresses where it knows them: no randomisation.
tsan: $(TOOLS)
	$(BIN)/cmake -S . -B $(SANITIZED)/threads -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DCLEARANCE_PYTHON=OFF -DCLEARANCE_TESTS=ON -DCLEARANCE_SANITIZE=thread
	$(BIN)/cmake --build $(SANITIZED)/threads
	setarch -R $(BIN)/ctest --test-dir $(SANITIZED)/threads --output-on-failure --parallel $(shell nproc)

# The checks of the core, ended by the first division by zero.
traps: $(TOOLS)
	$(BIN)/cmake -S . -B $(CHECKS)/traps -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DCLEARANCE_PYTHON=OFF -DCLEARANCE_TESTS=ON -DCLEARANCE_TRAPS=ON
	$(BIN)/cmake --build $(CHECKS)/traps
	$(BIN)/ctest --test-dir $(CHECKS)/traps --output-on-failure --parallel $(shell nproc)

# Bytes that nobody thought of, FUZZ_SECONDS for each target; what breaks is left in build/fuzzed. Needs clang.
fuzz: $(TOOLS)
	@test -n "$(FUZZ_CXX)" || echo "fuzz: skipped, there is no clang++ of version 16 or newer (Debian: clang-16 and libclang-rt-16-dev)"
	test -z "$(FUZZ_CXX)" || $(MAKE) $(addprefix fuzz-,$(FUZZ_TARGETS))

$(FUZZED)/built: $(TOOLS) $(SOURCES) $(shell find tests/fuzz -type f -not -path '*/__pycache__/*')
	$(BIN)/cmake -S . -B $(FUZZED)/tree -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DCMAKE_CXX_COMPILER=$(FUZZ_CXX) -DCLEARANCE_PYTHON=OFF -DCLEARANCE_FUZZ=ON -DCLEARANCE_SANITIZE=address,undefined
	$(BIN)/cmake --build $(FUZZED)/tree
	touch $@

$(addprefix fuzz-,$(FUZZ_TARGETS)): fuzz-%: $(FUZZED)/built
	mkdir -p $(FUZZED)/corpus/$*
	$(FUZZED)/tree/tests/fuzz/fuzz_$* -max_total_time=$(FUZZ_SECONDS) -timeout=25 -max_len=600 -len_control=0 \
	  -print_final_stats=1 -artifact_prefix=$(FUZZED)/$*- $(FUZZED)/corpus/$* tests/fuzz/corpus/$*

fuzz-files: $(INSTALLED) ## every reader of files, fuzzed for FUZZ_SECONDS each
	$(BIN)/pip install -q --group fuzz
	for script in tests/fuzz/fuzz_*.py; do $(BIN)/python $$script -max_total_time=$(FUZZ_SECONDS) || exit 1; done

soak: $(INSTALLED) ## an hour of mixed queries from eight threads: no answer changes, no memory is lost
	$(BIN)/pip install -q psutil
	$(BIN)/python benchmarks/soak.py --minutes 60

# What users get: a source distribution, the wheel that is built from it, and the tests beside NumPy alone, with no
# compiler in reach. Tests that need an extra skip.
wheel-test: $(TOOLS)
	rm -rf $(WHEELS)
	$(BIN)/pip install -q --group release
	$(BIN)/python -m build --outdir $(WHEELS)/plain
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir $(WHEELS) $(WHEELS)/plain/*.whl
	$(PYTHON) -m venv $(WHEELS)/venv
	$(WHEELS)/venv/bin/pip install -q -U pip
	$(WHEELS)/venv/bin/pip install -q --only-binary :all: --group wheel-test $(WHEELS)/*.whl
	env PATH=$(abspath $(WHEELS)/venv/bin) $(WHEELS)/venv/bin/python -m pytest -p no:cacheprovider -n $(shell nproc) --dist loadfile

$(TOOLS): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -U pip
	$(BIN)/pip install -q --group build
	touch $@

# Real robots and the libraries that our answers are compared with: more than the library itself needs.
$(TEST_TOOLS): $(TOOLS)
	$(BIN)/pip install -q --group test --group docs
	touch $@

$(INSTALLED): $(TOOLS) $(SOURCES)
	$(BIN)/pip install -q --no-build-isolation '.[cli,view]'
	touch $@

clean:
	rm -rf build $(VENV) demo dist
