"""Write, review, fix: a writer, a fresh reviewer, one corrective pass; each in a context of its own."""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Literal, cast

from deepdelve.core import events as ev
from deepdelve.core.records import Artifact, Role
from deepdelve.engine.context import RunContext
from deepdelve.engine.dispatch import Request, Result
from deepdelve.engine.writing import salvage
from deepdelve.utils.fence import fence
from deepdelve.utils.files import write_text_atomic
from deepdelve.utils.run_state import artifact_file

WRITER: dict[Artifact, Role] = {"findings": "FindingsWriter", "final_report": "Builder"}
FILE_NAME: dict[Artifact, str] = {"findings": "findings.md", "final_report": "final_report.md"}
EMPTY_RETRIES = 2
MAX_ISSUES = 8
# A writer that has not written a word in so many passes, each with its retries, is not asked again in this process.
SILENT_PASSES = 2
_UNCHANGED = (
    "Your last pass left {name} unchanged, to the letter. Your next tool call must be write_workspace_file "
    "(or edit_workspace_file) with the change that is asked for."
)
_EMPTY = "Your last pass wrote nothing. Call write_workspace_file with name {name} now; everything that you need is in this message."
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


@dataclass(frozen=True)
class Written:
    """How a writing ended: whether the draft exists, whether it changed, who wrote it, and whether the output limit cut it off.

    ``whole``: a writer gave the draft again as it was, and came to its end. ``silent``: it was asked as often as it may be, and
    nothing but its silence kept it from writing.
    """

    ok: bool
    changed: bool
    by: Literal["", "writer", "narrated"] = ""
    reason: str = ""
    truncated: bool = False
    whole: bool = False
    silent: bool = False


async def write_review_fix(ctx: RunContext, artifact: Artifact, message: str, *, review: bool = True) -> Written:
    """One writing of a draft.

    Args:
        ctx: the run.
        artifact: which draft.
        message: all that the writer is told; it is restated whole in the corrective pass.
        review: whether a reviewer looks at it (a run without time left does without).
    """
    before = ctx.draft(artifact) or _last_rejected(ctx, artifact)
    if ctx.silent[artifact] >= SILENT_PASSES and artifact not in ctx.has_written:
        return Written(bool(ctx.draft(artifact).strip()), False, "", f"{WRITER[artifact]} has written nothing in {SILENT_PASSES} passes")
    written = await _write(ctx, artifact, message, before)
    if written.changed or written.whole:
        ctx.has_written.add(artifact)
    ctx.silent[artifact] += written.silent
    stamped = ctx.run.state.drafts.get(artifact)
    if not written.changed:
        if written.whole and stamped is not None and stamped.truncated:
            stamp(ctx, artifact, stamped.by)
        return written
    stamp(
        ctx, artifact, WRITER[artifact] if written.by == "writer" else f"{WRITER[artifact]} (from its reply)", truncated=written.truncated
    )
    if not review or ctx.run.clock.remaining() <= 0 or not ctx.services.runs("review"):
        return written
    issues = await _review(ctx, artifact)
    if issues:
        corrected = await _write(ctx, artifact, _corrective(ctx, artifact, message, issues), ctx.draft(artifact), retries=0)
        if corrected.changed:
            stamp(ctx, artifact, WRITER[artifact], truncated=corrected.truncated)
    return Written(True, ctx.draft(artifact) != before, written.by)


def _last_rejected(ctx: RunContext, artifact: Artifact) -> str:
    """The draft that was just set aside: writing it again, to the letter, is no change."""
    names = ctx.run.state.rejected.get(artifact, [])
    return ctx.run.read_file(names[-1]) if names else ""


def stamp(ctx: RunContext, artifact: Artifact, by: str, *, truncated: bool = False) -> None:
    """Record that the draft stands as it is now, how many sources could be cited then, and whether it was cut off."""
    text = ctx.draft(artifact)
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    citable = len(ctx.run.state.citable_sources())
    ctx.run.emit(
        ev.ArtifactWritten(
            artifact=artifact,
            file=artifact_file(artifact),
            words=len(text.split()),
            sha256=digest,
            by=by,
            citable=citable,
            truncated=truncated,
        )
    )


