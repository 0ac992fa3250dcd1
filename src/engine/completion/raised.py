"""Notes that a writer typed with raised figures, as in ``long¹``: sources are numbered by code, so that these lead nowhere."""

import regex

_DIGITS = "⁰¹²³⁴-⁹"
_UNITS = r"(?:met(?:er|re|ro)s?|mètres?|miles?|inch(?:es)?|feet|foot|yards?|seconds?|Meter|Meilen?|Zoll|Fuß|Sekunden?|pieds?|pollici)"
# One figure may be a power; ¹, or several together, behind a word or the end of a sentence are none.
_MARK = regex.compile(
    rf"(?<=[^\W\d_]{{2}}|[.,;:!?)\]”\"’»。，])(?:¹(?![{_DIGITS}])|[{_DIGITS}]{{2,3}})(?:[˒,⁻][{_DIGITS}]{{1,3}}){{0,9}}(?![^\W_]|[⁺⁻])"
    rf"|(?<=[.,;:!?\]”\"’»。，]|[^\W\d_]{{5}})(?<!{_UNITS})[²³⁴-⁹](?:[˒,⁻][{_DIGITS}]{{1,3}}){{0,9}}(?![^\W_]|[{_DIGITS}⁺⁻])"
)
_FREE = regex.compile(rf"[^{_DIGITS}]*+")
_NOTE = regex.compile(rf"^[ \t>*-]{{0,6}}[{_DIGITS}]{{1,3}}[.):]?[ \t]+[^\s\d](?:(?!://)[^\n])*$\n?", regex.MULTILINE)


def raised_notes(text: str) -> list[str]:
    """The raised marks of a text, each with the word that it stands behind, and the lines of notes without an address."""
    if _FREE.fullmatch(text):
        return []
    lines = [found.group().strip() for found in _NOTE.finditer(text)]
    return [*(text[max(0, found.start() - 20) : found.end()].split("\n")[-1].strip() for found in _MARK.finditer(text)), *lines]


def without_raised_notes(text: str) -> str:
    """The text without them."""
    return _MARK.sub("", _NOTE.sub("", text))
