"""Checks the pages of a vault again: each claim against the kept text of the sources that it cites. Blocking, and changes nothing."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deepdelve.core.records import Claim, ClaimCounts, Source
from deepdelve.engine.vault import frontmatter
from deepdelve.engine.vault.layout import Vault
from deepdelve.utils.grounding import citations, ledger
from deepdelve.utils.grounding.support import LexicalVerifier

_REFERENCE = re.compile(r"(?m)^- \\\[(\d{1,4})\\\] .{0,2000}?\(<\.\./\.\./raw/assets/pages/([0-9a-f]{64})\.md>\)$")


@dataclass(frozen=True)
class PageCheck:
    """One page: its claims by what became of them, those that are not carried, and which kept texts are missing or changed."""

    path: str
    title: str
    counts: ClaimCounts
    uncarried: tuple[Claim, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every claim that needs a source is carried, at least in part, by a text that is as it was kept."""
        return not self.uncarried and not self.missing


def verify_pages(vault: Vault) -> Iterator[PageCheck]:
    """Each synthesis page of a vault, in order of its name."""
    for path in sorted((vault.wiki / "synthesis").glob("*.md")):
        yield verify_page(vault, path)


def verify_page(vault: Vault, path: Path) -> PageCheck:
    """One page."""
    document = frontmatter.parse(path.read_text("utf-8", "replace"))
    body, _, listed = document.body.partition("\n## References")
    records: dict[str, Source] = {}
    texts: dict[str, str] = {}
    missing: list[str] = []
    for number, sha256 in _REFERENCE.findall(listed):
        text = _kept(vault, sha256)
        if text is None:
            missing.append(f"[{number}]")
        else:
            records[number] = Source(id=number, url="", file=f"{sha256}.md")
            texts[number] = text
    parsed = citations.parse(body, known=list(records))
    topic = str(document.fields.get("title") or "")
    claims = ledger.build_ledger(body, records, texts, LexicalVerifier(), topic, parsed)
    needing = [claim for claim in claims if claim.needs_citation]
    uncarried = tuple(claim for claim in needing if claim.status not in {"supported", "partial"})
    return PageCheck(vault.relative(path), topic or path.stem, ledger.counts(claims), uncarried, tuple(missing))


def _kept(vault: Vault, sha256: str) -> str | None:
    """A kept text; None where it is gone or is not what it was."""
    path = vault.asset(sha256)
    if not path.is_file():
        return None
    body = frontmatter.parse(path.read_text("utf-8", "replace")).body.strip()
    return body if hashlib.sha256(body.encode("utf-8", "replace")).hexdigest() == sha256 else None
