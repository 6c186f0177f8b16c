#!/usr/bin/env python3
"""Draws the pictures of the documentation, each for light and for dark pages.

    tools/docs/make_pictures.py OIF            write docs/images/*.svg
    tools/docs/make_pictures.py OIF --check    compare them instead, byte for byte; exit status 1 if one differs
    tools/docs/make_pictures.py --figures RESULT.json...   renew benchmarks/figures.json from results of `make bench` and
                                          of `experiments/run.sh accuracy --anchors --json RESULT.json`, and draw nothing

OIF is the program. Sources: the streams that OIF generates and scores, the tables of docs/measurements, and
benchmarks/figures.json. Only the standard library of Python is used, so the bytes depend on nothing else.
"""

import sys
from pathlib import Path

from pictures import diagrams, peers, pump, tables
from pictures.svg import DARK, LIGHT

CHECKOUT = Path(__file__).resolve().parents[2]
IMAGES = CHECKOUT / "docs" / "images"


def draw_all(oif):
    """Yields (file name, SVG)."""
    scored = pump.score(oif)
    drawn = {"pump": lambda theme: pump.draw(scored, theme)}
    drawn.update({**tables.pictures(CHECKOUT), **diagrams.pictures(), **peers.pictures(CHECKOUT)})
    for name, draw in drawn.items():
        yield f"{name}.svg", draw(LIGHT)
        yield f"{name}-dark.svg", draw(DARK)


def main(oif, is_check):
    differ = []
    IMAGES.mkdir(exist_ok=True)
    for name, svg in draw_all(oif):
        path = IMAGES / name
        if is_check and (not path.exists() or path.read_text(encoding="utf-8") != svg):
            differ.append(name)
        elif not is_check:
            path.write_text(svg, encoding="utf-8")
    if differ:
        print(f"docs/images: {', '.join(differ)}: not what tools/docs/make_pictures.py draws; run `tools/docs/make_pictures.py build/release-gcc/oif`")
    return bool(differ)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--figures"] and sys.argv[2:]:
        peers.take_over(CHECKOUT, map(Path, sys.argv[2:]))
        sys.exit(0)
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    sys.exit(main(arguments[0], "--check" in sys.argv))
