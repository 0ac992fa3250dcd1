"""References to records: they name store, conversation, place and content, never a path; and reading one back."""

import base64
import binascii
import json
import re
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from deepdelve.core.errors import StateError, UsageError
from deepdelve.engine.history.files import Notes
from deepdelve.engine.history.match import Prefilter
from deepdelve.engine.history.query import Kind
from deepdelve.engine.history.records import Record, Store, canonical_session, fingerprint
from deepdelve.engine.history.sources import Reader, Roots, Source, Wants, history_source

PREFIX = "ddref1:"
_MAX_CHARS = 1_000
_RUN = re.compile(r"[A-Za-z0-9_-]{1,80}")
_KINDS: dict[Store, frozenset[Kind]] = {
    "history": frozenset({"prompt"}),
    "transcript": frozenset({"prompt", "reply", "tool"}),
    "finding": frozenset({"finding"}),
    "report": frozenset({"report"}),
    "source": frozenset({"source"}),
    "tool": frozenset({"tool"}),
    "reasoning": frozenset({"reasoning"}),
}


@dataclass(frozen=True)
class Reference:
    """What a reference names. ``name`` is a session id for transcripts, empty for the prompt history, else a run id."""

    store: Store
    name: str
    ordinal: int
    span: tuple[int, int]
    print: str


def encode(record: Record, span: tuple[int, int] = (0, 0)) -> str:
    """The reference of a record, and of a place in its text."""
    name = {"history": "", "transcript": record.session_id}.get(record.store, record.run_id)
    data = [record.store, name, record.ordinal, span[0], span[1], fingerprint(record.text)]
    return PREFIX + base64.urlsafe_b64encode(json.dumps(data, separators=(",", ":")).encode()).decode().rstrip("=")


def decode(ref: str) -> Reference:
    """What a reference names.

    Raises:
        UsageError: it is no reference.
    """
    wrong = UsageError("That is no reference to a record.", "Copy the whole 'ddref1:…' that a search printed.")
    if not ref.startswith(PREFIX) or len(ref) > _MAX_CHARS:
        raise wrong
    body = ref.removeprefix(PREFIX)
    try:
        data = json.loads(base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True))
        store, name, ordinal, start, end, told = cast("list[Any]", data)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise wrong from None
    numbers = all(type(value) is int and 0 <= value < 2**53 for value in (ordinal, start, end))
    texts = isinstance(name, str) and isinstance(told, str)
    if store not in get_args(Store) or not numbers or not texts or start > end or not _names(store, name):
        raise wrong
    return Reference(store, name, ordinal, (start, end), told)


def inspect(ref: str, roots: Roots) -> Record:
    """The record that a reference names, read again.

    Raises:
        UsageError: it is no reference.
        StateError: the record is gone, or says something else now.
    """
    wanted = decode(ref)
    record = _read(wanted, roots)
    if record is None:
        raise StateError("The record is not there any more.", "Search again.")
    if fingerprint(record.text) != wanted.print:
        raise StateError("The record has changed since it was found.", "Search again.")
    span = wanted.span if wanted.span[1] <= len(record.text) else (0, 0)
    return replace(record, span=span, ref=ref)


def _read(wanted: Reference, roots: Roots) -> Record | None:
    reader = Reader(roots, Wants(_KINDS[wanted.store], Prefilter(None)), lambda: None)
    if wanted.store == "history":
        source = history_source(roots)
    elif wanted.store == "transcript":
        source = Source("transcript", wanted.name, str(roots.sessions / f"session_{wanted.name}.jsonl"))
    else:
        source = Source("run", wanted.name, str(roots.runs / wanted.name))
    try:
        found = reader.records(source, Notes())
        return next((record for record in found if record.store == wanted.store and record.ordinal == wanted.ordinal), None)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateError("The record cannot be read.", "Check the permissions of its file.") from error


def _names(store: str, name: str) -> bool:
    if store == "history":
        return not name
    return canonical_session(name) == name != "" if store == "transcript" else _RUN.fullmatch(name) is not None
