#!/usr/bin/env python3
"""Makes an OCI image of `oif serve` from an installed oif: the programs, the shared libraries that they need, and nothing else.

usage: make_image.py PREFIX IMAGE.tar [--tag NAME:TAG]

PREFIX is where oif was installed. There is no shell and no package manager in the image, and the same input gives the same
bytes. The file is an OCI archive, which podman and skopeo read, and docker load, too:

    docker load < IMAGE.tar
    docker run -v oif:/var/lib/oif -v ./token:/token:ro -p 8571:8571 oif-serve --listen=0.0.0.0:8571 --data=/var/lib/oif --token-file=/token
"""
import argparse
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

USER = 65532  # as in other images without a shell
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
TEXTS = {
    "etc/passwd": f"root:x:0:0:root:/:/sbin/nologin\noif:x:{USER}:{USER}:oif:/var/lib/oif:/sbin/nologin\n",
    "etc/group": f"root:x:0:\noif:x:{USER}:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}
# folder: (owner, mode)
FOLDERS = {"tmp": (0, 0o1777), "var/lib/oif": (USER, 0o700)}
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def libraries(program):
    """The shared libraries of a program, and the loader: their paths, as the loader looks for them."""
    printed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    if "not found" in printed:
        sys.exit(f"{program}: a library is missing:\n{printed}")
    return re.findall(r"(?:=> )?(/\S+) \(0x", printed)


def contents(prefix):
    """{path in the image: (bytes, mode)}"""
    programs = [prefix / "bin" / "oif", *prefix.glob("**/oif-serve")]
    if len(programs) < 2:
        sys.exit(f"{prefix}: there is no oif-serve; libmicrohttpd, GnuTLS, jansson and libcurl are needed to build it")
    files = {name: (text.encode(), 0o644) for name, text in TEXTS.items()}
    for program in programs:
        files["usr/" + str(program.relative_to(prefix))] = (program.read_bytes(), 0o755)
        for library in libraries(program):
            files[library.lstrip("/")] = (Path(library).read_bytes(), 0o755)
    if os.path.exists(CERTIFICATES):
        files[CERTIFICATES.lstrip("/")] = (Path(CERTIFICATES).read_bytes(), 0o644)
    return files


def entry(name, kind, mode, owner=0, size=0):
    made = tarfile.TarInfo(name)
    made.type, made.mode, made.size = kind, mode, size
    made.uid = made.gid = owner
    return made


def make_layer(files):
    folders = {str(parent): (0, 0o755) for name in [*files, *FOLDERS] for parent in Path(name).parents if str(parent) != "."}
    folders.update(FOLDERS)
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (owner, mode) in sorted(folders.items()):
            archive.addfile(entry(name, tarfile.DIRTYPE, mode, owner))
        for name, (content, mode) in sorted(files.items()):
            archive.addfile(entry(name, tarfile.REGTYPE, mode, size=len(content)), io.BytesIO(content))
    return layer.getvalue()


def digest(content):
    return hashlib.sha256(content).hexdigest()


def described(kind, content):
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest(content)}", "size": len(content)}


def make_image(files, tag):
    """{path in the archive: bytes}"""
    layer = make_layer(files)
    packed = gzip.compress(layer, compresslevel=6, mtime=0)
    config = json.dumps(
        {
            "architecture": MACHINES.get(os.uname().machine, os.uname().machine),
            "os": "linux",
            "config": {
                "User": f"{USER}:{USER}",
                "Entrypoint": ["/usr/libexec/oif/oif-serve", "serve"],
                "Cmd": ["--data=/var/lib/oif"],
                "ExposedPorts": {"8571/tcp": {}},
                "Volumes": {"/var/lib/oif": {}},
                "WorkingDir": "/var/lib/oif",
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(layer)}"]},
        }
    ).encode()
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": described("config.v1+json", config),
            "layers": [described("layer.v1.tar+gzip", packed)],
        }
    ).encode()
    named = {**described("manifest.v1+json", manifest), "annotations": {"org.opencontainers.image.ref.name": tag.split(":")[-1]}}
    blobs = {f"blobs/sha256/{digest(one)}": one for one in (packed, config, manifest)}
    older = [{"Config": f"blobs/sha256/{digest(config)}", "RepoTags": [tag], "Layers": [f"blobs/sha256/{digest(packed)}"]}]
    return {
        **blobs,
        "index.json": json.dumps({"schemaVersion": 2, "manifests": [named]}).encode(),
        "manifest.json": json.dumps(older).encode(),  # for docker load before version 25
        "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("prefix", type=Path)
    parser.add_argument("image", type=Path)
    parser.add_argument("--tag", default="oif-serve:latest")
    arguments = parser.parse_args()
    image = make_image(contents(arguments.prefix), arguments.tag)
    with tarfile.open(arguments.image, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(image.items()):
            archive.addfile(entry(name, tarfile.REGTYPE, 0o644, size=len(content)), io.BytesIO(content))
    print(f"{arguments.image}: {arguments.image.stat().st_size / 1e6:.0f} MB, {arguments.tag}")


if __name__ == "__main__":
    main()
