"""The pages that the vault keeps of itself: index, log, overview, and what Obsidian and a reader find beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

RECENT = 200
SPLIT_OVER = 500
_BLANKED = str.maketrans(dict.fromkeys("[]|`$%<>", " "))


@dataclass(frozen=True)
class Entry:
    """A page in the index."""

    path: str
    title: str
    type: str
    summary: str
    updated_at: str


def index_files(entries: Sequence[Entry]) -> dict[str, str]:
    """The index and, where there are many pages, one more a type. Entries are given newest first; returns path to text."""
    files: dict[str, str] = {}
    types = sorted({entry.type for entry in entries})
    lines = ["# Index", "", f"{len(entries)} pages. Rebuilt with every page; notes of your own belong elsewhere.", "", "## Recent", ""]
    lines += [_line(entry) for entry in entries[:RECENT]]
    for kind in types:
        own = [entry for entry in entries if entry.type == kind]
        lines += ["", f"## {kind.capitalize()} ({len(own)})", ""]
        if len(entries) <= SPLIT_OVER:
            lines += [_line(entry) for entry in sorted(own, key=lambda entry: entry.title.casefold())]
        else:
            lines.append(f"- [[wiki/index-{kind}|All pages of this type]]")
            listed = [_line(entry) for entry in sorted(own, key=lambda entry: entry.title.casefold())]
            files[f"wiki/index-{kind}.md"] = "\n".join([f"# Index: {kind}", "", *listed, ""])
    files["wiki/index.md"] = "\n".join([*lines, ""])
    return files


def logged(log: str, day: str, kind: str, title: str) -> str:
    """The log with one more entry at its end."""
    begun = log if log.strip() else "# Log\n"
    return f"{begun.rstrip()}\n\n## [{day}] {kind} | {_plain(title)}\n"


STATIC = {
    "wiki/overview.md": "# Overview\n\n[[wiki/index|All pages]] and [[wiki/log|what came in when]].\n",
    "schema.md": (
        "# Schema\n\nPages stand below `wiki/`, by type: entities, concepts, sources, queries, synthesis, comparisons. Each has the fields "
        "type, title, aliases, sources, lang, tags, created, updated and verification. What they were made of stands below `raw/`.\n"
    ),
    "purpose.md": "# Purpose\n\nWhat this vault is for. DeepDelve never changes this page.\n",
    ".obsidian/app.json": '{\n  "newLinkFormat": "absolute",\n  "userIgnoreFilters": [\n    ".deepdelve/"\n  ]\n}\n',
}


def _line(entry: Entry) -> str:
    summary = f" — {_plain(entry.summary)}" if entry.summary else ""
    return f"- [[{entry.path.removesuffix('.md')}|{_plain(entry.title)}]]{summary}"


def _plain(text: str) -> str:
    """Text that ends no link and begins none."""
    return " ".join(text.translate(_BLANKED).split())
