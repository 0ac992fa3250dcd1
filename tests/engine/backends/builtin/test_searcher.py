"""The Searcher: two rounds of search, fetch and reading, within its means."""

import pytest

from deepdelve.engine.backends.builtin.conversation import Call, Conversation, Turn
from deepdelve.engine.backends.builtin.searcher import ABREAST, READING_CHARS, ROUNDS, searcher
from tests.engine.backends.builtin.build import ALL_TOOLS, args_of, conversation, fetch, reading, refused, search, search_brief

ASKED = "Who is the mayor of Elm?"
TASK = search_brief(ASKED)
HITS = [(f"corpus://d/{n}.md", f"Title {n}", f"Elm has a mayor, says paper {n}.") for n in range(10)]


def turn(*calls: Call, task: str = TASK, tools: frozenset[str] = ALL_TOOLS) -> Turn:
    return searcher(conversation(task, calls=calls, tools=tools))


def urls(found: Turn) -> list[str]:
    assert {call.tool for call in found.calls} <= {"fetch_url_to_workspace"}
    return args_of(found.calls, "url")


def fetched(count: int, start: int = 0, **extra: int) -> list[Call]:
    return [fetch(HITS[n][0], f"S{n + 1}", **extra) for n in range(start, start + count)]


# First round


def test_it_searches_for_its_task_first() -> None:
    found = turn()
    assert [(call.tool, call.args) for call in found.calls] == [("web_search", {"query": "Who is the mayor of Elm?"})]


def test_leads_in_its_task_are_searched_for_too() -> None:
    found = turn(task=search_brief("Who is the mayor of Elm?\nDirections worth following: Ada Quill; Elm council"))
    assert args_of(found.calls, "query") == ["Who is the mayor of Elm?", "Ada Quill", "Elm council"]


def test_it_fetches_a_few_at_a_time_until_the_first_rounds_share_is_used() -> None:
    calls = [search(ASKED, *HITS)]
    assert len(urls(turn(*calls))) == ABREAST
    calls += fetched(4)
    assert len(urls(turn(*calls))) == ABREAST
    calls += fetched(4, 4)
    assert turn(*calls).calls[0].tool == "delegate_tasks"


def test_the_more_facets_a_question_has_the_fewer_pages_are_for_each() -> None:
    task = search_brief(ASKED, question="Which is longer, the Rhine, the Elbe, the Rhone or the Danube?")
    assert turn(search(ASKED, *HITS), *fetched(5), task=task).calls[0].tool == "delegate_tasks"
    assert len(urls(turn(search(ASKED, *HITS), *fetched(5)))) == 3


def test_what_fits_best_is_fetched_first() -> None:
    hits = [
        ("http://a.org/1", "Cows", "Cows graze."),
        ("http://b.org/2", "Elm", "The mayor of Elm is Ada Quill."),
        ("http://c.org/3", "Sea", "Waves."),
    ]
    assert urls(turn(search(ASKED, *hits)))[0] == "http://b.org/2"


def test_one_site_and_one_text_do_not_fill_the_round() -> None:
    same_site = [(f"http://a.org/{n}", f"Elm mayor {n}", f"The mayor of Elm, part {n}.") for n in range(6)]
    found = urls(turn(search(ASKED, *same_site, ("http://b.org/", "Cows", "Cows."))))
    assert found[-1] == "http://b.org/"
    assert sum(url.startswith("http://a.org") for url in found) == 3
    copies = [(f"corpus://d/{n}.md", "Elm", "The mayor.") for n in range(6)]
    assert len(urls(turn(search(ASKED, *copies)))) == 1


