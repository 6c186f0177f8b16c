# The commands for people; `make help` lists them. The build itself is CMakeLists.txt with CMakePresets.json. What is needed rarely is
# a script: experiments/run.sh, benchmarks/run.sh, tools/test/long.sh, tools/*/*.sh. Without arguments they say what they do.

SHELL := /bin/bash
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
sources := $(wildcard include/*.h src/*/*.[ch] src/*/*/*.[ch] front/*/*.[ch] cli/*/*.[ch] serve/*/*.[ch] fuzz/*.[ch] \
	fuzz/replay/*.c benchmarks/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch] python/src/*.[ch] java/oif-java/src/main/c/*.[ch] examples/*.c)
scripts := .ci/run java/mvn $(wildcard tools/*/*.sh benchmarks/*.sh experiments/*.sh tests/*/*.sh)
# Left out: advice to use memcpy_s, which glibc lacks, and a check that clang-tidy 14 gets wrong.
tidy_checks := -clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-valist.*

.DEFAULT_GOAL := help
.PHONY: help demo build test install uninstall clean test-all docs format check-format lint fuzz bench bench-quick reality operations \
	packages image

##@ Use it

demo: ## compile oif, score a synthetic stream and draw it: a minute or two the first time
	@echo "make demo: compiles oif into build/release, lets it score two weeks of a synthetic pump, and draws what it found"
	@$(MAKE) --no-print-directory build
	@build/release/oif demo

build: ## build/release: libraries and program (installs a compiler, cmake and ninja if missing)
	@tools/build/install_dependencies.sh build
	@tools/build/build.sh release

install: build ## headers, libraries and program to PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX) > build/install.log || { cat build/install.log; exit 1; }
	@tools/build/after_install.sh $(PREFIX)

uninstall: ## remove from PREFIX (/usr/local) what the last make install has put there
	@tools/build/uninstall.sh build/release/install_manifest.txt $(PREFIX)

help: ## this list
	@awk -F ':.*## ' '/^##@/ { print "\n" substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

##@ Change it

test: ## C, CLI and service tests with gcc, the Python package, the documents' examples: 5 minutes on two idle cores, 10 the first time
	@tools/build/install_dependencies.sh test
	@tools/test/run_tests.sh

test-all: ## what CI runs: make test, the live page, campaigns, clang, sanitizers, other machines, analyzers: half an hour
	@tools/build/install_dependencies.sh test-all
	@tools/test/run_tests.sh --all

docs: ## the documentation as a site: build/site/index.html, links checked
	@tools/build/install_dependencies.sh test
	@tools/build/build.sh release-gcc
	@tools/build/make_venv.sh docs
	@tools/docs/make_docs.py build/release-gcc/oif build/site-source
	@cd build && docs-venv/bin/mkdocs build --strict --config-file mkdocs.yml > site.log 2>&1 || { cat site.log; exit 1; }
	@echo "build/site/index.html; with its search: python3 -m http.server --bind 127.0.0.1 --directory build/site"

format: ## clang-format all C sources
	@tools/build/install_dependencies.sh test-all
	clang-format -i $(sources)

check-format:
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

fuzz: ## every harness in fuzz/ for FUZZ_SECONDS (60)
	@tools/build/install_dependencies.sh test-all
	@tools/build/build.sh fuzz
	@tools/test/fuzz.sh $(FUZZ_SECONDS)

clean: ## remove build/
	rm -rf build

##@ Measure it

reality: ## what is found in recorded series, and how many alerts have no cause, beside others (ARGS="--quick --check")
	@experiments/run.sh reality $(ARGS)

operations: ## which operational anomalies are found, how soon, and how many false alerts (ARGS="--quick --check")
	@experiments/run.sh operations $(ARGS)

bench: ## ours beside the peers from PyPI and Maven Central: table, JSON and plots in benchmarks/results (ARGS="--quick")
	@benchmarks/run.sh peers $(ARGS)

bench-quick: ## instructions per row against benchmarks/limits.json (ARGS="--accept" to set them)
	@benchmarks/run.sh instructions $(ARGS)

##@ Release it

packages: ## build/packages: Debian packages, source archive, wheel, SBOM, checksums, twice with the same bits (DEB_BUILD_OPTIONS=: runs tests, too)
	@tools/build/install_dependencies.sh packages
	@tools/build/make_packages.sh

image: build ## build/oif-serve-image.tar: an OCI image of oif serve, without a shell, for docker load, podman and skopeo (ARGS="--tag NAME:TAG")
	@cmake --install build/release --prefix build/image > build/image.log
	@tools/build/make_image.py build/image build/oif-serve-image.tar $(ARGS)
