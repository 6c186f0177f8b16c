#!/usr/bin/env python3
"""Checks what clang-format cannot: lines that are too long, torn declarations and strings, include circles, and code that
decides by the words of an error message instead of its cause.

    tools/check/check_style.py                       everything
    tools/check/check_style.py FOLDER...             only the lines of these folders, such as tests or src/base
    tools/check/check_style.py --circles             only the circles

CONTRIBUTING.md ("The dialect of C") has the rules; tools/check/check_words.py checks the English.
"""

import re
import sys
from pathlib import Path

from check_includes import INCLUDE, find_included

WIDTH = 100
FOLDERS = ("include", "src", "front", "cli", "serve", "python/src", "java", "fuzz", "benchmarks", "tests")
CIRCLE_FOLDERS = ("src", "front", "cli", "serve", "python/src", "java")

# ---- Lines, declarations, strings ----

COMMENT = re.compile(r"/\*.*?(\*/|$)|//.*$")
STRING = re.compile(r'"(\\.|[^"\\])*"')
QUALIFIERS = r"(?:static |inline |extern |const |volatile |unsigned |signed |struct |enum |union |_Atomic )*"
ONLY_A_TYPE = re.compile(rf"^\s*{QUALIFIERS}(?!return\b|else\b|do\b|default\b|OIF_)[A-Za-z_]\w*(?: const)?[ *]*$")
TRAILING_COMMENT = re.compile(r"[;,]\s*/\*(?!.*\*/\s*\S)")
STRING_TAIL = re.compile(r'^(?P<code>.*"(?:\\.|[^"\\])*)"$')
STRING_HEAD = re.compile(r'^\s*"(?P<code>(?:\\.|[^"\\])*".*)$')


def code_of(line):
    """A line without comments and without what its strings say."""
    return COMMENT.sub("", STRING.sub('""', line)).rstrip()


def in_comments(lines):
    """For each line, whether it starts inside a comment."""
    inside = False
    for line in lines:
        yield inside
        rest = STRING.sub('""', line) if not inside else line
        while rest:
            mark = rest.find("*/" if inside else "/*")
            if mark < 0:
                break
            rest, inside = rest[mark + 2 :], not inside


def is_torn_type(code, following):
    """A type alone on a line whose declaration would fit on one line."""
    following = following.strip()
    if not ONLY_A_TYPE.match(code) or not re.match(r"[*A-Za-z_(]", following):
        return False
    return len(f"{code} {following}") <= WIDTH


def is_torn_by_comment(code, line_after):
    """A statement broken to make room for the comment at its end."""
    code_after = code_of(line_after)
    if not TRAILING_COMMENT.search(line_after):
        return False
    is_open = code.count("(") > code.count(")") or re.search(r"[-+*/=<>&|?:]$", code)
    if not is_open or code.endswith(("{", ";", "}", "*/", "case:", "default:")) or re.search(r"\bcase\b", code):
        return False
    return len(code + " " + code_after.strip()) <= WIDTH


def is_torn_string(line, line_after):
    """Two literals that are one sentence, of which the first ends in a short word, and that fit on one line."""
    tail, head = STRING_TAIL.match(line), STRING_HEAD.match(line_after)
    if not tail or not head or not re.search(r'(^|[" ])\w{1,2} $', tail["code"]):
        return False
    return len(tail["code"] + head["code"]) <= WIDTH


def check_lines(path, lines):
    commented = [*in_comments(lines), False]
    for i, line in enumerate(lines):
        place, line_after = f"{path}:{i + 1}", lines[i + 1] if i + 1 < len(lines) else ""
        if len(line.expandtabs(8)) > WIDTH:
            yield f"{place}: {len(line)} columns; at most {WIDTH}, comments too"
        if commented[i] or commented[i + 1] or not line.strip() or line.startswith("#"):
            continue
        code = code_of(line)
        if code == line.rstrip() and is_torn_type(code, code_of(line_after)):
            yield f"{place}: a type alone on its line; put the comment on a line of its own above"
        elif code == line.rstrip() and is_torn_by_comment(code, line_after):
            yield f"{place}: a statement torn by its comment; put the comment on a line of its own above"
        if is_torn_string(line, line_after):
            yield f"{place}: a string torn after a short word; join the two parts"


# ---- Decisions by words ----

