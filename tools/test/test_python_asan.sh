#!/usr/bin/env bash
# Runs the tests of the Python package with the extension under AddressSanitizer and UndefinedBehaviorSanitizer. Python
# itself is not built so, hence LD_PRELOAD, and what it never frees is not a finding; leaks are found by test_memory.py.
#
#   tools/test/test_python_asan.sh [PYTEST OPTION...]
set -euo pipefail

cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test
tools/build/make_venv.sh test
venv=$PWD/build/test-venv
export PATH=$venv/bin:$PATH
mkdir -p build/python-asan
cmake -S . -B build/python-asan -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DCMAKE_C_COMPILER=gcc \
    -DOIF_PYTHON=ON -DOIF_WERROR=ON -DOIF_SANITIZE=address,undefined -DPython_EXECUTABLE="$venv/bin/python" \
    >build/python-asan/configure.log || { cat build/python-asan/configure.log; exit 1; }
cmake --build build/python-asan --target _core -- --quiet

package=build/python-asan/package
rm -rf $package
mkdir -p $package
cp -r python/oif $package
rm -f $package/oif/*.so
cp build/python-asan/python/_core*.so $package/oif/

# Left out: what starts other programs (they would be under the sanitizer too) and what measures memory.
LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so) \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
    PYTHONPATH=$PWD/$package OIF=$venv/bin/oif \
    python -m pytest -q -p no:cacheprovider --color=no python/tests \
    --ignore python/tests/test_memory.py --ignore python/tests/test_typing.py \
    --ignore python/tests/test_adapters.py --ignore python/tests/test_wheel.py \
    -k "not program and not imported and not forked and not subinterpreter" "$@"
