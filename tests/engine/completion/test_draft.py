"""Drafts taken apart: sections, sentences, ids."""

from deepdelve.engine.completion.draft import cited_ids, parse_draft
from tests.support.patience import in_proportion

TEXT = """Opening line [S1].

# Title

## Rent

The rent is 900 EUR. [S2] Prices rose by 3.5 per cent, e.g. in Kallio [S3, S4].

- A bullet [S2][S5]

```
## no heading [S8]
```

## Sources

1. A page [S9]
"""


class TestParse:
    def test_sections_keep_their_order_level_and_title(self) -> None:
        found = [(s.level, s.title) for s in parse_draft(TEXT).sections]
        assert found == [(0, ""), (1, "Title"), (2, "Rent"), (2, "Sources")]

    def test_a_list_of_sources_is_no_part_of_the_body(self) -> None:
        draft = parse_draft(TEXT)
        assert "S9" not in draft.cited
        assert [s.title for s in draft.body] == ["", "Title", "Rent"]

    def test_ids_come_once_in_order_of_first_use(self) -> None:
        assert parse_draft(TEXT).cited == ("S1", "S2", "S3", "S4", "S5", "S8")

    def test_a_marker_after_the_full_stop_belongs_to_its_sentence(self) -> None:
        first, second, *_ = (s for s in parse_draft(TEXT).sentences if s.section == "Rent")
        assert first.text == "The rent is 900 EUR. [S2]"
        assert first.citations == ("S2",)
        assert second.citations == ("S3", "S4")

    def test_a_copied_sentence_has_the_same_key_whatever_it_cites(self) -> None:
        one, two = parse_draft("The Rent is 900 [S1].\n\nthe rent  is 900.").sentences
        assert one.key == two.key

    def test_nothing_is_a_draft_too(self) -> None:
        draft = parse_draft(" \n\n")
        assert not draft.exists
        assert draft.cited == ()
        assert parse_draft("").sections == ()

    def test_a_hash_inside_a_word_is_no_heading(self) -> None:
        assert [s.level for s in parse_draft("#hashtag and C# code").sections] == [0]

    def test_headings_in_any_language(self) -> None:
        assert parse_draft("## 来源\n\n内容 [S1]").body == []

    def test_unclosed_and_odd_markers_cite_nothing(self) -> None:
        assert cited_ids("[S1 [S] [S1;] [12] [s3]") == ()
        assert cited_ids("[ S1 ; S2 ]") == ("S1", "S2")


class TestSpeed:
    def test_hostile_text_takes_time_in_proportion(self) -> None:
        def hostile(marks: range) -> str:
            size = len(marks)
            return "[S1," * size + "\n" + "#" * size + "\n" + "[ " * size + "a." * size + "\n" + "。" * size

        in_proportion(lambda marks: parse_draft(hostile(marks)), range(20_000))


def test_a_title_and_a_heading_over_nothing_say_nothing() -> None:
    draft = parse_draft("# Alder and Birch\n\nThe Alder is long. [S1]\n\n## Birch\n\n## Cedar\n\nIt is short. [S2]\n")
    assert {"alder", "cedar"} <= draft.words
    assert "birch" not in draft.words
