"""Half characters: models cut an emoji in two, and JSON can carry the halves where no file, event or request can."""

from typing import Any, cast


def whole_text(text: str) -> str:
    """The text with halves that belong together joined, and lone ones as U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole_value(value: Any) -> Any:
    """The same for every text within lists and objects, keys included."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {whole_value(key): whole_value(inner) for key, inner in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return [whole_value(inner) for inner in cast("list[Any]", value)]
    return value


class PieceJoiner:
    """Keeps the first half of a character back until its second comes with the next piece of a stream."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """The piece, without halves; may be empty."""
        text = self._half + piece
        self._half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return whole_text(text[:-1] if self._half else text)
