#!/usr/bin/env bash
# Makes the files of a release in build/packages, from the last commit: Debian packages, the source archive, the wheel of this
# machine and the sdist, an SBOM, SHA256SUMS. docs/release.md says what to do with them.
#
#   tools/build/make_packages.sh             all of it twice, in other folders with another locale and time zone; every bit must be the same
#   tools/build/make_packages.sh --source FOLDER      only the source archive, into FOLDER
#
# lintian must report no error and no warning. DEB_BUILD_OPTIONS= (empty) also runs the tests of the library as Debian's flags compile
# it, in the first build. To try things out: PATH=/usr/lib/ccache:$PATH compiles only what changed.
set -euo pipefail

cd "$(dirname "$0")/../.."
top=$PWD
out=$top/build/packages
umask 022

fail() { echo "make_packages: $*" >&2; exit 1; }
logged() { # logged LOG COMMAND...
    "${@:2}" >"$1" 2>&1 || { tail -n 40 "$1" >&2; fail "${*:2} failed; $1 has all of it"; }
}

make_archive() { # make_archive FOLDER: oif-VERSION.tar.gz, the files of the last commit
    git -c tar.umask=0022 archive --format=tar --prefix="oif-$version/" "$commit" | gzip -9n >"$1/oif-$version.tar.gz"
}

build_debs() { (cd "$1" && dpkg-buildpackage --no-sign); }

make_debs() { # make_debs FOLDER
    local tree=$1/oif-$version
    cp "$1/oif-$version.tar.gz" "$1/oif_$version.orig.tar.gz"
    tar -xf "$1/oif-$version.tar.gz" -C "$1"
    cp -r "$tree/packaging/debian" "$tree/debian"
    logged "$1/debs.log" build_debs "$tree"
    rm -rf "$tree"
}

make_wheels() { # make_wheels FOLDER: of this machine, and the sdist
    local tree=$1/oif-$version
    tar -xf "$1/oif-$version.tar.gz" -C "$1"
    logged "$1/wheels.log" env OIF_WHEELS_VENV="$top/build/wheels-venv" "$tree/tools/build/make_wheels.sh" "$(uname -m)-gnu" sdist
    cp "$tree"/build/wheels/*.{whl,linked,tar.gz} "$1/"
    rm -rf "$tree"
}

make_all() { # make_all FOLDER
    local -x CCACHE_NAMESPACE=$1 # or the second build could be the first one's objects
    mkdir -p "$1"
    make_archive "$1"
    make_debs "$1"
    make_wheels "$1"
    tools/build/make_sbom.py "$version" "$1" >"$1/oif-$version.spdx.json"
}

# All of them have the same bits wherever they are made; .buildinfo says when and with which versions they were.
products() { # products FOLDER
    find "$1" -maxdepth 1 -type f -regextype posix-extended -regex '.*\.(deb|dsc|tar\.[gx]z|whl|spdx\.json)' -printf '%f\n' | sort
}

compare() { # compare FOLDER FOLDER
    local file
    [ "$(products "$1")" = "$(products "$2")" ] || fail "the second build made other files"
    for file in $(products "$1"); do
        cmp "$1/$file" "$2/$file" || fail "$file differs when it is built again; both are in $out, diffoscope shows where"
    done
}

commit=$(git rev-parse --verify --quiet HEAD) || fail "needs git and a checkout: what is packed is the last commit"
version=$(sed -nE 's/^#define OIF_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' include/oif.h | paste -sd.)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
    fail "files differ from the last commit, which is what is packed: git commit or git stash first"
case ${1:-} in
--source) mkdir -p "${2:?}" && make_archive "$2" && exit ;;
'') ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
debian_version=$(sed -nE '1s/^oif \((.*)-[^-]*\).*/\1/p' packaging/debian/changelog)
[ "$debian_version" = "$version" ] || fail "packaging/debian/changelog begins with $debian_version, include/oif.h says $version"

options="${DEB_BUILD_OPTIONS-nocheck} parallel=$(nproc)" # make test-all ran them; they double the time
export CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache} # dh has another HOME
rm -rf "$out"
DEB_BUILD_OPTIONS=$options LC_ALL=C.UTF-8 TZ=UTC make_all "$out/first"
echo "built once: $SECONDS s"
# A longer path, as another builder's may be.
DEB_BUILD_OPTIONS="nocheck $options" LC_ALL=C TZ=Asia/Kathmandu make_all "$out/again/in/another/place"
echo "built twice: $SECONDS s"
compare "$out/first" "$out/again/in/another/place"
echo "same bits: $(products "$out/first" | wc -l) files"
# The tag that is left out is about packages to be uploaded to Debian itself.
lintian --no-cfg --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$out"/first/*.{dsc,deb}
echo "lintian: no errors, no warnings"
for file in $(products "$out/first") "$(cd "$out/first" && echo ./*.buildinfo)"; do
    mv "$out/first/$file" "$out/"
done
rm -rf "$out/again" "$out/first"
(cd "$out" && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
(cd "$out" && ls -l)
echo "$SECONDS s"
