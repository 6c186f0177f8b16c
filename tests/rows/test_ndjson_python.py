"""The NDJSON reader beside Python's json: the same lines are refused, and what is accepted has the same values.

Python takes NaN, Infinity and -Infinity, which are not JSON, and the reader does not; it takes any value on a line, and
the reader only objects. Python is asked with these two differences taken away. OIF_NDJSON_LINES sets how many lines are
compared, OIF_TEST_SEED repeats a run. print_records.c, which the C tests build, prints what the reader reads.
"""

import json
import math
import os
import random
import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import pytest

LINES = int(os.environ.get("OIF_NDJSON_LINES", "100000"))
CHECKOUT = Path(__file__).resolve().parents[2]
PRINT_RECORDS = CHECKOUT / "build" / "release-gcc" / "tests" / "print_records"
SEED = int(os.environ.get("OIF_TEST_SEED", time.time_ns() % 2**32))

KEYS = ["a", "b", "c.d", "", "0", "1", "e\\f", "key of more than eight bytes", "\u00e4", "\u20ac\U0001f600", "\x00", '"', "\ud800"]
BLANKS = ["", "", "", " ", "  ", "\t", "\r"]
NUMBERS = ["0", "-0", "1", "-7", "42", "3.25", "-0.5", "1e5", "1E-3", "2.5e+10", "123456789", "0.1234567890123456789", "1e400"]
NUMBERS += ["99999999999999999999", "5e-324", "1.7976931348623157e308", "-1e-400", "12345.67", "1234567.8", "0.000001"]
TEXTS = ["", "x", "plain text", "longer than eight", "12", "\u00e4\u00f6", "\u20ac", "\U0001f600", '"', "\\", "\n\t\x01", "\x7f", "/"]
TEXTS += ["\ud800", "\udc00", "\ud800\ud800\udc00", "a" * 40 + "\\" + "b" * 9]
# What gets pasted into lines to spoil them; some leave them whole.
SPOILERS = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"0", b"1", b".", b"-", b"+", b"e", b"E", b" ", b"\t", b"\r"]
SPOILERS += [b"\x00", b"\x1f", b"\x0b", b"\x7f", b"\x80", b"\xc0\x80", b"\xc3\xa4", b"\xe2\x82", b"\xed\xa0\x80", b"\xef\xbb\xbf"]
SPOILERS += [b"\xf0\x9f\x98\x80", b"\xf4\x90\x80\x80", b"\xff", b"\xc2\xa0", b"\xe2\x80\xa8", b"\\u", b"\\ud83d", b"\\u00e4"]
SPOILERS += [b"\\u12", b"\\x", b"\\/", b"null", b"true", b"NaN", b"Infinity", b"-Infinity", b'"a"', b'"a":1,', b"//", b"'", b"1e5"]
PATHS = [b"a", b"b", b"c\\.d", b"a.a", b"a.b", b"b.0", b"b.1", b"c\\.d.", b"a.c\\.d.1", b"", b".", b"0", b"e\\\\f", b"\\0"]
PATHS += [key.encode() for key in ("key of more than eight bytes", "\u00e4", "b.\u20ac\U0001f600")]
PATHS += [b'"', "\ud800".encode(errors="surrogatepass")]


class Refused(Exception):
    """What the reader must refuse."""


class Undecided(Exception):
    """A spoiled string that a field of CSV may be or not: "NaN", "12€", "1+2"."""


def refuse_constant(name):
    raise Refused(name)


def python_object(line):
    """What Python reads on the line, numbers as their text; Refused when it does not, or it is no object."""
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=refuse_constant, parse_int=Number, parse_float=Number)
    except ValueError as error:  # UnicodeDecodeError and JSONDecodeError
        raise Refused(str(error)) from error
    if not isinstance(value, dict):
        raise Refused("not an object")
    return value


class Number(str):
    """A number as it stands in the line."""


