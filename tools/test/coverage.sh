#!/usr/bin/env bash
# Measures which lines and branches of src/, front/, cli/ and python/src/ the tests run. Three runs are merged:
#
#   all tests of C and of the program, on this machine, so with AVX2 if it has that;
#   the quick tests of C with the portable code in place of AVX2 (OIF_PORTABLE, see src/base/vector.h);
#   the tests of the Python package.
#
#   tools/test/coverage.sh [--uncovered]     each line that was not run, or not in all ways, too
#
# build/coverage/html has the pages. Fails below the bars of tools/check/check_coverage.py.
set -euo pipefail

cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh develop
lcov_options=(--quiet --rc lcov_branch_coverage=1)

configure_and_build() { # configure_and_build FOLDER OPTION...
    mkdir -p "$1"
    cmake --preset coverage -B "$@" >"$1/configure.log" || { cat "$1/configure.log"; exit 1; }
    cmake --build "$1" -- --quiet
    find "$1" -name '*.gcda' -delete
}

capture() { # capture FOLDER: FOLDER/lines.info
    lcov "${lcov_options[@]}" --capture --no-external --directory "$1" --base-directory . \
        --include "$PWD/src/*" --include "$PWD/front/*" --include "$PWD/cli/*" --include "$PWD/python/src/*" \
        --output-file "$1/lines.info"
}

# Left out: types, the wheel, and adapters, which are Python alone.
test_python() { # with the extension of build/coverage
    local package=build/coverage/package
    rm -rf $package
    mkdir -p $package
    cp -r python/oif $package
    rm -f $package/oif/*.so
    cp build/coverage/python/_core*.so $package/oif/
    PYTHONPATH=$PWD/$package OIF=$PWD/build/coverage/oif \
        build/test-venv/bin/python -m pytest -q -p no:cacheprovider --color=no python/tests \
        --ignore python/tests/test_typing.py --ignore python/tests/test_wheel.py --ignore python/tests/test_adapters.py
}

tools/build/make_venv.sh test
configure_and_build build/coverage -DOIF_PYTHON=ON -DPython_EXECUTABLE="$PWD/build/test-venv/bin/python"
ctest --preset coverage -j "$(nproc)"
test_python

# Left out: distributions, kills and threads take long and have no portable code of their own.
heavy='number_text|against_plain|complexity|rrcf_law|threads|kill|corrupt|detector_snapshot'
configure_and_build build/coverage-portable -DCMAKE_C_FLAGS=-DOIF_PORTABLE
ctest --test-dir build/coverage-portable --output-on-failure -j "$(nproc)" \
    -R '^(base|detect|pipeline|rows|snapshot)\.' -E "$heavy"

capture build/coverage
capture build/coverage-portable
lcov "${lcov_options[@]}" --add-tracefile build/coverage/lines.info --add-tracefile build/coverage-portable/lines.info \
    --output-file build/coverage/merged.info
genhtml --quiet --branch-coverage --output-directory build/coverage/html build/coverage/merged.info
tools/check/check_coverage.py build/coverage/merged.info "$@"
