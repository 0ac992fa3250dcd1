"""Where a quote stands in a text, spelling of spaces, quotation marks and dashes aside. Offsets are found here, never typed by a model."""

import unicodedata

_SAME = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201a": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u00ab": '"',
        "\u00bb": '"',
        "\u2010": "-",
        "\u2011": "-",
        "\u2012": "-",
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u2026": "...",
    }
)
_TRIM = " \"'.,;:!?-"
_MARKS = frozenset("*_`")


class Locator:
    """A text prepared once for many look-ups. Cost is linear in the text, then one substring search each."""

    def __init__(self, text: str) -> None:
        self.folded, self._origin = fold(text)

    def find(self, quote: str) -> tuple[int, int] | None:
        """Character offsets of the quote in the text, or None where it does not stand there."""
        wanted = fold(quote)[0].strip(_TRIM)
        if not wanted:
            return None
        at = self.folded.find(wanted)
        if at < 0:
            return None
        last = at + len(wanted)
        # A mark that belongs to the last letter belongs to the passage.
        while last < len(self.folded) and unicodedata.combining(self.folded[last]):
            last += 1
        return self._origin[at], self._origin[last - 1] + 1


def fold(text: str) -> tuple[str, list[int]]:
    """The text with one spelling of spaces, marks, dashes and case, and for each character where it came from."""
    out: list[str] = []
    origin: list[int] = []
    space = True
    for index, char in enumerate(text):
        if char.isspace():
            if not space:
                out.append(" ")
                origin.append(index)
            space = True
            continue
        if char in _MARKS:
            continue
        plain = (
            char.translate(_SAME) if char.isascii() or char in "‘’‚“”„«»‐‑‒–—−…" else unicodedata.normalize("NFKD", char).translate(_SAME)
        )
        for piece in plain.casefold():
            out.append(piece)
            origin.append(index)
        space = False
    return "".join(out), origin
