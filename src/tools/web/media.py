"""What a Content-Type header says, as far as it decides whether and how much of a body is read."""

from email.message import Message

from deepdelve.core.errors import FetchError

# Families (``sniff.family``) of files that get the wider size bound.
DOCUMENT_FAMILIES: frozenset[str] = frozenset({"pdf", "zip", "ole", "rtf"})
_NOT_TEXT = ("image/", "audio/", "video/", "font/")


def media_type(content_type: str) -> str:
    """The type without its parameters, in lowercase."""
    return content_type.partition(";")[0].strip().lower()


def check_media_type(content_type: str) -> None:
    """Refuse by label what no parser makes text of.

    Raises:
        FetchError: cause ``unsupported_type``.
    """
    media = media_type(content_type)
    if media.startswith(_NOT_TEXT):
        raise FetchError(
            f"The address holds {media[:60]}, not text.", "Take a page or a document that holds text.", cause="unsupported_type"
        )


def header_charset(content_type: str) -> str:
    """The charset label of a header, as it stands there; empty if there is none."""
    message = Message()
    message["content-type"] = " ".join(content_type.encode("ascii", "ignore").decode().split())[:300]
    return message.get_content_charset("") or ""
