#!/usr/bin/env bash
# Makes sure that what the Makefile needs is installed; prints nothing when it is.
#
#   tools/build/install_dependencies.sh build     compile the library and the program
#   tools/build/install_dependencies.sh test      also make test
#   tools/build/install_dependencies.sh test-all  also make test-all: other compilers, machines and checkers
#   tools/build/install_dependencies.sh develop   also make lint, coverage
#   tools/build/install_dependencies.sh java      build, and tools/demo/run.sh flink, benchmarks/run.sh flink
#   tools/build/install_dependencies.sh aarch64   build, and benchmarks/run.sh aarch64
#   tools/build/install_dependencies.sh packages  test, and make packages, tools/check/check_packages.sh
#
# As root on Debian or Ubuntu it installs what is missing; otherwise it prints the command that does.
set -euo pipefail

goal=${1:-build}
host=$(uname -m)
missing=()

need() { # need PACKAGE TEST...: the package is missing when the test fails
    local package=$1
    shift
    case " ${missing[*]} " in *" $package "*) return ;; esac
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

has() { command -v "$1"; }
has_header() { echo "#include <$1>" | "${2:-cc}" -E -x c -; }
has_static_libc() { case $("$1" -print-file-name=libc.a) in /*) ;; *) return 1 ;; esac; }
has_emulator() { command -v qemu-s390x-static || command -v qemu-s390x; }
has_fuzzer() { echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c - -o /dev/null; }
has_python_header() { [ -f "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ]; }
has_browser() { command -v chromium || command -v google-chrome; }
has_rustc() { rustc --version || /usr/bin/rustc --version || ~/.cargo/bin/rustc --version; } # as tests/package/run.sh looks for it
has_nginx() { command -v nginx || command -v /usr/sbin/nginx; }
has_venv() { python3 -c 'import ensurepip, venv'; }

find_missing() {
    missing=()
    need make has make
    need gcc has cc
    need libc6-dev has_header stdio.h
    need cmake has cmake
    need ninja-build has ninja
    # The program reads .gz and .zst with them.
    need zlib1g-dev has_header zlib.h
    need libzstd-dev has_header zstd.h
    # oif serve
    need libmicrohttpd-dev has_header microhttpd.h
    need libgnutls28-dev has_header gnutls/gnutls.h
    need libjansson-dev has_header jansson.h
    need libcurl4-openssl-dev has_header curl/curl.h
    need libsnappy-dev has_header snappy-c.h # Prometheus remote write
    [ "$goal" = build ] && return
    if [ "$goal" = java ]; then
        need openjdk-17-jdk-headless has javac
        need maven has mvn
        need python3 has python3
        need python3-pip python3 -m pip --version
        return
    fi
    if [ "$goal" = aarch64 ]; then
        # The static one takes no plugins.
        need qemu-user has qemu-aarch64
        need gcc-aarch64-linux-gnu has aarch64-linux-gnu-gcc
        need libc6-dev-arm64-cross has_static_libc aarch64-linux-gnu-gcc
        need binutils has readelf
        need python3 has python3
        return
    fi

    need gcc has gcc
    need g++ has g++
    need pkg-config has pkg-config
    need ccache has ccache # the tests compile the same files in several folders
    need libcmocka-dev has_header cmocka.h
    need bats has bats
    need zstd has zstd
    need bzip2 has bzip2
    need xz-utils has xz
    need jq has jq
    need mandoc has mandoc
    need zsh has zsh
    need fish has fish
    need binutils has readelf
    need python3 has python3
    need python3-venv has_venv
    need python3-dev has_python_header
    need git has git # a test of the source archive
    [ "$goal" = test ] && return
    if [ "$goal" = packages ]; then
        need dpkg-dev has dpkg-buildpackage
        need debhelper has dh
        need fakeroot has fakeroot
        need lintian has lintian
        need debootstrap has debootstrap
        return
    fi

    need clang has clang
    need libclang-rt-dev has_fuzzer
    need llvm has llvm-symbolizer
    need valgrind has valgrind
    need cppcheck has cppcheck
    need clang-format has clang-format
    need shellcheck has shellcheck
    # What the pages of docs/manual run for real; without them make test leaves those pages out.
    need curl has curl
    need procps has vmstat
    need prometheus has prometheus
    need prometheus-alertmanager has prometheus-alertmanager
    need prometheus-node-exporter has prometheus-node-exporter
    need kcat has kcat
    need systemd has systemd-analyze
    need nginx-light has_nginx # a proxy before oif serve
    # The Java binding and Flink's operator.
    need openjdk-17-jdk-headless has javac
    need maven has mvn
    need rustc has_rustc # examples/scorer.rs
    # The live page is tested in it.
    need chromium has_browser
    # The other machines whose scores must have the same bits (tests/same_bits).
    need qemu-user-static has_emulator
    local machine debian_name
    for machine in x86_64:amd64 aarch64:arm64 s390x:s390x i686:i386; do
        debian_name=${machine#*:}
        machine=${machine%:*}
        [ "$machine" = "$host" ] && continue
        need "gcc-${machine/_/-}-linux-gnu" has "$machine-linux-gnu-gcc"
        need "libc6-dev-$debian_name-cross" has_static_libc "$machine-linux-gnu-gcc"
    done
    [ "$goal" = test-all ] && return

    need clang-tidy has clang-tidy
    need lcov has lcov
}

case $goal in build | test | test-all | develop | java | aarch64 | packages) ;; *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
find_missing
[ ${#missing[@]} -eq 0 ] && exit 0

install=(apt-get install -y --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "Missing: ${missing[*]}. On Debian or Ubuntu run:" >&2
    echo "    sudo apt-get update && sudo ${install[*]}" >&2
    exit 1
fi

exec 9>/run/oif-install-dependencies.lock # another checkout may install the same
flock 9
find_missing
[ ${#missing[@]} -eq 0 ] && exit 0
install=(apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 "${missing[@]}")
echo "Installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt() { apt-get -q update 9>&- && "${install[@]}" -q 9>&-; } # a daemon that apt starts must not keep the lock
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A mirror that fails once is not a reason to give up.
if ! apt >"$log" 2>&1 && ! { sleep 5; apt >"$log" 2>&1; }; then
    tail -n 20 "$log" >&2
    echo "apt-get failed; this is what is missing: ${missing[*]}" >&2
    exit 1
fi
find_missing
if [ ${#missing[@]} -ne 0 ]; then
    echo "Installed, but still not usable: ${missing[*]}" >&2
    exit 1
fi
