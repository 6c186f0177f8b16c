"""What instruction counts depend on: the kind of processor and the compiler."""

import platform
import re
import subprocess
from pathlib import Path


def machine():
    """The kind of processor as far as the library's code depends on it."""
    name = platform.machine()
    if name == "x86_64":
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
        name += "-avx2" if re.search(r"^flags\s*:.*\bavx2\b", flags, re.MULTILINE) else "-without-avx2"
    return name


def compiler(program):
    """What the program was built with, from the section that compilers leave in it."""
    text = subprocess.run(["readelf", "-p", ".comment", program], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"(GCC: .*|clang version \S+.*)", text)
    return found[0].strip() if found else "unknown"
