"""A hook of MkDocs: where code may break.

A line never breaks within an option, so a narrow screen shows no `-` at the end of a line. On a wide screen short code
stays whole (oif.css); code that is longer than LONGEST_WHOLE may break, or it would be wider than its column.
"""

import re

LONGEST_WHOLE = 40
CODE = re.compile(r"<code>(.*?)</code>", re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*(?![^<]*>)")
TAG = re.compile(r"<[^>]*>")


def mend(code):
    is_long = len(TAG.sub("", code[1])) > LONGEST_WHOLE
    text = OPTION.sub(r'<span class="option">\g<0></span>', code[1])
    return f"<code{' class=long' if is_long else ''}>{text}</code>"


def on_page_content(html, **_):
    return CODE.sub(mend, html)
