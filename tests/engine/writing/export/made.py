"""A report that holds all that makes trouble: scripts from both sides, wide tables, markup of every format, and its ledger."""

from deepdelve.core.records import Claim, ClaimStatus, Passage, Source
from deepdelve.engine.writing.export.document import Document, build

WIDE = "\n".join(
    [
        "| " + " | ".join(f"column {n}" for n in range(11)) + " |",
        "|" + "---|" * 11,
        *("| " + " | ".join(f"value {n * row} kWh" for n in range(11)) + " |" for row in (3, 5, 7)),
    ]
)
SUPPORTED = "Field trials found a COP above 2.0 at minus ten [1]."
CHINESE = "热泵在寒冷气候中效率较低 [2]"
ARABIC = "مضخات الحرارة تعمل بشكل جيد في البرد (test 123) حتى عند -10 درجات [1]."
REPORT = f"""# Heat pumps & <b>bold</b> #emph[x] $x^2$

> Verified. 3 claims: 1 supported.

## Performance of **pumps**

{SUPPORTED} {CHINESE} ⚠ not supported by [2]. And ![a picture](https://tracker.example/x.png) `code <i>`.

{ARABIC}

- item one [1, 2]
  - nested 二
    1. deep

| model | COP | 热 |
|---|---|---|
| A | 2.1 | كفاءة |
| B | 3 [1] | https://example.org/{"a" * 90} |

{WIDE}

<script>alert(1)</script>

```
#raw code <x>
```

## Sources

[1] Field trial. https://example.org/trial?a=1&b=2

[2] Survey \\[x\\]. https://example.com/survey
"""
TEXT = "Before words. Field trials found a COP above 2.0 at minus ten. After words 热泵 <b> here."
PASSAGE = "Field trials found a COP above 2.0 at minus ten."


def passage(text: str = TEXT, quote: str = PASSAGE) -> Passage:
    start = text.find(quote)
    return Passage(source_id="S1", file="sources/S1.md", start=start, end=start + len(quote), quote=quote)


def claim(number: int, text: str, status: ClaimStatus, cited: str, carried: Passage | None = None, report: str = REPORT) -> Claim:
    start = report.find(text)
    span = (start, start + len(text)) if start >= 0 else None
    reason = "" if status == "supported" else "why <x> & $y$"
    return Claim(id=f"c{number}", text=text, delivered_span=span, citations=(cited,), status=status, passage=carried, reason=reason)


def claims() -> list[Claim]:
    return [
        claim(1, SUPPORTED, "supported", "S1", passage()),
        claim(2, CHINESE, "unsupported", "S2"),
        claim(3, ARABIC, "partial", "S1", passage()),
    ]


def sources() -> dict[str, Source]:
    first = Source(
        id="S1", url="https://example.org/trial?a=1&b=2", title="Field trial", file="sources/S1.md", author="Doe, Jane; Max Muster",
        date="2024-03-05", fetched_at="2026-01-02T03:04:05Z",
    )  # fmt: skip
    second = Source(id="S2", url="https://example.com/survey", title="Survey <b>", file="sources/S2.md")
    return {"S1": first, "S2": second}


def document(report: str = REPORT) -> Document:
    return build(report, claims(), sources(), {"S1": TEXT}, title="A question?", language="en")
