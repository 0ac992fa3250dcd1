"""Outside text made fit for a screen: no control codes, no direction tricks, bounded length. Also signs and durations in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deepdelve.core.records import ClaimCounts

# Control characters save newline and tab; bidirectional overrides and isolates, which can make text read as something else.
_CONTROLS: dict[int, str] = {
    **dict.fromkeys([*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], ""),
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
}
_ESCAPE = "\x1b"
BLOCK_LIMIT = 20_000
LINE_LIMIT = 400

CLAIM_SIGNS: dict[str, str] = {"supported": "✓", "partial": "◐", "contradicted": "✗", "unsupported": "!", "unchecked": "?"}
TASK_SIGNS: dict[str, str] = {"queued": "○", "running": "●", "done": "✓", "failed": "✗", "refused": "⊘"}
SOURCE_SIGNS: dict[str, str] = {"ok": "✓", "stub": "◐", "blocked": "⊘", "unreachable": "✗"}
STAGE_WORDS: dict[str, str] = {
    "planning": "planning",
    "searching": "searching",
    "writing_findings": "writing findings",
    "writing_report": "writing report",
    "checking": "checking",
    "delivering": "delivering",
    "done": "done",
}
OUTCOME_WORDS: dict[str, str] = {
    "verified": "✓ verified",
    "unverified": "! unverified",
    "partial": "◐ partial",
    "no_evidence": "∅ no evidence",
    "no_report": "✗ no report",
    "stopped": "■ stopped",
    "failed": "✗ failed",
    "": "… interrupted",
}


def clean(text: str, limit: int = BLOCK_LIMIT) -> str:
    """Text that a terminal shows as it stands: escape sequences and control characters gone, at most ``limit`` characters."""
    cut = text[: limit + 1]
    if _ESCAPE in cut:
        cut = _without_escapes(cut)
    cut = cut.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)
    if len(text) > limit:
        return f"{cut[:limit]}… ({len(text):,} characters in all)"
    return cut


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """As ``clean``, on one line, ending in an ellipsis where it was cut."""
    flat = " ".join(clean(text[: limit * 4], limit * 4).split())
    return flat if len(flat) <= limit else flat[: max(limit - 1, 0)] + "…"


def last_line(text: str, limit: int = LINE_LIMIT) -> str:
    """The last line of a text that says something."""
    lines = text[-4_000:].rstrip().rsplit("\n", 1)
    return one_line(lines[-1], limit)


def duration(seconds: float) -> str:
    """Seconds as ``8 s``, ``2:05`` or ``1:02:05``."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def count(number: int, noun: str) -> str:
    """``1 source``, ``3 sources``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short_number(number: float) -> str:
    """``950``, ``12.3k``, ``2.1M``."""
    if number < 1_000:
        return f"{number:g}" if number != int(number) else str(int(number))
    if number < 1_000_000:
        return f"{number / 1_000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def claim_counts(counts: "ClaimCounts") -> str:
    """The counts of a ledger in words and signs; statuses without claims are left out."""
    parts = [(name, int(getattr(counts, name))) for name in CLAIM_SIGNS]
    shown = [f"{CLAIM_SIGNS[name]} {number} {name}" for name, number in parts if number]
    return " · ".join(shown) or "no claims"


def domain(url: str) -> str:
    """The host of an address, or the address itself where it has none."""
    rest = url.split("://", 1)[-1]
    return one_line(rest.split("/", 1)[0].removeprefix("www.") or rest, 60)


def _without_escapes(text: str) -> str:
    """Drops terminal escape sequences; of one that is not whole only its beginning, so that no text is lost."""
    first, *parts = text.split(_ESCAPE)
    out = [first]
    for place, part in enumerate(parts):
        ended = place + 1 < len(parts) and parts[place + 1].startswith("\\")
        out.append(_after_escape(part, ended))
    return "".join(out)


def _after_escape(part: str, ended: bool) -> str:
    """What follows a sequence. CSI goes to its final byte, OSC and its kin to BEL or to the ST that ``ended`` says comes next."""
    kind = part[:1]
    if kind == "[":
        place = 1
        while place < len(part) and " " <= part[place] <= "?":
            place += 1
        return part[place + 1 :] if part[place : place + 1] and "@" <= part[place] <= "~" else part[place:]
    if kind and kind in "]PX^_":
        before, bell, after = part.partition("\x07")
        return after if bell else "" if ended else before[1:]
    return part[1:]
