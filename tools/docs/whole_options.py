"""A hook of MkDocs: a line of code never breaks within an option, so a narrow screen shows no `-` at the end of a line."""

import re

CODE = re.compile(r"<code.*?</code>", re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*(?![^<]*>)")


def on_page_content(html, **_):
    return CODE.sub(lambda code: OPTION.sub(r'<span class="option">\g<0></span>', code[0]), html)
