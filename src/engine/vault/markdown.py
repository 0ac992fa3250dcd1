"""Text from outside made harmless in a vault: nothing in it runs, loads or embeds when the page is opened."""

import re

from deepdelve.engine.vault.links import masked
from deepdelve.utils.fence import clean

# Languages of fenced code that plugins of Obsidian carry out.
_RUNS = re.compile(
    r"(?mi)^([ \t]{0,3}(?:`{3,}|~{3,}))[ \t]*(?:dataview(?:js)?|tasks?|templater|js-engine|meta-bind\S*|button|run-\S+|query)\b[^\n]*$"
)
_INLINE_RUNS = re.compile(r"`(\$?=)")
_EMBED = re.compile(r"!(?=\[)")
_TEMPLATE = re.compile(r"<%")
_HTML = re.compile(r"<(?=[a-zA-Z/!?])(?!https?://)")


def safe_markdown(text: str) -> str:
    """Markdown without HTML, embeds and what plugins would carry out; what is written as code stays code."""
    text = _RUNS.sub(r"\1text", clean(text))
    text = _INLINE_RUNS.sub(r"` \1", text)
    text = _TEMPLATE.sub("< %", text)
    hidden = masked(text, links_only=False)
    spots = sorted(
        [(match.start(), "!", "") for match in _EMBED.finditer(hidden)] + [(m.start(), "<", "&lt;") for m in _HTML.finditer(hidden)]
    )
    kept: list[str] = []
    at = 0
    for place, old, new in spots:
        kept += [text[at:place], new]
        at = place + len(old)
    return "".join([*kept, text[at:]])


def safe_label(text: str, limit: int = 160) -> str:
    """Text as the label of a link: one line without what ends a label."""
    line = " ".join(clean(text).split())[:limit]
    return "".join(f"\\{char}" if char in "[]\\`*_<>|" else char for char in line)
