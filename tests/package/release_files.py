#!/usr/bin/env python3
"""The short form of `make packages`: the source archive has the same bits whenever and wherever it is made, and the SBOM
lists what small packages contain and need. The long form builds the real ones twice."""
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT / "tests/tools"))
from folder import Folder  # noqa: E402
HEADER = "#define OIF_VERSION_MAJOR 3\n#define OIF_VERSION_MINOR 1\n#define OIF_VERSION_PATCH 4\n"


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


class SourceArchive(Folder):
    """A checkout of three files and the tool."""

    def setUp(self):
        super().setUp()
        self.tool = self.write("checkout/tools/build/make_packages.sh", "")
        shutil.copy(CHECKOUT / "tools/build/make_packages.sh", self.tool)
        self.write("checkout/include/oif.h", HEADER)
        self.write("checkout/.gitignore", "/build/\n")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "first", env={"GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"})

    def git(self, *arguments, env=()):
        people = {f"GIT_{who}_{what}": "a@b.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        run("git", "-C", self.folder / "checkout", *arguments, env={**os.environ, **people, **alone, **dict(env)})

    def archive(self, name, **env):
        run(self.tool, "--source", self.folder / name, env={**os.environ, **env})
        return self.folder / name / "oif-3.1.4.tar.gz"

    def test_two_archives_of_a_commit_have_the_same_bits(self):
        first = self.archive("first", TZ="UTC", LC_ALL="C.UTF-8").read_bytes()
        os.utime(self.folder / "checkout/include/oif.h", (1e9, 1e9))
        os.chmod(self.folder / "checkout/include/oif.h", 0o600)
        second = self.archive("second/place", TZ="Asia/Kathmandu", LC_ALL="C").read_bytes()
        self.assertEqual(hashlib.sha256(first).hexdigest(), hashlib.sha256(second).hexdigest())
        self.assertEqual(first[4:8], bytes(4), "gzip's header has the time at which it ran")
        self.assertTrue(gzip.decompress(first))

    def test_an_archive_has_the_files_of_the_commit_at_its_time(self):
        with tarfile.open(self.archive("first")) as archive:
            files = {member.name: member for member in archive if member.isfile()}
        self.assertEqual(sorted(files), ["oif-3.1.4/.gitignore", "oif-3.1.4/include/oif.h", "oif-3.1.4/tools/build/make_packages.sh"])
        self.assertEqual({member.mtime for member in files.values()}, {1767323045})
        self.assertEqual(oct(files["oif-3.1.4/include/oif.h"].mode), "0o644")

    def test_changes_that_are_not_committed_are_refused(self):
        self.write("checkout/include/oif.h", HEADER + "\n")
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            self.archive("first")
        self.assertIn("git commit or git stash first", caught.exception.stderr)


@unittest.skipUnless(shutil.which("dpkg-deb"), "dpkg-deb is not installed")
class Sbom(Folder):
    """Two small Debian packages, one of which needs the other, a wheel with what was linked into it, archives."""

    def setUp(self):
        super().setUp()
        self.make_deb("liboif0.1", "Depends: libc6 (>= 2.34)\n")
        self.make_deb("liboif-dev", "Depends: liboif0.1 (= 3.1.4-1), libc6-dev | libc-dev\n")
        with zipfile.ZipFile(self.folder / "small-3.1.4-py3-none-any.whl", "w") as wheel:
            wheel.writestr("small-3.1.4.dist-info/METADATA",
                           "Name: small\nRequires-Dist: numpy>=1.23\nRequires-Dist: river>=0.21; extra == 'river'\n")
        self.write("small-3.1.4-py3-none-any.whl.linked", "deb zlib1g-dev 1:1.2.13+dfsg\npypi ziglang 0.17.0\ngeneric libzstd.a\n")
        self.archives = [f"{letter}-3.1.4.tar.gz" for letter in "abcdefgh"]
        for name in self.archives:
            self.write(name, "an archive")
        self.write("debs.log", "not a product")

    def make_deb(self, name, more):
        text = f"Package: {name}\nVersion: 3.1.4-1\nArchitecture: all\nMaintainer: a <a@b.invalid>\nDescription: small\n{more}"
        self.write(f"tree/{name}/DEBIAN/control", text)
        run("dpkg-deb", "--root-owner-group", "-b", self.folder / "tree" / name, self.folder / f"{name}_3.1.4-1_all.deb")

    def sbom_text(self, folder=None):
        env = {**os.environ, "SOURCE_DATE_EPOCH": "1767323045"}
        return run(CHECKOUT / "tools/build/make_sbom.py", "3.1.4", folder or self.folder, env=env)

    def relations(self, kind):
        found = json.loads(self.sbom_text())["relationships"]
        return sorted((r["spdxElementId"][8:], r["relatedSpdxElement"][8:], r.get("comment", "")) for r in found
                      if r["relationshipType"] == kind)

    def test_the_same_files_elsewhere_give_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            for path in sorted(self.folder.glob("*.*"), reverse=True):
                shutil.copy(path, elsewhere)
            self.assertEqual(self.sbom_text(), self.sbom_text(elsewhere))

    def test_products_are_described_with_their_checksums(self):
        packages = {package["name"]: package for package in json.loads(self.sbom_text())["packages"]}
        products = [name for name, package in packages.items() if "checksums" in package]
        self.assertEqual(products, [*self.archives, "liboif-dev_3.1.4-1_all.deb", "liboif0.1_3.1.4-1_all.deb",
                                    "small-3.1.4-py3-none-any.whl"])  # sorted, whatever the order of the folder
        for name in products:
            expected = hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
            self.assertEqual(packages[name]["checksums"], [{"algorithm": "SHA256", "checksumValue": expected}])
        self.assertEqual(len(self.relations("DESCRIBES")), len(products))

    def test_needs_name_our_own_packages_and_those_of_others(self):
        self.assertEqual(self.relations("DEPENDS_ON"), [
            ("liboif-dev-3.1.4-1-all.deb", "deb-libc6-dev", "libc6-dev | libc-dev"),
            ("liboif-dev-3.1.4-1-all.deb", "liboif0.1-3.1.4-1-all.deb", "liboif0.1 (= 3.1.4-1)"),
            ("liboif0.1-3.1.4-1-all.deb", "deb-libc6", "libc6 (>= 2.34)"),
            ("small-3.1.4-py3-none-any.whl", "pypi-numpy", "numpy>=1.23"),
        ])

    def test_what_is_linked_into_a_wheel_has_a_version_and_a_license(self):
        wheel = "small-3.1.4-py3-none-any.whl"
        self.assertEqual(self.relations("STATIC_LINK"), [(wheel, "deb-zlib1g-dev", ""), (wheel, "generic-libzstd.a", ""),
                                                         (wheel, "pypi-ziglang", "")])
        packages = {package["name"]: package for package in json.loads(self.sbom_text())["packages"]}
        zlib = packages["zlib1g-dev"]
        self.assertEqual((zlib["versionInfo"], zlib["licenseDeclared"]), ("1:1.2.13+dfsg", "Zlib"))
        self.assertNotIn("versionInfo", packages["libzstd.a"])  # the license of an unknown one is not asserted
        self.assertEqual(packages["libzstd.a"]["licenseDeclared"], "NOASSERTION")
        self.assertEqual(zlib["externalRefs"][0]["referenceLocator"], "pkg:deb/debian/zlib1g-dev@1:1.2.13%2Bdfsg")

    def test_the_document_is_what_spdx_asks_for(self):
        sbom = json.loads(self.sbom_text())
        self.assertEqual((sbom["spdxVersion"], sbom["dataLicense"], sbom["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertEqual(sbom["creationInfo"]["created"], "2026-01-02T03:04:05Z")
        self.assertRegex(sbom["documentNamespace"], r"^urn:uuid:[0-9a-f-]{36}$")
        names = [package["SPDXID"] for package in sbom["packages"]]
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertTrue(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name), name)
        for found in sbom["relationships"]:
            self.assertIn(found["relatedSpdxElement"], names)
            self.assertIn(found["spdxElementId"], [*names, "SPDXRef-DOCUMENT"])


if __name__ == "__main__":
    unittest.main()
