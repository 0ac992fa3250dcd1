"""What pages are made of a source, by rule, and what a page must be before it is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deepdelve.core.errors import StateError
from deepdelve.engine.vault import frontmatter, links
from deepdelve.engine.vault.frontmatter import Document, text_list
from deepdelve.engine.vault.layout import PAGE_FOLDERS
from deepdelve.utils.text import telling_words

TRIES = 3
MAX_TAGS = 12
SUMMARY_CHARS = 160
REQUIRED = ("type", "title", "aliases", "sources", "lang", "tags", "created", "updated", "verification")
_TAGS = 5


@dataclass(frozen=True)
class Draft:
    """A page before it has a place: its fields, its body, and how its text begins."""

    type: str
    title: str
    fields: dict[str, Any]
    body: str
    summary: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The file."""
        return frontmatter.dump(self.fields, self.body)


def drafted(source: Document, raw_path: str) -> Draft:
    """The page of a source, generated and validated in at most three tries; what is wrong in one is mended in the next.

    Raises:
        StateError: it is not valid after the last try.
    """
    errors: list[str] = []
    for attempt in range(TRIES):
        draft = generate(source, raw_path, attempt)
        errors = validate(draft, raw_path)
        if not errors:
            return draft
    raise StateError(f"The page of {raw_path} is not valid: {errors[0]}.", "Correct the source and try again.")


def generate(source: Document, raw_path: str, attempt: int = 0) -> Draft:
    """One synthesis page of a checked text. The second try takes invalid links out, the third all links."""
    fields = source.fields
    title = str(fields.get("title") or "Untitled")
    body = source.body.strip()
    if attempt:
        body = links.without_invalid(body, every=attempt > 1)
    topic = str(fields.get("topic") or title)
    today = datetime.now(UTC).date().isoformat()
    run_id = str(fields.get("deep_research_run_id") or "")
    aliases = [topic] if topic != title else []
    page: dict[str, Any] = {
        "type": "synthesis",
        "title": title,
        "aliases": aliases,
        "sources": [raw_path],
        "lang": str(fields.get("lang") or "unknown"),
        "tags": tags(topic),
        "created": str(fields.get("created") or today),
        "updated": today,
        "verification": {
            "grounding": str(fields.get("grounding") or "unverified"),
            "sources_cited": len(text_list(fields.get("urls"))),
            "run_id": run_id,
        },
    }
    return Draft("synthesis", title, page, body, summary(body), tuple(aliases))


def validate(draft: Draft, raw_path: str) -> list[str]:
    """What is wrong with a page, one line each."""
    read = frontmatter.parse(draft.text)
    errors = [read.error] if read.error else []
    errors += [f"the field {name} is missing" for name in REQUIRED if name not in read.fields]
    if draft.type not in PAGE_FOLDERS:
        errors.append(f"there is no type {draft.type}")
    if raw_path not in text_list(read.fields.get("sources")):
        errors.append("it does not name its source")
    if len(text_list(read.fields.get("tags"))) > MAX_TAGS:
        errors.append("it has too many tags")
    if not any(char.isalnum() for char in read.body):
        errors.append("it has no text")
    errors += [f"a link is {reason}" for _, _, reason in links.parse_links(draft.text).invalid]
    return errors


def tags(topic: str) -> list[str]:
    """A few words of the topic as tags; a tag that is only digits is none in Obsidian."""
    found = [word for word in telling_words(topic) if len(word) > 2 and not word.isdigit()]
    return ["deep-research", *found[:_TAGS]]


def summary(body: str) -> str:
    """The first prose of a body, short."""
    prose = (line.strip().lstrip("-*+ ") for line in body.splitlines() if line.strip() and not line.lstrip().startswith(("#", "|", ">")))
    line = " ".join(links.without_invalid(next(prose, ""), every=True).split())
    return line if len(line) <= SUMMARY_CHARS else line[: SUMMARY_CHARS - 1].rstrip() + "…"


def names_of(page_id: str, path: str, title: str, aliases: Sequence[str]) -> list[links.Name]:
    """The names under which links find a page."""
    stem = path.rpartition("/")[2].removesuffix(".md")
    found = [links.Name(page_id, "title", title, path), links.Name(page_id, "file", stem, path)]
    return found + [links.Name(page_id, "alias", alias, path) for alias in dict.fromkeys(aliases)]


def aliases_of(fields: Mapping[str, Any]) -> list[str]:
    """The aliases that a page's frontmatter names."""
    return text_list(fields.get("aliases"))
