#!/usr/bin/env bash
# Makes the Python environment build/NAME-venv, with the oif package of this checkout in it.
#
#   tools/build/make_venv.sh NAME     test, reference, paper, bench, capymoa or spark; serve and docs, without the package
#
# tools/requirements/NAME.txt lists its packages. NAME-no-deps.txt lists packages whose own code is enough,
# NAME-optional.txt packages that may fail to install: what pip printed is then in build/NAME-venv/failed/.
#
# Nothing is installed again, and the network is not needed, while the requirements and the sources are
# unchanged. Remove build/NAME-venv to start over.
set -euo pipefail

cd "$(dirname "$0")/../.."
lists=tools/requirements
name=${1:-}
[ -f "$lists/${name:-no name}.txt" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }

pip_in() { "build/$1-venv/bin/python" -m pip --quiet --disable-pip-version-check "${@:2}"; }

install_optional() { # install_optional NAME: each line of NAME-optional.txt holds arguments of pip install
    local line arguments package failed=build/$1-venv/failed
    mkdir -p "$failed"
    # dSalmon's setup looks for numpy's headers where numpy 1 had them.
    CPATH=$("build/$1-venv/bin/python" -c 'import numpy; print(numpy.get_include())')
    export CPATH
    while read -r line; do
        read -ra arguments <<<"$line"
        package=${arguments[-1]%%[=<>]*}
        echo "installing $package"
        if pip_in "$1" install "${arguments[@]}" >"$failed/$package" 2>&1; then
            rm "$failed/$package"
        else
            echo "    it does not install; $failed/$package has the reason"
        fi
    done < <(grep -v '^ *\(#\|$\)' "$lists/$1-optional.txt")
}

install_requirements() { # install_requirements NAME
    local venv=build/$1-venv wanted
    wanted=$(python3 --version; cat "$lists/$1.txt" "$lists/$1"-*.txt 2>/dev/null || true)
    [ "$wanted" = "$(cat "$venv/requirements.txt" 2>/dev/null)" ] && return
    rm -rf "$venv"
    python3 -m venv "$venv"
    pip_in "$1" install -r "$lists/$1.txt"
    [ ! -f "$lists/$1-no-deps.txt" ] || pip_in "$1" install --no-deps -r "$lists/$1-no-deps.txt"
    [ ! -f "$lists/$1-optional.txt" ] || install_optional "$1"
    echo "$wanted" >"$venv/requirements.txt" # last, so an interrupted installation starts over
}

hash_of_sources() {
    {
        python3 --version
        find CMakeLists.txt pyproject.toml README.md LICENSE cmake include src front cli python -type f \
            ! -path 'python/tests/*' ! -name '*.pyc' ! -name '*.so' -print0 | sort -z | xargs -0 sha256sum
    } | sha256sum
}

build_wheel() { # build/wheel/online_iforest-*.whl, with the build tools of the test environment
    local sources
    sources=$(hash_of_sources)
    [ "$sources" = "$(cat build/wheel/sources.sha256 2>/dev/null)" ] && return
    locked test install_requirements test
    rm -rf build/wheel
    # The build folder is kept, so the next build compiles only what changed. With the warnings of the preset release-gcc a compiler
    # cache finds what that has compiled.
    pip_in test wheel --no-build-isolation --no-deps --wheel-dir build/wheel \
        --config-settings=build-dir=build/python --config-settings=cmake.define.OIF_WERROR=ON .
    echo "$sources" >build/wheel/sources.sha256
}

install_wheel() { # install_wheel NAME
    local installed=build/$1-venv/sources.sha256
    cmp -s build/wheel/sources.sha256 "$installed" && return
    pip_in "$1" install --no-deps --force-reinstall build/wheel/online_iforest-*.whl
    cp build/wheel/sources.sha256 "$installed"
}

# Several stages of the tests may begin at once. Each environment has its own lock, so the tests of the service do not wait for
# the wheel. A process may hold the lock of the wheel while it waits for that of an environment, never the other way round.
locked() ( # locked NAME COMMAND...
    flock 9
    "${@:2}"
) 9>"build/$1.lock"

mkdir -p build
locked "$name" install_requirements "$name"
case $name in serve | docs) exit 0 ;; esac
locked wheel build_wheel
locked "$name" install_wheel "$name"