def keys_of_path(path):
    """The keys that a column's name spells."""
    keys, escaped = [""], False
    for character in path.decode(errors="surrogatepass"):
        if escaped:
            keys[-1] += "\x00" if character == "0" else character
        elif character == ".":
            keys.append("")
        elif character != "\\":
            keys[-1] += character
        escaped = character == "\\" and not escaped
    return keys


MISSING = object()


def value_at(value, keys):
    for key in keys:
        if isinstance(value, list) and re.fullmatch("0|[1-9][0-9]*", key) and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return MISSING
    return value


NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def expected_number(value):
    if value is MISSING or value is None:
        return math.nan
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and not isinstance(value, Number):  # as a field of CSV is read
        text, value = value, value.strip(" \t")
        if value == "":
            return math.nan
        if text not in TEXTS and not NUMBER.fullmatch(value):
            raise Undecided
    if not isinstance(value, str) or not NUMBER.fullmatch(value) or math.isinf(float(value)):
        raise Refused("not a finite number")
    return float(value)


def expected_text(value):
    """None for an object or an array, whose text is not compared."""
    if isinstance(value, (dict, list)):
        return None
    if value is MISSING:
        return b""
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return b"null" if value is None else value.encode(errors="surrogatepass")


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from leaves(part, (*path, str(i)))
    else:
        yield path


