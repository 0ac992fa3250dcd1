"""Text folded for verbatim comparison."""

import re

_FOLD = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "–": "-",
        "—": "-",
        "‑": "-",
        "\u00a0": " ",
        "\u00ad": None,
        "\u200b": None,
        "ﬁ": "fi",
        "ﬂ": "fl",
    }
)
_KEEP = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")


def normalise(text: str) -> str:
    """Words joined by single spaces, lower case, typography and punctuation folded away."""
    return " ".join(_KEEP.findall(text.translate(_FOLD).lower()))
