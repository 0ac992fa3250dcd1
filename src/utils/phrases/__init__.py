"""What the product itself adds to a report, in the language of the question where its phrases are known, in English elsewhere.

A phrase is asked for by its name. English stands in ``english.py``; every other language is a file with the same names and
placeholders, read when it is first needed.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files

from deepdelve.utils.phrases.english import ENGLISH

CODES: Mapping[str, str] = {
    "english": "en",
    "german": "de",
    "deutsch": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "chinese": "zh",
    "japanese": "ja",
}
LANGUAGES: tuple[str, ...] = tuple(dict.fromkeys(CODES.values()))
_PLACEHOLDER = re.compile(r"\\{(\w+)\\}")


def code_of(language: str) -> str:
    """The code of a language given by its English name, its own or a tag such as ``de-AT``; ``en`` where its phrases are not known."""
    folded = language.casefold().strip()
    code = CODES.get(folded, folded.replace("_", "-").partition("-")[0])
    return code if code in LANGUAGES else "en"


def say(name: str, language: str = "", /, **values: object) -> str:
    """A phrase with its placeholders filled.

    Args:
        name: what ``english.py`` calls it.
        language: as ``code_of`` takes it.
        values: for the placeholders; outside text stays as it is, braces too.
    """
    return _of(code_of(language))[name].format(**values)


def counted(name: str, number: int, language: str = "", /, **values: object) -> str:
    """The phrase for one thing (``<name>_one``) or for several (``<name>_many``), with ``{n}``."""
    return say(f"{name}_{'one' if number == 1 else 'many'}", language, n=number, **values)


def reason(text: str, language: str = "") -> str:
    """Why a run ended as it did. What is no phrase of its own, such as the words of an error, stays as it is."""
    for name, wording in _reasons().items():
        if found := wording.fullmatch(text):
            return say(name, language, **found.groupdict())
    return text


def in_all_languages(*names: str) -> Iterator[str]:
    """These phrases in every language: what a reader of delivered reports has to know."""
    for code in LANGUAGES:
        yield from (_of(code)[name] for name in names)


@lru_cache(maxsize=1)
def _reasons() -> Mapping[str, re.Pattern[str]]:
    """The English reasons, each as the pattern that finds what stands at its placeholders. Numbers are digits."""

    def place(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>{r'[0-9]+' if found[1] in ('n', 'total') else '.+'})"

    return {
        name: re.compile(_PLACEHOLDER.sub(place, re.escape(text)), re.DOTALL)
        for name, text in ENGLISH.items()
        if name.startswith("reason_")
    }


@lru_cache(maxsize=len(LANGUAGES))
def _of(code: str) -> Mapping[str, str]:
    if code == "en":
        return ENGLISH
    return tomllib.loads(files(__name__).joinpath(f"{code}.toml").read_text(encoding="utf-8"))