class Writer:
    """JSON as some program might write it: any blanks, any way to escape, keys given twice."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def line(self):
        return self.object(0).encode()

    def blank(self):
        return self.random.choice(BLANKS)

    def object(self, depth):
        pairs = [
            f"{self.blank()}{self.string(self.random.choice(KEYS))}{self.blank()}:{self.value(depth)}"
            for _ in range(self.random.choice([0, 1, 2, 3, 5, 8]))
        ]
        return "{" + (",".join(pairs) or self.blank()) + "}"

    def value(self, depth):
        kind = self.random.randrange(10 if depth < 4 else 8)
        if kind < 4:
            text = self.random.choice(NUMBERS) if kind else repr(self.random.uniform(-1000, 1000))
        elif kind < 6:
            text = self.string(self.random.choice(TEXTS))
        elif kind < 8:
            text = self.random.choice(["true", "false", "null"])
        elif kind == 8:
            text = self.object(depth + 1)
        else:
            text = "[" + ",".join(self.value(depth + 1) for _ in range(self.random.randrange(4))) + "]"
        return self.blank() + text + self.blank()

    def string(self, text):
        return '"' + "".join(map(self.character, text)) + '"'

    def character(self, character):
        must_escape = character in '"\\' or ord(character) < 0x20 or "\ud800" <= character <= "\udfff"
        if not must_escape and self.random.random() < 0.9:
            return character
        escaped = json.dumps(character)[1:-1]
        if escaped == character and ord(character) < 0x80:
            escaped = "\\/" if character == "/" else f"\\u{ord(character):04x}"
        return escaped.upper().replace("\\U", "\\u") if "\\u" in escaped and self.random.random() < 0.5 else escaped

    def spoiled_line(self):
        line = bytearray(self.line())
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            at, end = sorted(self.random.randrange(len(line) + 1) for _ in range(2))
            change = self.random.randrange(5)
            if change == 0:
                line[at : at + 1] = b""
            elif change == 1:
                line[at : at + 1] = bytes([self.random.randrange(256)])
            elif change == 2:
                line[at:] = line[end:]
            else:
                line[at : at + change - 3] = self.random.choice(SPOILERS)
        return bytes(line).replace(b"\n", b" ")


def is_blank(line):
    return not line.strip(b" \t\r")


@pytest.fixture(scope="module")
def lines():
    """Whole and spoiled ones, half of each."""
    print(f"seed {SEED} (set OIF_TEST_SEED to repeat)")
    writer = Writer(SEED)
    made = [writer.spoiled_line() if i % 2 else writer.line() for i in range(LINES)]
    return [line for line in made if not is_blank(line)]


class Row(NamedTuple):
    line: int
    text: bytes  # as it came, with its end
    fields: list


class Refusal(NamedTuple):
    line: int
    column: int
    message: bytes


def run_reader(data, *arguments):
    """The lines that print_records prints about some NDJSON."""
    if not PRINT_RECORDS.is_file():
        pytest.fail(f"{PRINT_RECORDS} does not exist; `make test` builds it")
    done = subprocess.run([PRINT_RECORDS, *arguments], input=data, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.splitlines()


def text_of(field):
    return bytes.fromhex(field[1:].decode())


def number_of(field):
    return float.fromhex(field.decode())


def read(kind, lines, paths, piece_bytes=0):
    """A Row or a Refusal of each line. The first line is one of ours, so any of the given ones may be bad."""
    records = []
    for printed in run_reader(b"{}\n" + b"\n".join(lines), kind, str(piece_bytes), *paths):
        result, *rest = printed.split(b" ")
        if result == b"bad":
            records.append(Refusal(int(rest[0]), int(rest[1]), b" ".join(rest[2:])))
        else:
            fields = map(text_of if kind == "texts" else number_of, rest[2:])
            records.append(Row(int(rest[0]), text_of(rest[1]), list(fields)))
    assert len(records) == len(lines) + 1
    return records[1:]


def test_lines_are_refused_just_when_python_refuses_them_and_texts_are_the_same(lines):
    refused = 0
    for number, (line, row) in enumerate(zip(lines, read("texts", lines, PATHS)), 2):
        try:
            value = python_object(line)
        except Refused as why:
            refused += 1
            assert isinstance(row, Refusal), f"{line!r} was accepted; Python says: {why}"
            assert row.line == number and 1 <= row.column <= len(line) + 1, f"{line!r}: {row.line}:{row.column}"
            continue
        assert isinstance(row, Row), f"{line!r} was refused: {row}"
        assert row.text.rstrip(b"\r\n") == line.rstrip(b"\r") and row.line == number
        for path, text in zip(PATHS, row.fields):
            expected = expected_text(value_at(value, keys_of_path(path)))
            assert expected in (None, text), f"{line!r}, {path}: {text!r} instead of {expected!r}"
    print(f"{len(lines)} lines, {refused} of them refused")
    assert len(lines) / 5 < refused < len(lines) / 2


def test_values_are_those_of_python(lines):
    paths = PATHS[:7]
    accepted = 0
    for line, row in zip(lines, read("values", lines, paths, piece_bytes=4096)):
        try:
            value = python_object(line)
            expected = [expected_number(value_at(value, keys_of_path(path))) for path in paths]
        except Refused as why:
            assert isinstance(row, Refusal), f"{line!r} was accepted as {row}: {why}"
            continue
        except Undecided:
            continue
        assert isinstance(row, Row), f"{line!r} was refused: {row}; expected {expected}"
        same = all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(row.fields, expected))
        assert same, f"{line!r}: {row.fields} instead of {expected}"
        accepted += 1
    print(f"{accepted} of {len(lines)} lines have nothing but numbers there")
    assert accepted > len(lines) / 10


def test_columns_are_the_leaves_that_python_finds():
    writer = Writer(SEED + 1)
    lines = [writer.line() for _ in range(LINES // 20)]
    for line, printed in zip(lines, run_reader(b"\n".join(lines), "columns"), strict=True):
        columns = map(text_of, printed.split(b" ")[1:])
        expected = list(leaves(python_object(line)))
        assert [tuple(keys_of_path(column)) for column in columns] == expected, repr(line)


def test_whole_numbers_may_have_more_digits_than_python_takes():
    """Python refuses more than 4300 of them, so the lines above have none; JSON has no such limit."""
    line = b'{"a": ' + b"1" * 5000 + b', "b": 0.' + b"1" * 5000 + b"}"
    (row,) = read("values", [line], [b"b"])
    assert row.fields == [float("0." + "1" * 5000)]
