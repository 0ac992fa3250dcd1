"""Citations mended by code: what is plain becomes an id, what names nothing goes, and nothing else of the draft is touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.records import Source
from deepdelve.engine.writing.citation_fix import mend_citations

SOURCES = {
    "S1": Source(id="S1", url="https://site.example/alder", title="The Alder", state="ok"),
    "S2": Source(id="S2", url="https://site.example/b?x=1", final_url="https://www.site.example/birch", title="The Birch", state="ok"),
    "S12": Source(id="S12", url="corpus://rivers/Cedar.md", title="The Cedar", state="ok"),
}


@pytest.mark.parametrize(
    ("written", "mended"),
    [
        ("It is long [S1].", "It is long [S1]."),
        ("It is long [S1, S2].", "It is long [S1, S2]."),
        ("It is long [S1; S99].", "It is long [S1]."),
        ("It is long [S99].", "It is long."),
        ("It is long [S99] and wide [S2].", "It is long and wide [S2]."),
        ("It is long [S1][S1].", "It is long [S1]."),
        ("It is long [S1] [S1] [S2].", "It is long [S1] [S2]."),
        ("It is long [S1][S99][S1][S2].", "It is long [S1][S2]."),
        ("It is long [S1, S1].", "It is long [S1]."),
        ("It is [the Alder](https://site.example/alder).", "It is [S1]."),
        ("It is long [S12], and [S1] says so too [S1].", "It is long [S12], and [S1] says so too [S1]."),
    ],
)
def test_a_marker_becomes_the_ids_that_it_can_mean(written: str, mended: str) -> None:
    assert mend_citations(f"# Rivers\n\n{written}\n", SOURCES) == f"# Rivers\n\n{mended}\n"


def test_one_source_may_be_named_again_in_the_next_sentence_and_on_the_next_line() -> None:
    draft = "# R\n\nIt is long [S1]. It is wide [S1].\n\n- one [S1]\n- two [S1]\n"
    assert mend_citations(draft, SOURCES) == draft


def test_a_number_means_what_the_drafts_own_list_says() -> None:
    draft = "# R\n\nIt is long [1]. It is wide [2].\n\n## Sources\n\n[1] The Birch. https://www.site.example/birch\n\n[2] Other. https://no.example/x\n"
    assert "It is long [S2]." in mend_citations(draft, SOURCES)
    assert "It is wide." in mend_citations(draft, SOURCES)


@given(
    st.lists(st.sampled_from(["Long ", "[S1]", "[S2]", "[S99]", " ", ". ", "\n\n", "wide", "[S1, S2]", "- item"]), max_size=25).map("".join)
)
def test_mending_twice_is_mending_once_and_words_are_never_lost(body: str) -> None:
    draft = f"# R\n\n{body}\n"
    once = mend_citations(draft, SOURCES)
    assert mend_citations(once, SOURCES) == once
    assert "S99" not in once
    for word in ("Long", "wide", "- item"):
        assert once.count(word) == draft.count(word)