MESSAGE_FOLDERS = ("src", "cli", "serve", "python/src", "python/oif", "java")
COMMENTS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
SEARCH_IN_C = re.compile(r"\b(?:strn?(?:case)?(?:str|cmp)|strspn|strcspn|strpbrk|mem(?:mem|cmp))\s*(?=\()")
MESSAGE_IN_C = re.compile(r"\b(?:message|complaint)\b|\bstrerror\s*\(")
ERROR_IN_PYTHON = r"(?:str\((?:e|err|error|exc|exception|why)\)|\bmessage|\b(?:e|err|error|exc|exception)\.args\[0\])"
DECISION_IN_PYTHON = re.compile(
    rf"\bin {ERROR_IN_PYTHON}|{ERROR_IN_PYTHON}(?:\.(?:startswith|endswith|find|index|count|split)\(| [!=]= )"
    rf"|\bre\.(?:search|match|fullmatch|findall)\([^\n]*{ERROR_IN_PYTHON}"
)
DECISION_IN_JAVA = re.compile(
    r"\bgetMessage\(\)\s*\.\s*(?:contains|startsWith|endsWith|equals\w*|matches|indexOf|split)\(|\.(?:contains|equals)\(\w+\.getMessage\("
)


def without_text(code):
    """Code of C or Java without comments and what strings say, line by line as before."""
    return COMMENTS.sub(lambda found: ('""' if found[0][0] == '"' else "") + "\n" * found[0].count("\n"), code)


def arguments_at(code, start):
    """What is between the parenthesis at `start` and the one that closes it."""
    depth = 0
    for end in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        if depth == 0:
            return code[start + 1 : end]
    return ""


def decisions(path, text):
    """Where a file decides by the words of a message."""
    if path.suffix in {".c", ".h"}:
        code = without_text(text)
        for call in SEARCH_IN_C.finditer(code):
            if MESSAGE_IN_C.search(arguments_at(code, call.end())):
                yield code.count("\n", 0, call.start()) + 1
        return
    code, decision = (text, DECISION_IN_PYTHON) if path.suffix == ".py" else (without_text(text), DECISION_IN_JAVA)
    for found in decision.finditer(code):
        yield code.count("\n", 0, found.start()) + 1


def check_decisions(checkout):
    for folder in MESSAGE_FOLDERS:
        for path in sorted((checkout / folder).rglob("*")):
            if path.suffix in {".c", ".h", ".py", ".java"} and "test" not in path.relative_to(checkout).parts:
                for line in decisions(path, path.read_text(encoding="utf-8")):
                    yield f"{path.relative_to(checkout)}:{line}: decides by the words of a message; use the cause of the error"


# ---- Include circles ----


def module_of(path):
    """x.c and x.h are one module."""
    return str(path.with_suffix(""))


def include_graph(checkout, sources):
    graph = {}
    for source in sources:
        if not str(source).startswith(tuple(folder + "/" for folder in CIRCLE_FOLDERS)):
            continue
        edges = graph.setdefault(module_of(source), set())
        for quote, name in INCLUDE.findall((checkout / source).read_text(encoding="utf-8")):
            included = find_included(checkout, source, quote, name)
            if included is not None and module_of(included) != module_of(source):
                edges.add(module_of(included))
    return graph


def reachable(graph, start):
    seen, waiting = set(), [start]
    while waiting:
        for module in graph.get(waiting.pop(), ()):
            if module not in seen:
                seen.add(module)
                waiting.append(module)
    return seen


def check_circles(checkout, sources):
    """Modules that include each other, directly or through others."""
    graph = include_graph(checkout, sources)
    reach = {module: reachable(graph, module) for module in graph}
    circles = {
        tuple(sorted(other for other in reach[module] if module in reach.get(other, ())))
        for module in graph
        if module in reach[module]
    }
    for circle in sorted(circles):
        yield f"include circle: {', '.join(circle)}"


def find_sources(checkout, folders):
    return sorted(
        path.relative_to(checkout)
        for folder in folders
        for path in (checkout / folder).rglob("*")
        if path.suffix in {".c", ".h"}
    )


def main():
    arguments = sys.argv[1:]
    options = {argument for argument in arguments if argument.startswith("--")}
    if options - {"--circles"} or (options and len(arguments) > len(options)):
        sys.exit(__doc__)
    checkout = Path(__file__).resolve().parents[2]
    sources = find_sources(checkout, FOLDERS if options else arguments or FOLDERS)
    complaints = []
    if not options:
        for source in sources:
            complaints += check_lines(source, (checkout / source).read_text(encoding="utf-8").splitlines())
    if not arguments or "--circles" in options:
        complaints += check_circles(checkout, sources)
    if not arguments:
        complaints += check_decisions(checkout)
    print("\n".join(complaints) or f"{len(sources)} files: nothing to report")
    sys.exit(bool(complaints) or not sources)


if __name__ == "__main__":
    main()
