#!/usr/bin/env python3
"""Checks the English of documents, help, messages and comments against lists of words, and measures how it reads.

    tools/check/check_words.py                every place where a word of the list occurs; exit status 1 if there is one
    tools/check/check_words.py --measure      words per comment line, and how often each phrase occurs per 10,000 words
    tools/check/check_words.py --all          the places in the folders that are only measured, too

CONTRIBUTING.md ("English") says why. A line that quotes a word on purpose ends in <!-- words --> or in /* words */.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

PER_WHAT = "row|tree|episode|line|key|column|host|node|model|call|number|cell|score|block|projection"
# What to avoid, a pattern for it, and what to write instead.
AVOID = [
    ("anew", r"\banew\b", "again, new, re-..."),
    ("go on", r"\b(go|goes|going|went|gone) on\b", "resume, continue"),
    ("stand", r"\b(stands?|stood)\b(?! (for|out|by|in for)\b|-)", "is, is in"),
    ("tell", r"\b(tells?|told|telling)\b", "report, return, print, say"),
    ("whoever, nobody", r"\b(whoever|nobody)\b", "the caller, the program, no one"),
    ("so many", r"\bso many\b", "that many, N"),
    ("far out", r"\bfar out\b", "extreme, an outlier"),
    ("believe", r"\bbeliev(es?|ed)\b", "trust, validate"),
    ("house, rooms", r"\b(house|rooms)\b", "project, module, directory"),
    ("shelf, traveller, stranger, woods", r"(?<!\.)\b(shelf|shelves|travellers?|strangers?|woods)\b", "the field's word"),
    ("made up", r"\bmade[- ]up\b", "synthetic"),
    ("not seen for longest", r"\bseen for (the )?longest\b", "least recently seen"),
    ("in its turn", r"\bin (its|their) turn\b", "in order"),
    ("hold together", r"\bholds? together\b", "is consistent"),
    ("numbers in a row", r"\bnumbers (in|of) (a|the) row\b", "columns"),
    ("that is to be", r"\b(that|which) (is|are) to be\b", "to be"),
    ("is no matter", r"\bis no matter\b", "is acceptable"),
    ("under 0", r"\bunder (0|zero)\b", "below 0"),
    ("dear", r"\b(dearer|dearest|costliest)\b", "more expensive"),
    ("instructions a row", rf"\b(instructions|bytes?|KB|MB|nodes|ns|nanoseconds|microseconds|us|ms|walks)"
                           rf" an? ({PER_WHAT})\b", "per row"),
]
# The same for comments in C: idioms and false friends that made them read as translated.
AVOID_IN_COMMENTS = [
    ("law", r"(?<!power-)(?<!'s )\blaws?\b", "distribution"),
    ("for ever", r"\bfor ever\b", "forever"),
    ("for want of", r"\bfor want of\b", "for lack of, out of"),
    ("memory is short", r"\bmemory (is|was) short\b", "out of memory"),
    ("afresh", r"\bafresh\b", "from scratch, again"),
    ("set apart", r"\bset(s|ting)? (\w+ ){0,4}apart\b", "isolate, separate"),
    ("give way", r"\bg[ia]ves? way\b", "is evicted, is replaced"),
    ("but for", r"\bbut for\b", "except for"),
    ("passed over", r"\bpass(es|ed) over\b", "skip"),
    ("taken out", r"\b(taken|taking|takes?) (it |them |one |a row )?out\b", "remove"),
    ("as it came", r"\bas (it|they) came\b", "as received, original"),
    ("newborn", r"\bnewborn\b", "new"),
]
# The same for documents: constructions, and words that made them read as translated.
AVOID_IN_DOCUMENTS = [
    ("Where ..., at the start of a sentence", r"(?:^|[.:;] )(?:- )?(?-i:Where) [a-z]", "If ..., When ..."),
    ("Who ..., at the start of a sentence", r"(?:^|[.:;] )(?-i:Who) [a-z]+ (?!.*\?)", "name the program or the person"),
    ("is said", r"\b(?:is|are|was|were) said\b", "is reported, is printed"),
    ("likewise", r"\blikewise\b", "also, the same"),
    ("for ever", r"\bfor ever\b", "forever"),
    ("commonest", r"\bcommonest\b", "most common"),
    ("to and fro", r"\bto and fro\b", "back and forth"),
]
# Good words that we use too often: at most this many per 10,000 words, the highest of five well-kept C libraries.
RATED = [
    ("so that", r"\bso that\b", 5),
    ("is no", r"(?<!there )\b(is|are|was) no (?!longer|more|less)\w", 9),
    ("who", r"\bwho\b", 2),
]
HEADER_WIDTH = 80  # of comments in the public headers, except examples and members
WIDTH = 100


@dataclass
class Part:
    """A kind of text: where it is, how it is cut out of the files, whether it is checked, and for which words."""

    name: str
    files: list
    cut: object
    is_strict: bool
    avoid: list = field(default_factory=lambda: AVOID)


# ---- Cutting texts out of files; all keep line numbers ----


def blank_out(pattern, text):
    """Replaces what matches by its line ends."""
    return re.sub(pattern, lambda match: "\n" * match[0].count("\n") or " ", text, flags=re.DOTALL | re.MULTILINE)


def only(pattern, text):
    """Only what matches, each on its own lines."""
    kept, end = [], 0
    for match in re.finditer(pattern, text, flags=re.DOTALL | re.MULTILINE):
        kept += ["\n" * text.count("\n", end, match.start()), " ", match[0]]
        end = match.end()
    return "".join(kept)


def prose(text):
    """Markdown without blocks and code."""
    return blank_out(r"`[^`\n]*`", blank_out(r"^\s*```.*?^\s*```", text))


def comments(text):
    return only(r"/\*.*?\*/|//[^\n]*", blank_out(r'"(?:\\.|[^"\\\n])*"', text))


def messages(text):
    """String literals that are sentences."""
    return only(r'"(?:\\.|[^"\\\n])* (?:\\.|[^"\\\n])*"', blank_out(r"/\*.*?\*/|^#include[^\n]*", text))


def docstrings(text):
    return only(r'"""(?:.*?)"""|"(?:\\.|[^"\\\n])* (?:\\.|[^"\\\n])*"', text)


def files(*patterns):
    found = [path for pattern in patterns for path in CHECKOUT.glob(pattern) if path.is_file()]
    return sorted(path for path in found if not {"build", "target", "results"} & set(path.parts))


def parts():
    code = ("src/base/**/*.[ch]", "src/rows/**/*.[ch]", "src/snapshot/**/*.[ch]", "src/pipeline/**/*.[ch]", "front/*/*.[ch]",
            "cli/*/*.[ch]", "python/src/*.[ch]")
    # Only measured: comments that are still to be rewritten.
    later = [path for path in files("src/detect/**/*.[ch]") if path.parent.name in ("online_iforest", "iforest_asd")]
    sources = files("src/**/*.[ch]", "serve/*/*.[ch]", "python/src/*.[ch]", "tests/**/*.[ch]", "fuzz/**/*.[ch]",
                    "benchmarks/*.[ch]")
    done = sorted(set(sources) - set(later))
    return [
        Part("documents", files("*.md", "docs/**/*.md", "benchmarks/*.md", "examples/**/*.md"), prose, True, AVOID + AVOID_IN_DOCUMENTS),
        Part("public headers", files("include/*"), comments, True),
        Part("messages and help", files(*code, "src/detect/**/*.[ch]"), messages, True),
        Part("comments", done + files("front/*/*.[ch]", "cli/*/*.[ch]"), comments, True),
        Part("comments except those of front and cli", done, comments, True, AVOID_IN_COMMENTS),
        Part("Python", files("python/oif/*.py"), docstrings, True),
        Part("messages of serve", files("serve/*/*.[ch]"), messages, False),
        Part("comments of two detectors", later, comments, False, AVOID + AVOID_IN_COMMENTS),
    ]


# ---- Checking ----


def exempt(line):
    return "<!-- words -->" in line or "/* words */" in line


def places(part):
    any_of_them = re.compile("|".join(f"(?:{pattern})" for _, pattern, _ in part.avoid), re.IGNORECASE)
    for path in part.files:
        whole = path.read_text(encoding="utf-8")
        original = whole.split("\n")
        text = part.cut(whole)
        if path.name == "CHANGELOG.md":
            continue
        for number, line in enumerate(text.split("\n"), 1):
            for name, pattern, better in part.avoid if any_of_them.search(line) else ():
                if re.search(pattern, line, re.IGNORECASE) and not exempt(original[number - 1]):
                    yield f"{path.relative_to(CHECKOUT)}:{number}: '{name}': write {better}"


def words_per_line(paths):
    """Of the comments of C files, and how many lines are too wide."""
    words = lines = wide = 0
    for path in paths:
        for line in comments(path.read_text(encoding="utf-8")).split("\n"):
            found = re.findall(r"[^\s*/]\S*", line)
            if found:
                words, lines = words + len(found), lines + 1
        wide += sum(len(line) > WIDTH for line in path.read_text(encoding="utf-8").split("\n"))
    return words / max(lines, 1), wide


def too_wide():
    """Lines of the public headers' comments. Indented by four blanks, they may be an example in C."""
    for path in files("include/*.h"):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line.startswith(("/*", " *")) and not line.startswith(" *     ") and len(line) > HEADER_WIDTH:
                yield f"{path.relative_to(CHECKOUT)}:{number}: {len(line)} columns; comments of public headers have at most {HEADER_WIDTH}"


