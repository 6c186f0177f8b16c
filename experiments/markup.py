"""Numbers and tags of the report."""

import html
import re
from typing import Any

escape = html.escape


def plain(value: float, digits: int = 3) -> str:
    """.795 as in a paper, not 0.795."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}")


def seconds_text(value: float) -> str:
    """Three digits; milliseconds where seconds would begin with zeros."""
    if value < 0.1:
        return f"{1e3 * value:.1f} ms"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio_text(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def hours_and_minutes(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def difference_text(difference: float) -> str:
    if abs(difference) < 0.0005:
        return "±.000"
    style = "up" if difference > 0 else "down"
    return tag("span", f"{'+' if difference >= 0 else '−'}{plain(abs(difference))}", class_=style)


def tag(name: str, content: str, **attributes: Any) -> str:
    given = "".join(f' {key.rstrip("_")}="{escape(str(value))}"' for key, value in attributes.items() if value)
    return f"<{name}{given}>{content}</{name}>"


def swatch(color: str) -> str:
    return tag("span", "", class_="dot", style=f"background:{color}")


def table_of(heading: list[str], rows: list[str], caption: str, style: str = "") -> str:
    """Rows are cells, or whole rows."""
    head = tag("thead", tag("tr", "".join(tag("th", cell) for cell in heading)))
    body = tag("tbody", "".join(row if row.startswith("<tr") else tag("tr", row) for row in rows))
    return tag("div", tag("table", tag("caption", caption) + head + body, class_=style), class_="scroll")
