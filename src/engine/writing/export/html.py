"""A report as one HTML file that needs nothing else: no script, no font, no picture, no address is loaded."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from deepdelve.engine.writing.export.document import Block, Document, Evidence, Run, right_to_left, web_address
from deepdelve.utils.phrases import say

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.6 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; }
p, li, h1, h2, h3, blockquote { overflow-wrap: anywhere; }
ul.report { list-style: none; padding-inline-start: 0; }
li.item { display: flex; gap: .5rem; }
li.item > span:last-child { flex: 1; min-width: 0; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; }
th, td { border: 1px solid #8886; padding: .3rem .5rem; text-align: start; vertical-align: top; }
th, td { min-width: 4rem; overflow-wrap: break-word; max-width: 24rem; }
blockquote { border-inline-start: 3px solid #8888; margin-inline: 0; padding-inline-start: 1rem; }
pre { overflow-x: auto; }
a { color: inherit; }
.claim:target, #evidence > li:target { outline: 2px solid Highlight; }
a.sign { text-decoration: none; font-size: .8em; padding: 0 .15em; }
#evidence > li { margin-bottom: 1rem; }
.status { font-weight: bold; }
mark { color: inherit; background: #fc06; }
nav { font-size: .9em; }
@media print { body { max-width: none; margin: 0; } nav { display: none; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_ITEM = "•"


def write(document: Document) -> str:
    """The document as HTML text."""
    language = f' lang="{escape(document.language)}"' if document.language else ""
    return "\n".join(
        [
            "<!doctype html>",
            f"<html{language}>",
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(document.title)}</title>",
            f"<style>{_STYLE}</style></head>",
            "<body>",
            *_body(document),
            "</body></html>",
            "",
        ]
    )


def _body(document: Document) -> Iterable[str]:
    seen: set[int] = set()
    yield "<main>"
    yield from _contents(document)
    for in_list, blocks in groupby(enumerate(document.blocks), key=lambda pair: pair[1].kind == "item"):
        rows = [_block(place, block, seen, document.language) for place, block in blocks]
        yield from ['<ul class="report">', *rows, "</ul>"] if in_list else rows
    yield "</main>"
    if document.evidence:
        yield f'<section><h2 id="what-carries-each-claim">{escape(say("carries", document.language))}</h2><ol id="evidence">'
        yield from (_evidence(item, document.language) for item in document.evidence)
        yield "</ol></section>"


def _contents(document: Document) -> Iterable[str]:
    rows = [
        f'<li{_direction(block.text)}><a href="#part-{place}">{escape(block.text)}</a></li>'
        for place, block in enumerate(document.blocks)
        if block.kind == "heading" and block.level > 1
    ]
    if len(rows) > 1:
        yield '<nav><ul class="contents">'
        yield from rows
        yield f'<li><a href="#what-carries-each-claim">{escape(say("carries", document.language))}</a></li></ul></nav>'


def _block(place: int, block: Block, seen: set[int], language: str) -> str:
    inner = _runs(block.runs, seen, language)
    mark = f' id="source-{block.source}"' if block.source else ""
    match block.kind:
        case "heading":
            return f'<h{block.level} id="part-{place}"{_direction(block.text)}>{inner}</h{block.level}>'
        case "item":
            sign = escape(block.marker) if block.marker else _ITEM
            indent = f' style="margin-inline-start:{1.5 * block.level:g}rem"' if block.level else ""
            return f'<li class="item"{mark}{indent}{_direction(block.text)}><span>{sign}</span><span>{inner}</span></li>'
        case "quote":
            return f"<blockquote{_direction(block.text)}>{inner}</blockquote>"
        case "code":
            return f'<pre dir="ltr">{inner}</pre>'
        case "table":
            return _table(block, seen, language)
        case "rule":
            return "<hr>"
        case "text":
            return f"<p{mark}{_direction(block.text)}>{inner}</p>"


def _table(block: Block, seen: set[int], language: str) -> str:
    rows = [
        "<tr>"
        + "".join(f"<{tag}{_direction(''.join(run.text for run in cell))}>{_runs(cell, seen, language)}</{tag}>" for cell in row)
        + "</tr>"
        for tag, row in (("td" if place else "th", row) for place, row in enumerate(block.rows))
    ]
    head, body = rows[:1], rows[1:]
    return f'<div class="table"><table><thead>{"".join(head)}</thead><tbody>{"".join(body)}</tbody></table></div>'


def _runs(runs: Sequence[Run], seen: set[int], language: str) -> str:
    """The runs; those of one claim stand in one element, whose first one is the target of the way back."""
    parts: list[str] = []
    for number, group in groupby(runs, key=lambda run: run.claim):
        inner = "".join(_run(run, language) for run in group)
        if number:
            mark = "" if number in seen else f' id="claim-{number}"'
            seen.add(number)
            inner = f'<span class="claim"{mark}>{inner}</span>'
        parts.append(inner)
    return "".join(parts)


def _run(run: Run, language: str) -> str:
    text = escape(run.text).replace("\n", "<br>")
    if run.jump:
        title = escape(say("carries_this", language))
        return f'<a class="sign" href="#passage-{run.claim}" title="{title}">{text}</a>'
    if run.code:
        text = f"<code>{text}</code>"
    if run.bold:
        text = f"<strong>{text}</strong>"
    if run.italic:
        text = f"<em>{text}</em>"
    if run.href:
        return f'<a href="{escape(run.href)}" rel="noreferrer">{text}</a>'
    return f'<a href="#source-{run.source}">{text}</a>' if run.source else text


def _evidence(item: Evidence, language: str) -> str:
    said = f"<bdi>{escape(item.text)}</bdi>"
    status = escape(say(f"status_{item.status}", language))
    claim = f'<a href="#claim-{item.number}">{said}</a>' if item.placed else said
    reason = f" <span>({escape(item.reason)})</span>" if item.reason else ""
    lines = [f'<li id="passage-{item.number}"><span class="status">{item.sign} {status}</span>{reason}: {claim}']
    if item.quote:
        around = f"{escape(item.before)}<mark>{escape(item.quote)}</mark>{escape(item.after)}"
        lines.append(f"<blockquote{_direction(item.quote)}>{around}</blockquote>")
    if item.title:
        title = f"<bdi>{escape(item.title)}</bdi>"
        address = web_address(item.url)
        lines.append(f'<div><a href="{escape(address)}" rel="noreferrer">{title}</a></div>' if address else f"<div>{title}</div>")
    return "".join(lines) + "</li>"


def _direction(text: str) -> str:
    return ' dir="rtl"' if right_to_left(text) else ""
