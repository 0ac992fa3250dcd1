"""What a delivered report says of itself: the lines at its top and the notes at its end. None of it is a claim about the world."""

from deepdelve.core.records import Outcome

EXTRACTIVE = "Extractive report, made without a language model: its sentences are taken from the sources that they cite."
NOTES = "Notes on this report"
LABELS: dict[Outcome, str] = {
    "verified": "Verified",
    "unverified": "Not verified",
    "partial": "Partial",
    "no_evidence": "No evidence",
    "no_report": "No report",
    "stopped": "Stopped",
    "failed": "Failed",
}
_STARTS = (EXTRACTIVE, *(f"{label}." for label in LABELS.values()))


def top_end(text: str) -> int:
    """Where the lines at the top end that say how the report came about: an offset of the text, 0 where there are none."""
    at = 0
    for line in text.splitlines(keepends=True):
        if not (line.startswith("> ") and line[2:].startswith(_STARTS)):
            break
        at += len(line)
    return at
