"""A minimal SVG writer: shapes and text, coordinates with one decimal, colours of two themes."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Theme:
    paper: str
    ink: str
    quiet: str  # axes, notes
    faint: str  # grid, empty cells
    calm: str  # ordinary data
    calm_soft: str
    alarm: str
    warn: str
    good: str
    on_good: str  # text on `good`


LIGHT = Theme("#ffffff", "#1f2328", "#59636e", "#e4e8ec", "#2f6f9f", "#b9d3e6", "#cf222e", "#bc6a00", "#0b6b4a", "#ffffff")
DARK = Theme("#0d1117", "#e6edf3", "#9198a1", "#262c34", "#6cb0e0", "#27485f", "#ff7b72", "#e3a64a", "#46d39a", "#07130d")

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def number(value):
    """At most one decimal, without a trailing zero."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


class Drawing:
    def __init__(self, width, height, title, theme):
        self.width, self.height, self.title, self.theme = width, height, title, theme
        self.parts = []

    def add(self, text):
        self.parts.append(text)

    def rectangle(self, x, y, width, height, fill, stroke=None, radius=0, dash=None):
        edge = f' stroke="{stroke}"' if stroke else ""
        edge += f' stroke-dasharray="{dash}"' if dash else ""
        corner = f' rx="{radius}"' if radius else ""
        self.add(f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
                 f'{corner} fill="{fill}"{edge}/>')

    def line(self, x1, y1, x2, y2, color, width=1, dash=None, arrow=False):
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        extra += ' marker-end="url(#arrow)"' if arrow else ""
        self.add(f'<path d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}" stroke="{color}" '
                 f'stroke-width="{width}" fill="none"{extra}/>')

    def path(self, points, color, width=1.0, fill="none", arrow=False):
        where = "L".join(f"{number(x)} {number(y)}" for x, y in points)
        stroke = f'stroke="{color}" stroke-width="{width}"' if color else 'stroke="none"'
        end = ' marker-end="url(#arrow)"' if arrow else ""
        self.add(f'<path d="M{where}" {stroke} fill="{fill}" stroke-linejoin="round"{end}/>')

    def circle(self, x, y, radius, fill, stroke=None):
        edge = f' stroke="{stroke}" stroke-width="1.5"' if stroke else ""
        self.add(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}"{edge}/>')

    def text(self, x, y, words, color=None, size=13, anchor="start", weight=None, mono=False):
        look = f' text-anchor="{anchor}"' if anchor != "start" else ""
        look += f' font-weight="{weight}"' if weight else ""
        look += ' font-family="ui-monospace, Menlo, Consolas, monospace"' if mono else ""
        self.add(f'<text x="{number(x)}" y="{number(y)}" fill="{color or self.theme.ink}" font-size="{size}"{look}>'
                 f"{escape(words, quote=False)}</text>")

    def finish(self):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img" font-family="{FONT}">\n'
                f"<title>{escape(self.title, quote=False)}</title>\n")
        if any("#arrow" in part for part in self.parts):
            head += ('<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                     f'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{self.theme.quiet}"/></marker></defs>\n')
        paper = f'<rect width="{self.width}" height="{self.height}" fill="{self.theme.paper}"/>\n'
        return head + paper + "\n".join(self.parts) + "\n</svg>\n"