def test_readers_get_ids_of_readable_sources_and_no_more_text_than_they_can_hold() -> None:
    calls = [
        search(ASKED, *HITS[:6]),
        *fetched(4, chars=READING_CHARS // 2),
        fetch(HITS[4][0], "S5", state="stub"),
        fetch(HITS[5][0], "S6", chars=10),
    ]
    (call,) = turn(*calls).calls
    tasks = call.args["tasks"]
    assert [task["source_ids"] for task in tasks] == [["S1", "S2"], ["S3", "S4"], ["S6"]]
    assert len({task["task_name"] for task in tasks}) == 3
    assert all(task["instructions"] == "Who is the mayor of Elm?" for task in tasks)


def test_a_search_without_hits_is_tried_once_in_fewer_words() -> None:
    assert args_of(turn(search(ASKED)).calls, "query") == ["Elm"]
    assert "Nothing was found" in turn(search(ASKED), search("Elm")).text


def test_nothing_readable_ends_in_words() -> None:
    found = turn(search(ASKED, HITS[0]), fetch(HITS[0][0], "S1", state="unreachable"))
    assert "1 searches, 1 pages fetched" in found.text


# Second round


def first_round(*, claims: int, leads: tuple[str, ...] = ()) -> list[Call]:
    return [search(ASKED, *HITS[:2]), *fetched(2), reading(["S1", "S2"], claims=claims, leads=leads)]


def test_leads_are_searched_for() -> None:
    found = turn(*first_round(claims=2, leads=("Ada Quill", "Quill family")))
    assert args_of(found.calls, "query") == ["Ada Quill", "Quill family"]


def test_only_a_hit_that_is_the_lead_is_fetched() -> None:
    calls = first_round(claims=2, leads=("Ada Quill",))
    calls.append(
        search("Ada Quill", ("corpus://d/x.md", "Bob Brown", "Ada Quill was here."), ("corpus://d/q.md", "Ada Quill (mayor)", "Born 1901."))
    )
    assert urls(turn(*calls)) == ["corpus://d/q.md"]


def test_a_long_lead_is_a_query_of_its_own_and_its_best_hits_are_fetched() -> None:
    query = "Elm: mayor chain The mayor of the town of Elm is Ada Quill"
    calls = [*first_round(claims=2, leads=(query,)), search(query, *[(f"corpus://d/{n}.md", f"T{n}", "s") for n in range(20, 25)])]
    assert urls(turn(*calls)) == ["corpus://d/20.md", "corpus://d/21.md"]


def test_what_was_fetched_is_not_fetched_again() -> None:
    calls = [*first_round(claims=2, leads=("Title 0",)), search("Title 0", HITS[0])]
    assert turn(*calls).text


def test_the_second_reading_knows_the_leads() -> None:
    calls = [
        *first_round(claims=2, leads=("Ada Quill",)),
        search("Ada Quill", ("corpus://d/q.md", "Ada Quill", "")),
        fetch("corpus://d/q.md", "S9"),
    ]
    (call,) = turn(*calls).calls
    (task,) = call.args["tasks"]
    assert task["source_ids"] == ["S9"]
    assert task["instructions"] == "Who is the mayor of Elm?\nDirections worth following: Ada Quill"


def test_without_claims_other_words_are_tried() -> None:
    found = turn(*first_round(claims=0))
    assert args_of(found.calls, "query") == ["Elm"]


def test_without_leads_it_ends() -> None:
    assert turn(*first_round(claims=2)).text == "2 claims were found, in S1, S2."


def test_it_ends_after_its_rounds() -> None:
    calls = [*first_round(claims=1, leads=("A B",)), *[reading(["S9"], claims=1, leads=("C D",))] * (ROUNDS - 1)]
    found = turn(*calls)
    assert found.calls == ()
    assert "claims were found" in found.text


# Limits


def test_after_a_refused_search_it_goes_on_with_what_it_has() -> None:
    assert len(urls(turn(search(ASKED, *HITS), refused("web_search", query="x")))) == ABREAST


def test_after_a_refused_fetch_it_has_the_rest_read() -> None:
    found = turn(search(ASKED, *HITS), *fetched(2), refused("fetch_url_to_workspace", url=HITS[2][0]))
    assert found.calls[0].args["tasks"][0]["source_ids"] == ["S1", "S2"]


def test_after_a_refused_delegation_it_ends() -> None:
    assert turn(search(ASKED, *HITS), *fetched(8), refused("delegate_tasks")).text


def test_a_nudge_is_answered_in_words() -> None:
    asked = Conversation((TASK, "You wrote nothing. Write up what you have."), tuple(first_round(claims=2)), 4, ALL_TOOLS)
    assert searcher(asked).text == "2 claims were found, in S1, S2."


def test_without_tools_it_says_something() -> None:
    assert turn(tools=frozenset()).text


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Error: broken",
        "<<<untrusted a>>>\nnot json\n<<<end a>>>",
        '<<<untrusted a>>>\n{"hits": "x"}\n<<<end a>>>',
        '<<<untrusted a>>>\n{"hits": [1]}\n<<<end a>>>',
    ],
)
def test_an_odd_answer_is_no_hit(answer: str) -> None:
    assert "Nothing was found" in turn(Call("web_search", {"query": ASKED}, answer), Call("web_search", {"query": "Elm"}, answer)).text