async def _write(ctx: RunContext, artifact: Artifact, message: str, before: str, retries: int = EMPTY_RETRIES) -> Written:
    """Dispatch the writer until the draft has changed, within the counts of the retry table."""
    said = message
    result: Result | None = None
    name = FILE_NAME[artifact]
    unchanged_told = False
    for _ in range(1 + retries):
        result = await ctx.dispatcher.dispatch(Request(role=WRITER[artifact], message=said, task=f"Write {name}", depth=1))
        now = ctx.draft(artifact)
        cut = result.error is not None and result.error.cause == "length"
        if now.strip() and now != before:
            return Written(True, True, "writer", truncated=cut)
        may_narrate = result.error is None and not now.strip() and ctx.services.runs("narrated")
        narrated = salvage.narrated_report(result.text) if may_narrate else None
        if narrated is not None:
            await ctx.run.keep(write_text_atomic, ctx.run.dir / artifact_file(artifact), narrated)
            ctx.run.notice(f"{WRITER[artifact]} gave {name} as a reply instead of writing it; its text is used.", code="narrated")
            return Written(True, True, "narrated", truncated=cut)
        if result.error is not None and result.error.cause != "empty":
            break
        if now.strip():
            if unchanged_told:
                break
            unchanged_told = True
            said = f"{_UNCHANGED.format(name=name)}\n\n{message}"
        else:
            said = f"{_EMPTY.format(name=name)}\n\n{message}"
    reason = result.reason if result is not None else ""
    whole = result is not None and result.ok and result.dispatch.written
    silent = result is not None and not whole and (result.error is None or result.error.cause == "empty")
    return Written(bool(ctx.draft(artifact).strip()), False, "", reason, whole=whole, silent=silent)


async def _review(ctx: RunContext, artifact: Artifact) -> tuple[str, ...]:
    """What a fresh reviewer objects to. An empty answer is "not reviewed", and is disclosed."""
    name = FILE_NAME[artifact]
    message = f"Question: {ctx.run.state.brief}\nReview the file {name}."
    result = await ctx.dispatcher.dispatch(Request(role="PeerReviewer", message=message, task=f"Review {name}", depth=1))
    # A review that broke off is none: half a sentence of it would be taken for a remark.
    reviewed, issues = parse_review(result.text if result.ok else "")
    ctx.run.emit(ev.ReviewDone(artifact=artifact, ok=not issues, reviewed=reviewed, issues=issues))
    return issues


def parse_review(text: str) -> tuple[bool, tuple[str, ...]]:
    """A reviewer's answer as (whether it reviewed at all, its issues). Text that is no JSON is taken as remarks."""
    if not text.strip():
        return False, ()
    match = _OBJECT.search(text)
    data: Any = None
    if match is not None:
        try:
            data = json.loads(match.group(0))
        except ValueError:
            data = None
    if isinstance(data, dict):
        answer = cast("dict[str, Any]", data)
        issues = [_issue(item) for item in cast("list[Any]", answer.get("issues") or []) if item]
        return True, tuple(issue for issue in issues[:MAX_ISSUES] if issue)
    return True, (text.strip()[:2_000],)


def _issue(item: Any) -> str:
    if isinstance(item, dict):
        row = cast("dict[str, Any]", item)
        quote, problem = str(row.get("quote") or "").strip()[:300], str(row.get("problem") or "").strip()[:300]
        return f'"{quote}": {problem}' if quote and problem else quote or problem
    return str(item).strip()[:600]


def _corrective(ctx: RunContext, artifact: Artifact, message: str, issues: tuple[str, ...]) -> str:
    listed = "\n".join(f"- {issue}" for issue in issues)
    draft = fence(ctx.draft(artifact), ctx.run.nonce)
    name = FILE_NAME[artifact]
    return (
        f"A reviewer objects to {name} as it stands. Mend what is right in these remarks with edit_workspace_file and leave the rest:\n"
        f"{listed}\n\nThe file now:\n{draft}\n\nThe task as it was given:\n{message}"
    )
