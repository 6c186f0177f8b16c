#!/usr/bin/env python3
"""Prints the SBOM (SPDX 2.3, JSON) of the files of a release.

    tools/build/make_sbom.py VERSION FOLDER      SOURCE_DATE_EPOCH is its time

It lists the packages, wheels and archives in FOLDER with their checksums, what each needs to run as its own metadata says,
and what was linked into a wheel (the file WHEEL.linked beside it, which tools/build/make_wheels.sh writes). No third-party source is
part of oif, so there is nothing else to list. The same files give the same bytes.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid
import zipfile
from pathlib import Path
from urllib.parse import quote

# Of what is linked into a wheel.
LICENSES = [
    (r"zlib1g-dev", "Zlib"),
    (r"libzstd-dev", "BSD-3-Clause"),
    (r"libgcc-[0-9]+-dev", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    (r"ziglang", "MIT"),
]

# ---- What a file needs ----


def deb_field(path, field):
    return subprocess.run(["dpkg-deb", "-f", path, field], capture_output=True, text=True, check=True).stdout.strip()


def deb_needs(path):
    """What a Debian package depends on, such as `libc6 (>= 2.34)`."""
    fields = [deb_field(path, field) for field in ("Pre-Depends", "Depends")]
    return [("deb", need.strip()) for field in fields for need in field.split(",") if need.strip()]


def wheel_needs(path):
    """What a wheel requires without extras."""
    with zipfile.ZipFile(path) as wheel:
        metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        lines = wheel.read(metadata).decode().splitlines()
    found = [line.split(":", 1)[1].strip() for line in lines if line.startswith("Requires-Dist:")]
    return [("pypi", need) for need in found if "extra ==" not in need]


def needs(path):
    return {".deb": deb_needs, ".whl": wheel_needs}.get(path.suffix, lambda _: [])(path)


def linked(path):
    """(kind, name, version) of what is part of a wheel."""
    beside = path.with_name(path.name + ".linked")
    return [line.split(maxsplit=2) for line in beside.read_text().splitlines()] if path.suffix == ".whl" else []


# ---- As SPDX has it ----


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")


def entry(name, version, license_name, copyright_text, **more):
    return {
        "SPDXID": identifier(name),
        "name": name,
        **({"versionInfo": version} if version else {}),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": license_name,
        "licenseDeclared": license_name,
        "copyrightText": copyright_text,
        **more,
    }


def product(path, version):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return entry(path.name, version, "MIT", "Copyright (c) 2026 the oif developers",
                 checksums=[{"algorithm": "SHA256", "checksumValue": digest}])


def other(kind, name, version=""):
    """A package of someone else, by its name in Debian or on PyPI."""
    license_name = next((found for pattern, found in LICENSES if re.fullmatch(pattern, name)), "NOASSERTION")
    place = f"pkg:{kind}/{'debian/' if kind == 'deb' else ''}{quote(name)}" + (f"@{quote(version, safe=':')}" if version else "")
    reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": place}
    return entry(name, version, license_name, "NOASSERTION",
                 **{"SPDXID": identifier(f"{kind}-{name}"), "externalRefs": [reference]})


def relation(one, kind, another, comment=""):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": another,
            **({"comment": comment} if comment else {})}


def is_product(path):
    return path.suffix in (".deb", ".whl", ".dsc") or ".tar." in path.name


def describe(version, folder):
    """(packages by identifier, relations) of the files in the folder."""
    paths = sorted(path for path in folder.iterdir() if is_product(path))
    packages = {ours["SPDXID"]: ours for ours in (product(path, version) for path in paths)}
    by_name = {("deb", deb_field(path, "Package")): identifier(path.name) for path in paths if path.suffix == ".deb"}
    relations = []
    for path in paths:
        ours = identifier(path.name)
        relations.append(relation("SPDXRef-DOCUMENT", "DESCRIBES", ours))
        for kind, need in needs(path):
            name = re.match(r"[A-Za-z0-9.+_-]+", need).group()
            theirs = by_name.get((kind, name))
            if not theirs:
                theirs = packages.setdefault(identifier(f"{kind}-{name}"), other(kind, name))["SPDXID"]
            relations.append(relation(ours, "DEPENDS_ON", theirs, need))
        for kind, name, *known in linked(path):
            part = other(kind, name, *known)
            packages[part["SPDXID"]] = part
            relations.append(relation(ours, "STATIC_LINK", part["SPDXID"]))
    return packages, relations


def main(version, folder):
    packages, relations = describe(version, Path(folder))
    made = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    content = json.dumps([list(packages.values()), relations])
    json.dump({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"oif-{version}",
        "documentNamespace": uuid.uuid5(uuid.NAMESPACE_OID, content).urn,
        "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": [f"Tool: make_sbom.py-{version}"]},
        "packages": list(packages.values()),
        "relationships": relations,
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
