"""Times all checks on made reports: CPU seconds for 10,000 words with 200 sources, and how the time grows with the report."""

import math
import random
import time
from collections.abc import Iterator
from itertools import pairwise

from deepdelve.core.records import Source
from deepdelve.utils.grounding import citations, contradictions, ledger, render, stubs, topics
from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.support import LexicalVerifier

_SYLLABLES = tuple(first + last for first in "bcdfghjklmnprstvwz" for last in ("a", "en", "i", "or", "u"))
_LINKS = ("the", "of", "and", "in", "for", "with", "by", "from", "to", "on", "as", "at")
QUESTION = "How do the regions compare, excluding military use?"


def make(words: int, sources: int, characters: int, seed: int = 1) -> tuple[str, dict[str, str]]:
    """A report of so many words, each sentence cited, half of them taken from its source; and the sources, by id."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(20_000)]
    rank = [1 / (place + 10) for place in range(len(vocabulary))]
    texts: dict[str, str] = {}
    taken: list[tuple[str, str]] = []
    for number in range(1, sources + 1):
        drawn = iter(rng.choices(vocabulary, rank, k=characters // 5))
        lines: list[str] = []
        size = 0
        while size < characters:
            sentence = _sentence(rng, drawn)
            lines.append(sentence)
            size += len(sentence) + 1
        texts[f"S{number}"] = " ".join(lines)[:characters]
        taken += [(f"S{number}", line) for line in lines[:60]]
    report = ["# A report"]
    count = 0
    while count < words:
        if count // 400 > (count - 20) // 400:
            report.append(f"\n## Part {count // 400}\n")
        key, sentence = rng.choice(taken)
        if rng.random() < 0.5:
            parts = sentence[:-1].split()
            rng.shuffle(parts)
            sentence = " ".join(parts) + "."
        report.append(f"{sentence[:-1]} [{key}].")
        count += len(sentence.split())
    return "\n".join(report), texts


def check_all(report: str, texts: dict[str, str]) -> int:
    """Every check once, indexes built anew. Returns how many claims there were."""
    records = {key: Source(id=key, url=f"https://site.example/{key}", title=key, file=f"sources/{key}.md") for key in texts}
    indexes = {key: SourceIndex(key, text) for key, text in texts.items()}
    for text in texts.values():
        stubs.detect(text)
    parsed = citations.parse(report, known=records.keys())
    found = ledger.build_ledger(report, records, indexes, LexicalVerifier(), QUESTION, parsed=parsed)
    contradictions.among(found)
    topics.treated((claim.text for claim in found), topics.excluded(QUESTION))
    for index in indexes.values():
        topics.is_off_topic("regions compare", index)
    render.render(report, found, records, "standard", parsed=parsed)
    return len(found)


def measure() -> dict[str, float]:
    """CPU seconds of the standard case (best of three), and the exponent of growth up to 100,000 words.

    ``speed_cold_cpu_seconds`` is the first of the three, when none of the made-up words has been met.
    """
    report, texts = make(10_000, 200, 20_000)
    rounds = [_cpu(report, texts) for _ in range(3)]
    small = {key: text[:4000] for key, text in texts.items()}
    points: list[tuple[float, float]] = []
    for words in (10_000, 30_000, 100_000):
        grown, _ = make(words, 200, 4000)
        points.append((math.log(words), math.log(min(_cpu(grown, small) for _ in range(2)))))
    slope = sum((b[1] - a[1]) for a, b in pairwise(points)) / (points[-1][0] - points[0][0])
    return {"speed_cpu_seconds": round(min(rounds), 3), "speed_cold_cpu_seconds": round(rounds[0], 3), "speed_exponent": round(slope, 3)}


def _cpu(report: str, texts: dict[str, str]) -> float:
    start = time.process_time()
    check_all(report, texts)
    return time.process_time() - start


def _sentence(rng: random.Random, drawn: Iterator[str]) -> str:
    words: list[str] = []
    for _ in range(rng.randint(8, 20)):
        words += [next(drawn), rng.choice(_LINKS)] if rng.random() < 0.5 else [next(drawn)]
    if rng.random() < 0.4:
        words.append(f"{rng.randint(2, 9000)} {rng.choice(['percent', 'million euros', 'km', 'people'])}")
    return " ".join(words).capitalize() + "."
