"""What surfaces ask for becomes one query: the table, surface by surface, and the query language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdelve.core.errors import UsageError
from deepdelve.engine.history.parse import All, Any, Fact, Not, Pattern, Term, parse
from deepdelve.engine.history.resolve import SearchRequest, instant, resolve

FLAGS = ("cli", "tui")
PARAMETERS = ("http", "tool", "mcp")


def asked(surface="cli", terms="tide", **options):
    query = resolve(SearchRequest(terms=terms, surface=surface, **options))
    return query.scope, query.rung, query.scope_provenance


@pytest.mark.parametrize("surface", FLAGS)
@pytest.mark.parametrize(
    ("options", "scope", "effort", "said"),
    [
        ({}, "prompts", "prompt", "inferred"),
        ({"deep": True}, "all", "targeted", "inferred"),
        ({"scope": "conversations"}, "conversations", "exhaustive", "explicit"),
        ({"scope": "all"}, "all", "exhaustive", "explicit"),
        ({"scope": "prompts"}, "prompts", "prompt", "explicit"),
        ({"scope": "prompts", "exhaustive": True}, "prompts", "exhaustive", "explicit"),
        ({"scope": "conversations", "deep": True}, "conversations", "targeted", "explicit"),
        ({"kinds": ("report",)}, "all", "exhaustive", "inferred"),
    ],
)
def test_a01_normalization_of_flags(surface, options, scope, effort, said):
    assert asked(surface, **options) == (scope, effort, said)


def test_a01_a_bare_exhaustive_stays_with_prompts_on_the_command_line_only():
    assert asked("cli", exhaustive=True)[:2] == ("prompts", "exhaustive")
    assert asked("tui", exhaustive=True)[:2] == ("all", "exhaustive")


@pytest.mark.parametrize("surface", PARAMETERS)
@pytest.mark.parametrize(
    ("options", "scope", "effort"),
    [
        ({}, "prompts", "prompt"),
        ({"effort": "targeted"}, "all", "targeted"),
        ({"effort": "exhaustive"}, "all", "exhaustive"),
        ({"effort": "exhaustive", "scope": "prompts"}, "prompts", "exhaustive"),
        ({"scope": "all"}, "all", "exhaustive"),
        ({"effort": "prompt"}, "prompts", "prompt"),
    ],
)
def test_a01_normalization_of_parameters(surface, options, scope, effort):
    assert asked(surface, **options)[:2] == (scope, effort)


@pytest.mark.parametrize("surface", [*FLAGS, *PARAMETERS])
@pytest.mark.parametrize(
    "options",
    [
        {"scope": "prompts", "effort": "targeted"},
        {"effort": "prompt", "scope": "all"},
        {"conversation_limit": 3},
        {"limit": 0},
        {"effort": "targeted", "conversation_limit": 0},
        {"deep": True, "exhaustive": True},
        {"effort": "deep"},
        {"scope": "everything"},
        {"order": "oldest"},
        {"kinds": ("poem",)},
        {"scope": "prompts", "kinds": ("report",)},
        {"terms": "  "},
        {"terms": "x" * 1_001},
        {"terms": "x" * 201, "regex": True},
        {"since": "yesterday"},
        {"terms": "depth:deep tide", "effort": "exhaustive"},
        {"terms": "depth:deep depth:exhaustive tide"},
        {"terms": "NOT depth:deep tide"},
        {"terms": "tide OR depth:deep"},
        {"terms": "run:a tide", "run": "b"},
        {"terms": "run:a run:b tide"},
    ],
)
def test_a01_contradictions_are_refused(surface, options):
    with pytest.raises(UsageError) as caught:
        asked(surface, **{"terms": "tide", **options})
    assert caught.value.remedy


@pytest.mark.parametrize("surface", [*FLAGS, *PARAMETERS])
def test_a01_an_effort_within_the_terms_sets_the_scope_only_where_none_was_stated(surface):
    assert asked(surface, "tide depth:deep") == ("all", "targeted", "inferred")
    assert asked(surface, "tide effort:exhaustive")[:2] == ("all", "exhaustive")
    assert asked(surface, "tide effort:prompt")[:2] == ("prompts", "prompt")
    assert asked(surface, "tide depth:deep", scope="conversations") == ("conversations", "targeted", "explicit")
    with pytest.raises(UsageError):
        asked(surface, "tide depth:deep", scope="prompts")


def test_a01_each_surface_has_its_limit():
    limits = {surface: resolve(SearchRequest(terms="tide", surface=surface)).limit for surface in (*FLAGS, *PARAMETERS)}
    assert limits == {"cli": None, "tui": 1_000, "http": 20, "tool": 20, "mcp": 20}


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ("tide", Term("tide")),
        ("tide bay", All((Term("tide"), Term("bay")))),
        ("tide AND bay", All((Term("tide"), Term("bay")))),
        ('"high  tide"', Term("high tide", phrase=True)),
        ("tide OR bay", Any((Term("tide"), Term("bay")))),
        ("tide NOT bay", All((Term("tide"), Not(Term("bay"))))),
        ("NOT NOT tide", Term("tide")),
        ("(a OR b) c", All((Any((Term("a"), Term("b"))), Term("c")))),
        ("f(x) g()", All((Term("f(x)"), Term("g()")))),
        ("http://a.example/x:y", Term("http://a.example/x:y")),
        ("kind:reply OR tide", Any((Fact("kind", "reply"), Term("tide")))),
        ("role:user", Fact("role", "user")),
        ("", None),
    ],
)
def test_the_query_language(terms, expected):
    assert parse(terms).expression == expected


def test_words_may_be_joined_by_or_and_fields_still_hold():
    assert parse("a b role:user", any_term=True).expression == All((Any((Term("a"), Term("b"))), Fact("role", "user")))
    assert parse("(a)+ b", regex=True).expression == Pattern("(a)+ b")


@pytest.mark.parametrize("terms", ["(a", "a)", "NOT", "a AND NOT", "((((((((((((((((((((((a))))))))))))))))))))))", " ".join("ab" * 40)])
def test_what_cannot_be_understood_says_what_to_change(terms):
    with pytest.raises(UsageError) as caught:
        parse(terms if " " not in terms or "NOT" in terms else " ".join("a" for _ in range(70)))
    assert caught.value.remedy


def test_fields_become_filters():
    query = resolve(SearchRequest(terms="tide run:20260101_000000_abcdef since:2026-01-02 until:2026-01-03 kind:report,finding"))
    assert query.filters.run == "20260101_000000_abcdef"
    assert query.filters.until - query.filters.since == 2 * 86_400_000_000
    assert query.wanted == {"report", "finding"}
    assert instant("2026-01-01T01:00:00+01:00") == instant("2026-01-01")


@pytest.mark.parametrize("terms", ["tide OR kind:raport", "tide NOT kind:raport", "kind:raport", "tide OR kind:report,raport"])
def test_a_kind_that_there_is_none_of_is_refused_wherever_it_stands(terms):
    with pytest.raises(UsageError) as told:
        resolve(SearchRequest(terms=terms))
    assert "no kind 'raport'" in told.value.line()
    assert "report" in told.value.line()


def test_several_kinds_beside_or_and_not_are_each_one():
    kinds = Any((Fact("kind", "prompt"), Fact("kind", "reply")))
    assert parse("tide NOT kind:prompt,reply").expression == All((Term("tide"), Not(kinds)))
    assert parse("tide OR kind:prompt,reply").expression == Any((Term("tide"), kinds))


@pytest.mark.parametrize(
    ("terms", "kinds"),
    [
        ("tide OR kind:source", {"prompt", "reply", "finding", "report", "source"}),
        ("tide OR kind:reply", {"prompt", "reply", "finding", "report"}),
        ("tide OR NOT kind:source", {"prompt"}),
        ("tide OR kind:prompt", {"prompt"}),
    ],
)
def test_a_kind_that_is_asked_for_beside_or_is_searched(terms, kinds):
    assert resolve(SearchRequest(terms=terms)).wanted == kinds


@pytest.mark.parametrize("word", ["9999-12-31", "9999-12-31T23:59:59", "9999-12-31T23:59-14:00", "0001-01-01T00:00+14:00"])
def test_the_first_and_the_last_day_are_days(word):
    assert resolve(SearchRequest(terms="tide", until=word)).filters.until is not None
    assert resolve(SearchRequest(terms="tide", since=word)).filters.since is not None


WORD = st.sampled_from(["tide", "bay", "AND", "OR", "NOT", "(", ")", '"high tide"', "role:user", "f(x)"])


@pytest.mark.parametrize(
    ("terms", "lacks"),
    [
        ("a OR", "behind OR"),
        ("a AND", "behind AND"),
        ("OR", "OR"),
        ("OR a", "before OR"),
        ("AND a", "before AND"),
        ("a OR OR b", "behind OR"),
        ("a AND AND b", "behind AND"),
        ("a OR AND b", "behind OR"),
        ("a NOT OR b", "behind NOT"),
        ("a NOT", "behind NOT"),
        ("a (OR b)", "before OR"),
        ("a (b OR) c", "behind OR"),
        ("(NOT) a", "behind NOT"),
        ("a ()", "holds nothing"),
        ("a OR ( )", "holds nothing"),
        ('a OR ""', "behind OR"),
    ],
)
def test_a_joint_that_lacks_a_part_is_refused(terms, lacks):
    with pytest.raises(UsageError) as told:
        resolve(SearchRequest(terms=terms))
    assert lacks in told.value.line()
    assert told.value.remedy


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ('"OR" a', All((Term("OR", phrase=True), Term("a")))),
        ("or and not", All((Term("or"), Term("and"), Term("not")))),
        ("a AND NOT b", All((Term("a"), Not(Term("b"))))),
        ("a OR NOT NOT b", Any((Term("a"), Term("b")))),
        ("a AND kind:report", Term("a")),
        ("(((a)))", Term("a")),
        ('"a b', Term("a b", phrase=True)),
    ],
)
def test_what_looks_like_a_joint_or_a_gap_and_is_none(terms, expected):
    assert parse(terms).expression == expected


def rendered(part) -> str:
    """A search that says what an expression says, with every parenthesis written."""
    if isinstance(part, Term):
        return f'"{part.text}"' if part.phrase else part.text
    if isinstance(part, Fact):
        return f"{part.name}:{part.value}"
    if isinstance(part, Not):
        return f"NOT ({rendered(part.part)})"
    return "(" + (" AND " if isinstance(part, All) else " OR ").join(rendered(inner) for inner in part.parts) + ")"


def truth(part, held: set[str]) -> bool:
    """Whether an expression holds of a set of words, by the plain meaning of its parts."""
    if isinstance(part, Term):
        return part.text in held
    if isinstance(part, Not):
        return not truth(part.part, held)
    every = [truth(inner, held) for inner in part.parts]
    return all(every) if isinstance(part, All) else any(every)


LEAF = st.sampled_from([Term("tide"), Term("bay"), Term("high tide", phrase=True), Term("zebra")])
TREE = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: All(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Any(tuple(parts))),
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(TREE, st.sets(st.sampled_from(["tide", "bay", "high tide", "zebra"])))
def test_what_is_written_with_all_its_parentheses_is_read_as_it_was_meant(tree, held):
    read = parse(rendered(tree)).expression
    assert truth(read, held) == truth(tree, held)
    assert parse(rendered(read)).expression == read


def outcome(terms: str):
    """What a line is read as, or how it is refused."""
    try:
        return parse(terms).expression, None
    except UsageError as error:
        return None, error


@settings(max_examples=200, deadline=None)
@given(st.lists(WORD, max_size=9).map(" ".join))
def test_any_line_is_either_read_or_refused_with_what_to_change(terms):
    read, told = outcome(terms)
    if told is not None:
        assert told.remedy
        return
    # What is read is never less than what was typed: each word that is no joint is there.
    spelled = terms.replace("(", " ").replace(")", " ")
    for word in ("tide", "bay", "high tide"):
        assert (word in spelled) == (read is not None and word in rendered(read))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_the_parser(terms):
    _, told = outcome(terms)
    assert told is None or told.remedy


@pytest.mark.parametrize("surface", [*FLAGS, *PARAMETERS])
@pytest.mark.parametrize(
    ("terms", "options", "told"),
    [
        ("tide role:bogus", {}, "no role 'bogus'"),
        ("tide role:usr", {}, "user"),
        ("tide OR role:bogus", {}, "no role"),
        ("tide NOT role:bogus", {}, "no role"),
        ("tide style:acedemic", {}, "academic"),
        ("tide", {"style": "fancy"}, "no style 'fancy'"),
        ("tide rundepth:deeep", {}, "deep"),
        ("tide", {"depth": "deeper"}, "no depth of a run"),
        ("tide session:abc", {}, "no id of a session"),
        ("tide OR session:abc", {}, "no id of a session"),
        ("tide", {"session": "latest"}, "no id of a session"),
        ("tide", {"run": "../../etc"}, "no id of a run"),
        ("tide NOT run:a/b", {}, "no id of a run"),
    ],
)
def test_a_value_that_no_record_can_have_is_refused_wherever_it_stands(surface, terms, options, told):
    with pytest.raises(UsageError) as caught:
        asked(surface, terms, **options)
    assert told in caught.value.line()


@pytest.mark.parametrize("terms", ["role:User", "role:analyzer", "role:system", "style:Academic", "rundepth:QUICK", "model:anything"])
def test_values_that_a_record_can_have_pass_in_any_case(terms):
    assert asked(terms=f"tide {terms}")
