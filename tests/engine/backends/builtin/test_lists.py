"""What leads into the items of a list."""

import pytest

from deepdelve.engine.backends.builtin.lists import LONGEST_LEAD, item_at, items

NESTED = """Agencies are required to:

1. Develop a plan to:

    a. **Enhance email security by**:

      - offering STARTTLS on all servers
      - setting a policy

    b. Report on it.

2. Begin with that plan.

The rest is free.

- An item of a list that nothing leads into.
"""


def test_each_item_is_led_into_by_the_nearest_line_above_it_that_ends_in_a_colon() -> None:
    told = {NESTED[item.start : item.end].strip(): item.lead for item in items(NESTED)}
    assert told == {
        "1. Develop a plan to:": "Agencies are required to:",
        "a. **Enhance email security by**:": "Develop a plan to:",
        "- offering STARTTLS on all servers": "Enhance email security by:",
        "- setting a policy": "Enhance email security by:",
        "b. Report on it.": "Develop a plan to:",
        "2. Begin with that plan.": "Agencies are required to:",
        "- An item of a list that nothing leads into.": "",
    }


def test_each_item_knows_all_that_leads_into_the_lists_around_it() -> None:
    told = {NESTED[item.start : item.end].strip(): item.above for item in items(NESTED)}
    assert told["- setting a policy"] == ("Agencies are required to:", "Develop a plan to:", "Enhance email security by:")
    assert told["2. Begin with that plan."] == ("Agencies are required to:",)
    assert told["- An item of a list that nothing leads into."] == ()


def test_an_offset_names_its_item() -> None:
    listed = items(NESTED)
    assert (found := item_at(listed, NESTED.index("setting"))) is not None
    assert found.lead == "Enhance email security by:"
    assert item_at(listed, NESTED.index("The rest")) is None
    assert item_at((), 3) is None


@pytest.mark.parametrize("above", ["## Rules:", "Rules apply.", ""])
def test_headings_and_whole_sentences_lead_into_nothing(above: str) -> None:
    assert [item.lead for item in items(f"{above}\n\n- SHALL be tagged\n")] == [""]


def test_only_the_last_sentence_before_the_list_leads_into_it() -> None:
    assert items("Cookies are small. They have rules. Cookies:\n- SHALL be tagged")[0].lead == "Cookies:"


def test_a_lead_that_is_too_long_is_none() -> None:
    assert items(f"{'word ' * LONGEST_LEAD}:\n- SHALL be tagged")[0].lead == ""


def test_a_list_without_end_is_read_in_linear_time() -> None:
    assert len(items("Rules:\n" + "  - one more rule\n" * 50_000)) == 50_000


def test_an_item_that_is_marked_otherwise_is_a_list_within_at_the_same_depth() -> None:
    text = "- Servers are required to:\n\n  i. Within a year, offer:\n\n  - a lamp\n  - a bell\n\n  ii. Within two years, burn.\n"
    assert [item.lead for item in items(text)] == [
        "",
        "Servers are required to:",
        "Within a year, offer:",
        "Within a year, offer:",
        "Servers are required to:",
    ]
