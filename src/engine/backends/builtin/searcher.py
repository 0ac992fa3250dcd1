"""The Searcher: searches, fetches what fits best and differs most, has it read, and follows the names that it leads to."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from deepdelve.engine.backends.builtin.briefs import LEADS_LABEL, Brief, read_brief
from deepdelve.engine.backends.builtin.conversation import Call, Conversation, Turn, json_object, objects, texts
from deepdelve.engine.backends.builtin.facets import split_question
from deepdelve.engine.backends.builtin.relevance import SourceText, rank, same_name
from deepdelve.utils.names import names
from deepdelve.utils.text import STOP_WORDS, squash, terms, words

ROUNDS = 2
# Pages that one Searcher fetches, and all of a question together: each facet has a Searcher of its own.
PAGES = 12
PAGES_IN_ALL = 28
# Of the pages, the share of the first round; the rest is for what it leads to.
FIRST_SHARE = 2 / 3
# Calls side by side: few enough that a quota which ends in the middle is noticed before the gate loses patience.
ABREAST = 4
LEAD_SEARCHES = 6
PER_HOST = 3
RANK_PRIOR = 0.3
# A lead of more words is no name but a query of its own.
CONTEXT_WORDS = 8
CONTEXT_HITS = 2
READING_CHARS = 18_000
READING_SOURCES = 8
QUERY_CHARS = 300


@dataclass(frozen=True)
class _Hit:
    url: str
    title: str
    snippet: str
    rank: int
    query: str


def searcher(conversation: Conversation) -> Turn:
    """Two rounds of search, fetch and reading; the second follows what the first found."""
    brief = read_brief(conversation.task)
    rounds = len(conversation.tried("delegate_tasks"))
    current = _since_reading(conversation.calls)
    if rounds >= ROUNDS or conversation.since or not conversation.may("delegate_tasks"):
        return Turn(text=_summary(conversation))
    for step in (_search, _fetch, _delegate):
        turn = step(conversation, brief, current)
        if turn is not None:
            return turn
    return Turn(text=_summary(conversation))


def _search(conversation: Conversation, brief: Brief, current: Sequence[Call]) -> Turn | None:
    fetched = any(call.tool == "fetch_url_to_workspace" for call in current)
    if fetched or not conversation.may("web_search"):
        return None
    made = {squash(call.text("query")) for call in conversation.tried("web_search")}
    open_queries = [query for query in _queries(conversation, brief) if query not in made]
    return Turn(tuple(Call("web_search", {"query": query}) for query in open_queries[:ABREAST])) if open_queries else None


def _queries(conversation: Conversation, brief: Brief) -> list[str]:
    """What this round searches for, in order."""
    first = squash(brief.focus)[:QUERY_CHARS]
    result = _last_reading(conversation)
    if result is None:
        found = _hits(conversation.done("web_search"))
        other = [] if found or not conversation.calls else [_telling(brief.focus)]
        return [query for query in (first, *brief.leads[:LEAD_SEARCHES], *other) if query]
    leads, claims = result
    if claims:
        return list(dict.fromkeys(squash(lead)[:QUERY_CHARS] for lead in leads))[: _lead_searches(brief)]
    return [query for query in (_telling(brief.focus), squash(brief.question)[:QUERY_CHARS]) if query]


def _fetch(conversation: Conversation, brief: Brief, current: Sequence[Call]) -> Turn | None:
    if not conversation.may("fetch_url_to_workspace"):
        return None
    tried = {call.text("url") for call in conversation.tried("fetch_url_to_workspace")}
    now = sum(call.tool == "fetch_url_to_workspace" for call in current)
    result = _last_reading(conversation)
    first, second = _pages(brief)
    room = (second if result is not None else first) - now
    hits = [hit for hit in _hits(call for call in current if call.tool == "web_search" and call.ok) if hit.url not in tried]
    following = result is not None and result[1] > 0
    picked = _follow(brief.focus, hits) if following else _choose(brief.focus, hits)
    urls = picked[: max(0, min(room, ABREAST))]
    return Turn(tuple(Call("fetch_url_to_workspace", {"url": url}) for url in urls)) if urls else None


def _delegate(conversation: Conversation, brief: Brief, current: Sequence[Call]) -> Turn | None:
    read = {
        source
        for call in conversation.done("delegate_tasks")
        for task in objects(call.args.get("tasks"))
        for source in texts(task.get("source_ids"))
    }
    sizes: dict[str, int] = {}
    for call in current:
        head = call.head if call.tool == "fetch_url_to_workspace" and call.ok else {}
        source_id = str(head.get("source_id", ""))
        if source_id and head.get("state") == "ok" and source_id not in read:
            sizes[source_id] = int(head.get("chars") or 0)
    if not sizes:
        return None
    leads = [call.text("query") for call in current if call.tool == "web_search"] if read else list(brief.leads)
    followed = f"\n{LEADS_LABEL}: {'; '.join(lead.replace(';', ',') for lead in leads)}" if leads else ""
    what = "what it leads to" if read else "first sources"
    tasks = [
        {
            "task_name": f"{brief.task[:80]}: {what}{f' ({number})' if number > 1 else ''}",
            "instructions": brief.focus + followed,
            "source_ids": group,
        }
        for number, group in enumerate(_groups(sizes), start=1)
    ]
    return Turn((Call("delegate_tasks", {"tasks": tasks}),))


def _choose(focus: str, hits: Sequence[_Hit]) -> list[str]:
    """Addresses by how well title and snippet fit, at most ``PER_HOST`` of one site and none that says the same."""
    by_url = {hit.url: hit for hit in reversed(hits)}
    prior = {url: RANK_PRIOR / hit.rank for url, hit in by_url.items()}
    ranked = rank(focus, [SourceText(hit.url, hit.title, hit.snippet) for hit in by_url.values()])
    ordered = sorted(ranked, key=lambda entry: -(entry.score + prior[entry.source.id]))
    hosts: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    chosen: list[str] = []
    for entry in ordered:
        host = urlsplit(entry.source.id).netloc if entry.source.id.startswith("http") else ""
        content = (entry.source.title, entry.source.text)
        if content in seen or (host and hosts[host] >= PER_HOST):
            continue
        seen.add(content)
        hosts[host] += 1
        chosen.append(entry.source.id)
    return chosen


def _follow(focus: str, hits: Sequence[_Hit]) -> list[str]:
    """Addresses that the leads led to, taken in turns: titles that are the name searched for, then what fits a longer query best."""
    by_query: dict[str, list[_Hit]] = {}
    for hit in hits:
        by_query.setdefault(hit.query, []).append(hit)
    lists = [_led_to(focus, query, found) for query, found in by_query.items()]
    turns = [url for place in range(CONTEXT_HITS) for found in lists if place < len(found) for url in (found[place],)]
    return list(dict.fromkeys(turns))


def _led_to(focus: str, query: str, hits: Sequence[_Hit]) -> list[str]:
    if len(words(query)) > CONTEXT_WORDS:
        return [hit.url for hit in hits][:CONTEXT_HITS]
    return [hit.url for hit in hits if same_name(hit.title, query)][:1]


def _hits(searches: Iterable[Call]) -> list[_Hit]:
    found: list[_Hit] = []
    for call in searches:
        for number, row in enumerate(objects(json_object(call.fenced).get("hits")), start=1):
            url = str(row.get("url") or "")
            if url:
                found.append(_Hit(url, str(row.get("title") or ""), str(row.get("snippet") or ""), number, call.text("query")))
    return found


def _last_reading(conversation: Conversation) -> tuple[list[str], int] | None:
    """Leads and number of claims of the last reading; None before the first."""
    readings = conversation.tried("delegate_tasks")
    if not readings:
        return None
    rows = objects(readings[-1].head.get("tasks"))
    led = objects(json_object(readings[-1].fenced).get("leads"))
    leads = [lead for row in led for lead in texts(row.get("leads"))]
    return leads, sum(int(row.get("claims") or 0) for row in rows)


def _since_reading(calls: Sequence[Call]) -> Sequence[Call]:
    last = max((n for n, call in enumerate(calls) if call.tool == "delegate_tasks"), default=-1)
    return calls[last + 1 :]


def _pages(brief: Brief) -> tuple[int, int]:
    pages = _share(brief)
    first = max(1, round(pages * FIRST_SHARE))
    return first, pages - first


def _share(brief: Brief) -> int:
    """The pages of one Searcher, where the question has several facets."""
    return min(PAGES, PAGES_IN_ALL // len(split_question(brief.question)))


def _lead_searches(brief: Brief) -> int:
    return LEAD_SEARCHES if _share(brief) == PAGES else LEAD_SEARCHES // 2


def _groups(sizes: dict[str, int]) -> list[list[str]]:
    """Sources in groups that one reader can hold at once."""
    groups: list[list[str]] = []
    used = READING_CHARS
    for source_id, size in sizes.items():
        if used + size > READING_CHARS or len(groups[-1]) >= READING_SOURCES:
            groups.append([])
            used = 0
        groups[-1].append(source_id)
        used += size
    return groups


def _telling(text: str) -> str:
    """The names of a text, or its longest words: a shorter query finds what a whole question misses."""
    found = names(text)
    if found:
        return squash(" ".join(found))[:QUERY_CHARS]
    telling = [word for word in words(text) if word not in STOP_WORDS]
    return " ".join(sorted(dict.fromkeys(telling), key=lambda word: -len(word))[:4]) if len(terms(text)) > 4 else ""


def _summary(conversation: Conversation) -> str:
    readings = [row for call in conversation.done("delegate_tasks") for row in objects(call.head.get("tasks"))]
    claims = sum(int(row.get("claims") or 0) for row in readings)
    sources = dict.fromkeys(source for row in readings for source in texts(row.get("sources")))
    if claims:
        return f"{claims} claims were found, in {', '.join(sources)}."
    looked = len(conversation.done("fetch_url_to_workspace"))
    return (
        f"Nothing was found on this task: {len(conversation.done('web_search'))} searches, {looked} pages fetched, none of them answers it."
    )
