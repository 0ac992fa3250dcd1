"""What a Content-Type header decides."""

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web import media


@pytest.mark.parametrize("label", ["image/png", "Video/MP4; codecs=x", "audio/mpeg", "font/woff2", "image/svg+xml"])
def test_pictures_sound_and_fonts_are_refused_by_label(label: str) -> None:
    with pytest.raises(FetchError) as caught:
        media.check_media_type(label)
    assert caught.value.cause == "unsupported_type"


@pytest.mark.parametrize("label", ["", "text/html", "application/json", "application/octet-stream", "nonsense"])
def test_other_labels_leave_the_decision_to_the_bytes(label: str) -> None:
    media.check_media_type(label)


@pytest.mark.parametrize(
    ("label", "charset"),
    [
        ("text/html; charset=UTF-8", "utf-8"),
        ('text/html; charset="windows-1251"', "windows-1251"),
        ("text/html", ""),
        ("", ""),
        ("text/html; charset=\r\nx: y", "x: y"),
        ("é; charset=latin1", "latin1"),
    ],
)
def test_the_charset_of_a_header(label: str, charset: str) -> None:
    assert media.header_charset(label) == charset
