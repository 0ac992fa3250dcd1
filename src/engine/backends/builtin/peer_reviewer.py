"""The PeerReviewer: what can be checked by rule in a draft, namely ids, placeholders, repetition and unfinished text."""

import json
import re
from collections.abc import Iterator

from deepdelve.engine.backends.builtin.conversation import Call, Conversation, Turn
from deepdelve.engine.completion.gaps import gap_question
from deepdelve.utils.text import squash

MAX_ISSUES = 8
_CITED = re.compile(r"\[S\d{1,6}(?:, S\d{1,6})*\]\.?$")
_PLACEHOLDER = re.compile(r"\[(?:insert|todo|citation needed|source)\b[^\]]{0,80}\]|\bTODO\b|\bTBD\b", re.IGNORECASE)
_FILE = re.compile(r"\b(findings\.md|final_report\.md)\b")


def peer_reviewer(conversation: Conversation) -> Turn:
    """Read the file, answer in JSON."""
    named = _FILE.search(conversation.task)
    name = named.group(1) if named else "final_report.md"
    read = conversation.tried("read_workspace_file")
    if not read and conversation.may("read_workspace_file"):
        return Turn((Call("read_workspace_file", {"name": name}),))
    text = "\n".join(call.fenced for call in read if call.ok)
    issues = [{"quote": quote, "problem": problem} for quote, problem in _issues(text)][:MAX_ISSUES]
    return Turn(text=json.dumps({"ok": not issues, "issues": issues}, ensure_ascii=False))


def _issues(text: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for line in filter(None, map(squash, text.split("\n"))):
        if _PLACEHOLDER.search(line):
            yield line[:200], "a placeholder was left in the text"
        if line.startswith("#") or gap_question(line):
            continue
        if line in seen:
            yield line[:200], "this is said twice"
        seen.add(line)
        if line.startswith("- ") and not _CITED.search(line):
            yield line[:200], "no source id stands behind this"
