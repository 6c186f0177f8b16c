#!/usr/bin/env python3
"""Prepares the pages of the documentation site for MkDocs, as `make docs` does.

    tools/docs/make_docs.py OIF FOLDER      OIF is the program, FOLDER becomes the docs_dir of mkdocs.yml

Pages keep their places, so their links work as on a file system; files that they link to come along. Three pages
are made from the sources: the options of each command (`oif COMMAND --help-all`), the C API (include/*.h), and the
start page. tools/docs/site has the mark and the colours. A page that mkdocs.yml does not name is listed under "More".
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tools" / "check"))

import check_docs  # noqa: E402  (tools/check is on the path only now)

COMMANDS = ("score", "eval", "serve", "state", "state inspect", "state feedback", "state size", "demo")
HEADERS = ("oif.h", "oif_rows.h")
START_HEAD = "---\nhide: [navigation]\n---\n"  # the start page has no other pages beside it
LOOKS = ("tools/docs/site/oif.css", "tools/docs/site/mark.svg", "serve/page/icon.svg")


# ---- Pages made from the sources ----


def options_page(oif):
    """What each command prints with --help-all."""
    lines = ["# Options", "", "What each command prints with `--help-all`.", ""]
    for command in COMMANDS:
        result = subprocess.run([oif, *command.split(), "--help-all"], capture_output=True, text=True)
        if result.returncode == 0:
            lines += [f"## oif {command}", "", "```text", result.stdout.rstrip(), "```", ""]
    return "\n".join(lines)


def comment_text(comment):
    """The words of a C comment. Examples, which are indented, and tables of statuses stay as they are."""
    lines = [re.sub(r"^\s*(/\*+|\*(?!/))\s?", "", line).replace("*/", "").rstrip() for line in comment.splitlines()]
    kept, block, is_item = [], [], False

    def close_block():
        if block:
            kept.extend(["", "```text", textwrap.dedent("\n".join(block)).strip("\n"), "```", ""])
            block.clear()

    for line in lines:
        if not line:
            (block or kept).append("")
            is_item = False
        elif re.match(r" {2,3}- ", line) or not re.match(r" {4}|OIF_E?[A-Z, _]+ {2,}", line):
            close_block()
            is_item = line.startswith("  ")
            kept.append(line.strip())
        elif is_item and not line.startswith("      "):
            kept.append(line)  # an item of a list continues
        else:
            block.append(line)
    close_block()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def declarations(text):
    """Yields (heading, comment, code) of a header, either the heading or the code; the comment may be missing."""
    text = text[text.index("*/") + 2 :]
    code = r"(?:[^\n]+\n)+"
    pattern = rf"^/\* ---- (.*?) ---- \*/$|^(/\*(?! ----).*?\*/)\n({code})|^((?:typedef|OIF_API){code})"
    for section, comment, described, bare in re.findall(pattern, text, re.MULTILINE | re.DOTALL):
        yield section, comment, described or bare


def name_of(code):
    """The first name that a declaration introduces."""
    for pattern in (r"\b(oif_\w+)\(", r"#define (OIF_\w+)", r"typedef .*?(?:struct|enum) (oif_\w+)", r"\(\*(oif_\w+)\)", r"\b(OIF_\w+)\b"):
        found = re.search(pattern, code)
        if found:
            return found[1]
    return None


def plain_code(code):
    """Without the macros before a function; the lines below it stay aligned."""
    shift = 0
    lines = []
    for line in code.rstrip().split("\n"):
        macros = re.match(r"OIF_API (?:OIF_MUST_CHECK )?", line)
        if macros:
            shift = macros.end()
        lines.append(line[shift:] if macros or line[:shift].isspace() else line)
    return "\n".join(lines)


def c_api_page():
    lines = ["# C API", "", "Made from the public headers, which have the same text.", ""]
    for header in HEADERS:
        text = (CHECKOUT / "include" / header).read_text(encoding="utf-8")
        lines += [f"## {header}", "", comment_text(text[: text.index("*/")]), ""]
        for section, comment, code in declarations(text):
            if section:
                lines += [f"### {section}", ""]
            elif name_of(code):
                lines += [f"#### `{name_of(code)}`", "", comment_text(comment), "", "```c", plain_code(code), "```", ""]
    return "\n".join(lines)


# ---- Copies ----


def copy_page(page, folder):
    """Copies a page and the files that it links to. A link to a folder becomes one to its README, or plain text."""

    def mend(match):
        target = match[2]
        if re.match(r"[a-z][a-z+.-]*:|//|#", target):
            return match[0]
        path = (page.parent / target.partition("#")[0]).resolve()
        if path.is_dir():
            return f"[{match[1]}]({target.rstrip('/')}/README.md)" if (path / "README.md").exists() else match[1]
        copy_file(path, folder)
        return match[0]

    text = page.read_text(encoding="utf-8")
    # A fence with a file name: MkDocs would take the name for an option.
    text = re.sub(r"^```(\w+) [\w.]+$", r"```\1", text, flags=re.MULTILINE)
    text = re.sub(r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)", mend, text)
    for image in re.findall(r"!\[[^\]]*\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", text):
        target = image[0] or image[1]
        if not re.match(r"[a-z]+:", target):
            copy_file((page.parent / target).resolve(), folder)
    write(folder / page.relative_to(CHECKOUT), text)


def copy_file(path, folder):
    if path.suffix != ".md" and path.is_file():
        copy = folder / path.relative_to(CHECKOUT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def complete_navigation(folder):
    """build/mkdocs.yml: mkdocs.yml with the pages that it does not name."""
    settings = (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r": ([\w./-]+\.md)$", settings, re.MULTILINE))
    others = sorted(str(page.relative_to(folder)) for page in folder.rglob("*.md"))
    others = [page for page in others if page not in named]
    if others:
        settings += "  - More:\n" + "".join(f"      - {page}\n" for page in others)
    (folder.parent / "mkdocs.yml").write_text(settings, encoding="utf-8")


def main(oif, folder):
    folder = Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    for page in check_docs.pages():
        copy_page(page, folder)
    write(folder / "docs" / "options.md", options_page(oif))
    write(folder / "docs" / "c-api.md", c_api_page())
    write(folder / "index.md", START_HEAD + (folder / "README.md").read_text(encoding="utf-8"))
    os.remove(folder / "README.md")
    for page in folder.rglob("*.md"):  # the README is the start page
        text = page.read_text(encoding="utf-8")
        up = "../" * (len(page.relative_to(folder).parts) - 1)
        page.write_text(re.sub(rf"\]\({re.escape(up)}README\.md", f"]({up}index.md", text), encoding="utf-8")
    for name in LOOKS:
        copy = folder / "site" / Path(name).name
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(CHECKOUT / name, copy)
    complete_navigation(folder)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
