"""What is installed from: one wheel for every Python from 3.9 on, and an sdist that needs no network to become it."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import CHECKOUT

pytest.importorskip("scikit_build_core")


@pytest.fixture(scope="module")
def wheel():
    found = sorted((CHECKOUT / "build" / "wheel").glob("online_iforest-*.whl"))
    if len(found) != 1:
        pytest.fail("build/wheel holds no wheel; tools/build/make_venv.sh test makes it")
    return found[0]


def run(*command, **options):
    done = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_keeps_to_the_limited_api(wheel):
    pytest.importorskip("abi3audit")
    assert "-cp39-abi3-" in wheel.name
    report = json.loads(run("abi3audit", "--strict", "--report", wheel))
    ((audited,),) = (part["wheel"] for part in report["specs"].values())
    assert audited["result"]["is_abi3_baseline_compatible"] and not audited["result"]["non_abi3_symbols"]


def test_the_python_sources_run_on_3_9():
    pytest.importorskip("vermin")
    main = "import sys, vermin; sys.exit(vermin.main())"
    options = ["--target=3.9-", "--violations", "--no-tips", str(CHECKOUT / "python" / "oif")]
    done = subprocess.run([sys.executable, "-c", main, *options], capture_output=True, text=True)
    assert done.returncode == 0 and "Minimum required versions: 3.9" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel knows Linux only")
def test_the_wheel_needs_nothing_but_the_c_library(wheel):
    pytest.importorskip("auditwheel")
    assert "manylinux" in run("auditwheel", "show", wheel)


def test_the_wheel_holds_the_types_and_the_program(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"oif/py.typed", "oif/_core.pyi", "oif/_core.abi3.so"} <= set(names)
    assert any(name.endswith(".data/scripts/oif") for name in names)


def test_the_sdist_builds_without_a_network(tmp_path):
    make = f"import scikit_build_core.build as b; print(b.build_sdist({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", make], cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (sdist,) = tmp_path.glob("online_iforest-*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    folders = {path.name for path in folder.iterdir()}
    assert {"include", "src", "python", "front", "cli", "LICENSE"} <= folders and not {"tests", "benchmarks", "build"} & folders
    no_network = {
        **os.environ,
        "PIP_NO_INDEX": "1",
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
        "CCACHE_BASEDIR": str(folder),  # run_tests.sh has compiled the same files with the same options elsewhere
    }
    system = Path("/usr/bin/cmake")  # Debian's, not the newer one of PyPI
    if system.exists():
        no_network["CMAKE_EXECUTABLE"] = str(system)
    log = tmp_path / "pip.log"
    run("pip", "wheel", "--quiet", "--log", log, "--no-build-isolation", "--no-deps", "--wheel-dir", tmp_path,
        f"--config-settings=build-dir={folder / 'build' / 'python'}", "--config-settings=cmake.define.OIF_WERROR=ON",
        folder, env=no_network)  # fmt: skip
    assert list(tmp_path.glob("online_iforest-*.whl"))
    if system.exists():
        version = subprocess.run([system, "--version"], capture_output=True, text=True).stdout.split()[2]
        assert f"using CMake {version}" in log.read_text()
