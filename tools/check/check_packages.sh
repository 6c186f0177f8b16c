#!/usr/bin/env bash
# Installs the Debian packages of a folder into a bare Debian, uses them there, purges them and looks for what they leave behind.
#
#   tools/check/check_packages.sh [FOLDER]      build/packages if none is named, as `make packages` fills it
#
# As root. debootstrap makes the bare root build/packages-root, with the release and the mirror of this machine; it is kept if a
# check fails. Scores must be those that docs/manual/shell.md shows.
set -euo pipefail

cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh packages
packages=${1:-build/packages}
root=$PWD/build/packages-root
log=$root.log
passed=0

fail() { echo "check_packages: $*" >&2; exit 1; }

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }

check() { # check WHAT COMMAND...
    if ! "${@:2}" >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        fail "failed: $1"
    fi
    passed=$((passed + 1))
    printf '%3d s  %s\n' "$SECONDS" "$1"
}

unmount() { ! mountpoint -q "$root/proc" || umount "$root/proc"; }

make_root() {
    local suite mirror file
    # shellcheck disable=SC1091
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # shellcheck disable=SC2016 # apt-get replaces it
    mirror=$(apt-get indextargets --format '$(SITE)' "Codename: $suite" | head -n 1)
    [ -n "$mirror" ] || { echo "no mirror of $suite in apt's sources: apt-get update"; return 1; }
    debootstrap --variant=minbase "$suite" "$root" "$mirror" || return
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" || return # oif finds its server by /proc/self/exe
    rm -rf "$root"/etc/apt/sources.list*
    for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/resolv.conf /etc/hosts; do
        [ ! -e "$file" ] || cp -rL "$file" "$root$file" || return
    done
    mkdir "$root/tmp/packages" && cp "$packages"/*.deb "$root/tmp/packages/" && inside apt-get -q update
}

install() { inside apt-get install -qy --no-install-recommends "$@"; }
package() { (cd "$root/tmp/packages" && printf '/tmp/packages/%s' "$1"_*.deb); } # its path inside

# Every path but those that the package manager and the kernel keep for themselves.
list_files() {
    (cd "$root" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./var/cache -o -path ./var/log \
        -o -path ./var/lib/apt -o -path './var/lib/dpkg/*-old' -o -path ./var/lib/dpkg/triggers \) -prune -o -print) | sort
}

purge() { # purge LIST PACKAGE...: nothing but what is in LIST is left
    inside apt-get purge -qy --auto-remove "${@:2}" && list_files | diff "$1" -
}

says_version() { [ "$(inside oif --version)" = "oif $version" ]; }

scores_pump() { # as the page says
    inside sh -c 'oif demo pump > /tmp/pump.csv &&
        oif score --label label --time time --alert-rate 0.0001 --rows episodes --fields severity,why --digits 3 /tmp/pump.csv' |
        head -n 5 >"$root/tmp/scored.csv"
    [ "$(wc -l <"$root/tmp/scored.csv")" -eq 5 ] &&
        sed -n '/^time,flow,pressure,temperature,label,severity,why$/,/^```$/p' docs/manual/shell.md | head -n 5 | diff - "$root/tmp/scored.csv"
}

serves() { # its libraries are there, and it answers
    local address="" i server answered
    (exec chroot "$root" timeout 60 oif serve --listen 127.0.0.1:0 --data /tmp/data >"$root/tmp/serve.log" 2>&1) &
    server=$!
    for ((i = 0; i < 100 && ${#address} == 0; i++)); do
        sleep 0.1
        address=$(sed -n 's/^oif: listening on //p' "$root/tmp/serve.log")
    done
    cat "$root/tmp/serve.log"
    python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1] + "/readyz", timeout=10).read())' "$address"
    answered=$?
    kill "$server"
    wait "$server" || true
    return "$answered"
}

has_files() { # has_files FILE...
    local file
    for file; do
        [ -s "$root/$file" ] || { echo "$file is missing or empty"; return 1; }
    done
}

compiles_examples() {
    cp examples/*.c "$root/tmp/" || return
    # shellcheck disable=SC2016 # for the shell inside
    inside sh -ec 'cd /tmp
        for name in scorer alerts; do cc -Wall -Werror $name.c $(pkg-config --cflags --libs oif) -o $name; done
        cc -Wall -Werror scorer.c -static $(pkg-config --static --cflags --libs oif) -o scorer-static
        printf "60,4\n61,4.1\n" | ./scorer > scored.txt
        printf "60,4\n61,4.1\n" | ./scorer-static | diff scored.txt -
        grep "^2 rows" scored.txt
        printf "web 0.3 120\ndb 0.7 80\n" | ./alerts
        readelf -d scorer | grep "NEEDED.*liboif.so"'
}

[ "$(id -u)" -eq 0 ] || fail "run it as root, as debootstrap and chroot need: sudo $0"
compgen -G "$packages/oif_*.deb" >/dev/null || fail "$packages has no packages: make packages"
version=$(sed -nE 's/^#define OIF_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' include/oif.h | paste -sd.)
unmount
rm -rf --one-file-system "$root"
trap unmount EXIT
check "debootstrap makes a bare root" make_root

list_files >"$root.bare"
check "oif installs with what it depends on" install "$(package oif)"
check "oif --version is $version" says_version
check "oif score gives what docs/manual/shell.md shows" scores_pump
check "oif serve answers" serves
check "manual pages, completions, the unit and the examples are there" has_files usr/share/man/man1/oif.1.gz usr/share/man/man1/oif-score.1.gz \
    usr/share/bash-completion/completions/oif usr/share/zsh/vendor-completions/_oif usr/share/fish/vendor_completions.d/oif.fish \
    lib/systemd/system/oif-serve.service usr/share/doc/oif/copyright usr/share/doc/oif/examples/nyc_taxi.csv usr/share/doc/oif/examples/prometheus/oif_rules.yml \
    usr/share/doc/oif/examples/grafana/oif_serve.json usr/share/doc/oif/examples/kubernetes/oif_serve.yaml
check "bash reads its completion" inside bash -n /usr/share/bash-completion/completions/oif
check "purging oif leaves nothing behind" purge "$root.bare" oif

check "a compiler installs" install gcc libc6-dev pkg-config
list_files >"$root.compiler"
check "liboif-dev installs with liboif0.1" install "$(package liboif0.1)" "$(package liboif-dev)"
check "the manual pages of the library are there" has_files usr/share/man/man3/oif_detector_learn.3.gz usr/share/doc/liboif-dev/copyright
check "examples compile with pkg-config, shared and static, and run" compiles_examples
check "purging the library leaves nothing behind" purge "$root.compiler" liboif-dev liboif0.1

unmount
du -sm "$root" | sed 's/\t.*/ MB of bare root with a compiler/'
rm -rf --one-file-system "$root" "$root".*
echo "$passed passed, 0 failed"