def too_frequent():
    for part in parts():
        text = "\n".join(part.cut(path.read_text(encoding="utf-8")) for path in part.files if path.name != "CHANGELOG.md")
        count = len(text.split())
        for name, pattern, most in RATED if part.is_strict else []:
            rate = 1e4 * len(re.findall(pattern, text, re.IGNORECASE)) / max(count, 1)
            if rate > most and count > 2000:
                yield f"{part.name}: '{name}' {rate:.1f} times per 10,000 words; at most {most}"


def measure():
    for part in parts():
        text = "\n".join(part.cut(path.read_text(encoding="utf-8")) for path in part.files)
        count = len(text.split())
        rates = [(name, 1e4 * len(re.findall(pattern, text, re.IGNORECASE)) / max(count, 1))
                 for name, pattern, _ in [*RATED, *part.avoid]]
        print(f"{part.name}: {count:,} words, per 10,000 of them: "
              + (", ".join(f"{name} {rate:.1f}" for name, rate in rates if rate) or "none"))
    for name, patterns in (("include", ("include/*.h",)),
                           ("product code", ("include/*", "src/**/*.[ch]", "front/*/*.[ch]", "cli/*/*.[ch]", "serve/*/*.[ch]",
                                             "python/src/*.[ch]"))):
        density, wide = words_per_line(files(*patterns))
        print(f"{name}: {density:.1f} words per comment line, {wide} lines over {WIDTH} columns")


def main(arguments):
    if set(arguments) - {"--measure", "--all"}:
        sys.exit(__doc__)
    if "--measure" in arguments:
        return measure()
    complaints = [place for part in parts() if part.is_strict or "--all" in arguments for place in places(part)]
    complaints += [*too_wide(), *too_frequent()]
    print("\n".join(complaints) or "nothing to report")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
