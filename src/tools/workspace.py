"""Workspace files: what agents read, search, write and edit. Names are mapped, never joined into paths."""

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import regex

from deepdelve.core.errors import ToolError
from deepdelve.core.scope import current_scope
from deepdelve.utils.fence import clean, fence
from deepdelve.utils.files import write_text_atomic
from deepdelve.utils.grounding import drafts

Tool = Callable[..., Awaitable[str]]

ARTIFACTS = {"findings.md": "draft/findings.md", "final_report.md": "draft/final_report.md"}
OWN_ARTIFACT = {"FindingsWriter": "findings.md", "Builder": "final_report.md"}
MAX_ARTIFACT_CHARS = 400_000
_PATTERN_CHARS = 200
_PATTERN_SECONDS = 2.0
_LINE_CHARS = 2_000


def workspace_tools(reply_chars: int) -> dict[str, Tool]:
    """The four workspace tools, by name.

    Args:
        reply_chars: the most that one reading hands to a model.
    """

    async def read_workspace_file(
        name: Annotated[str, "a source id such as S3, findings.md or final_report.md"],
        start_line: Annotated[int, "first line, from 1"] = 1,
        max_lines: Annotated[int, "how many lines"] = 400,
    ) -> str:
        """Read a source or a draft."""
        lines = read_text(name).split("\n")
        first = max(1, start_line)
        taken, last = _lines_within(lines[first - 1 : first - 1 + max(1, max_lines)], reply_chars)
        to = first + last - 1
        head = {"name": name, "lines": len(lines), "from": first, "to": to, "more": to < len(lines)}
        return f"{json.dumps(head)}\n{fence(taken, current_scope().run.nonce)}"

    async def grep_workspace_file(
        name: Annotated[str, "a source id such as S3, findings.md or final_report.md"],
        pattern: Annotated[str, "a regular expression, or plain words"],
        max_hits: Annotated[int, "how many lines at most"] = 20,
    ) -> str:
        """Find the lines of a source or a draft that match."""
        rows = _grep(read_text(name), pattern, max(1, min(max_hits, 100)))
        body, _ = _lines_within(rows, reply_chars)
        return f"{json.dumps({'hits': len(rows)})}\n{fence(body, current_scope().run.nonce)}"

    async def write_workspace_file(name: Annotated[str, "your own artifact"], text: Annotated[str, "its whole new content"]) -> str:
        """Write your own artifact, whole."""
        path = _own_path(name)
        if not text.strip():
            raise ToolError(f"The text for {name} is empty. Call write_workspace_file again with the whole text.")
        return await _store(path, name, text)

    async def edit_workspace_file(
        name: Annotated[str, "your own artifact"],
        old_text: Annotated[str, "text that stands there now, exactly"],
        new_text: Annotated[str, "what it becomes"],
        replace_all: Annotated[bool, "every occurrence, not just one"] = False,
    ) -> str:
        """Change a part of your own artifact and leave the rest as it is."""
        path = _own_path(name)
        return await _store(path, name, _edited(name, old_text, new_text, replace_all))

    return {
        "read_workspace_file": read_workspace_file,
        "grep_workspace_file": grep_workspace_file,
        "write_workspace_file": write_workspace_file,
        "edit_workspace_file": edit_workspace_file,
    }


def read_text(name: str) -> str:
    """A source's or a draft's text.

    Raises:
        ToolError: there is no such file; names those that there are.
    """
    run = current_scope().run
    wanted = name.strip().strip("[]").removeprefix("draft/").removeprefix("sources/")
    if wanted in ARTIFACTS:
        path = inside(run.dir, ARTIFACTS[wanted])
        if not path.is_file():
            raise ToolError(f"{wanted} has not been written yet.")
        return path.read_text("utf-8", "replace")
    source_id = wanted.removesuffix(".md").upper()
    source = run.source(source_id) if re.fullmatch(r"S\d{1,6}", source_id) else None
    if source is None:
        raise ToolError(f"There is no file '{name[:60]}'. Give a source id such as S1, or {' or '.join(ARTIFACTS)}.")
    if not source.file:
        raise ToolError(f"{source_id} has no text: {source.reason or source.state}. Use another source.")
    inside(run.dir, source.file)
    return run.read_source(source_id)


def inside(folder: Path, relative: str) -> Path:
    """A path in the run folder.

    Raises:
        ToolError: it leads out of the folder, or a link stands in the way.
    """
    path = folder / relative
    root = folder.resolve()
    if path.is_symlink() or not path.resolve().is_relative_to(root) or path.resolve() != root / relative:
        raise ToolError("That file is a link out of the run's folder and is not used.")
    return path


def _own_path(name: str) -> Path:
    scope = current_scope()
    own = OWN_ARTIFACT.get(scope.dispatch.role, "")
    wanted = name.strip().removeprefix("draft/")
    if wanted != own:
        raise ToolError(f"You may write {own or 'no file'} only, not '{name[:60]}'.")
    return inside(scope.run.dir, ARTIFACTS[own])


def _edited(name: str, old_text: str, new_text: str, replace_all: bool) -> str:
    text = read_text(name)
    found = text.count(old_text) if old_text else 0
    if found == 0:
        raise ToolError(f"{name} does not hold that old_text. Read the file and copy the passage exactly.")
    if found > 1 and not replace_all:
        raise ToolError(f"{name} holds that old_text {found} times. Give a longer passage, or set replace_all.")
    changed = text.replace(old_text, new_text)
    if not changed.strip():
        raise ToolError(f"That edit would leave {name} empty. Replace a part of it, or write it anew.")
    return changed


async def _store(path: Path, name: str, text: str) -> str:
    if len(text) > MAX_ARTIFACT_CHARS:
        raise ToolError(f"The text has {len(text)} characters; at most {MAX_ARTIFACT_CHARS} are kept. Shorten it.")
    await current_scope().run.keep(write_text_atomic, path, drafts.tidy(clean(text)))
    return json.dumps({"written": name, "words": len(text.split())})


def _lines_within(lines: list[str], budget: int) -> tuple[str, int]:
    """As many whole lines as fit, at least one (cut if need be), and how many they are."""
    taken: list[str] = []
    used = 0
    for line in lines:
        shown = line if len(line) <= budget else line[:budget]
        if taken and used + len(shown) + 1 > budget:
            break
        taken.append(shown)
        used += len(shown) + 1
    return "\n".join(taken), len(taken)


def _grep(text: str, pattern: str, max_hits: int) -> list[str]:
    """Matching lines as ``number: line``; a pattern that is no regular expression is searched for as it stands."""
    if not pattern or len(pattern) > _PATTERN_CHARS:
        raise ToolError(f"Give a pattern of 1 to {_PATTERN_CHARS} characters.")
    try:
        finder = regex.compile(pattern, regex.IGNORECASE)
    except regex.error:
        finder = regex.compile(regex.escape(pattern), regex.IGNORECASE)
    rows: list[str] = []
    try:
        # One search over the whole text keeps the time limit a limit on the call, not on each line.
        for match in finder.finditer(text, timeout=_PATTERN_SECONDS):
            number = text.count("\n", 0, match.start()) + 1
            start = text.rfind("\n", 0, match.start()) + 1
            stop = text.find("\n", match.start())
            row = f"{number}: {text[start : stop if stop >= 0 else len(text)][:_LINE_CHARS]}"
            if not rows or rows[-1] != row:
                rows.append(row)
            if len(rows) >= max_hits:
                break
    except TimeoutError:
        raise ToolError("That pattern takes too long. Use a simpler one, or plain words.") from None
    return rows
