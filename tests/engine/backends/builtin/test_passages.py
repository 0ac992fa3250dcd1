"""What is quoted from a source, and where it leads."""

import pytest

from deepdelve.engine.backends.builtin.passages import best_sentences, bridging_leads, defines, plain, weigh_sources
from deepdelve.engine.backends.builtin.relevance import SourceText, rank, weigh

TEXT = """# The Alder

The Alder is a river in the north. Cows graze on its banks all day long.
It rises near Elm, where Ada Quill was born in March 1901.

## Length

From its source to the sea it measures 212 kilometres.

| a | table |
- Its fish are mostly trout and some old pike.[3]
See https://example.org for
"""


def quotes(question: str, text: str = TEXT, limit: int = 2, linked: tuple[str, ...] = ()) -> list[str]:
    source = SourceText("S1", "The Alder", text)
    return [passage.text for passage in best_sentences(weigh_sources(question, [source]), source, linked, limit)]


def leads(question: str, *sources: SourceText) -> list[str]:
    return bridging_leads(weigh_sources(question, sources), rank(question, sources), [source.title for source in sources])


RULES = """# Binding Operational Directive 19-02

The federal government must go on with vulnerability work, as BOD 15-01 has begun it.
This directive supersedes BOD 15-01 of May 2015 on critical vulnerability mitigation.
Agencies shall do the following about critical vulnerabilities:

- Critical vulnerabilities must be remediated within 15 calendar days of initial detection.
- Reports on them shall be kept, and
- Lists shall be made of them; and
"""


def rules(question: str, title: str = "Binding Operational Directive 19-02", limit: int = 1) -> list[str]:
    source = SourceText("S1", title, RULES)
    return [passage.text for passage in best_sentences(weigh_sources(question, [source]), source, (), limit)]


def test_a_span_of_time_comes_first_where_one_is_asked_for() -> None:
    assert "within 15 calendar days" in rules("How quickly must critical vulnerabilities be fixed under BOD 19-02?")[0]
    assert "May 2015" in rules("When was the superseded directive on vulnerability mitigation issued?")[0]


BRIDGE = "The Tay Bridge opened to trains with a feast. It fell in a storm on 28 December 1879."


def test_a_date_that_is_said_of_it_is_quoted_with_the_sentence_that_names_it() -> None:
    assert quotes("When did the Tay Bridge fall?", BRIDGE) == [
        "The Tay Bridge opened to trains with a feast.",
        "It fell in a storm on 28 December 1879.",
    ]


@pytest.mark.parametrize("question", ["Who built the Tay Bridge?", "How did the Tay Bridge fall?"])
def test_what_is_said_of_it_is_left_out_where_no_date_is_asked_for(question: str) -> None:
    assert quotes(question, BRIDGE) == ["The Tay Bridge opened to trains with a feast."]


@pytest.mark.parametrize("between", ["\n\n", " Cows graze below. "])
def test_it_speaks_of_no_more_than_the_sentence_right_before_it(between: str) -> None:
    assert quotes("When did the Tay Bridge fall?", BRIDGE.replace(". ", "." + between)) == ["The Tay Bridge opened to trains with a feast."]


def test_a_source_on_another_of_a_kind_does_not_speak_for_the_one_that_is_asked_about() -> None:
    elsewhere = rules("What does BOD 22-01 say on critical vulnerability mitigation?", "Notes on directives", 9)
    assert elsewhere
    assert not any("BOD 15-01" in text for text in elsewhere)


def test_a_source_on_the_very_thing_may_name_others_of_its_kind() -> None:
    assert any("supersedes BOD 15-01" in text for text in rules("What does BOD 19-02 supersede?", limit=9))


def test_an_item_that_goes_on_to_the_next_one_is_quoted_without_what_binds_them() -> None:
    said = rules("Which reports and lists shall be kept and made?", limit=9)
    assert any(text.endswith("Reports on them shall be kept.") for text in said)
    assert any(text.endswith("Lists shall be made of them.") for text in said)


def test_an_item_far_below_its_lead_that_says_nothing_without_it_is_left_out() -> None:
    filler = "".join(f"- The server of number {n} is kept well and looked after by its owner.\n" for n in range(9))
    listed = f"# Plan\n\nWithin 90 days, configuring:\n\n{filler}- All mail servers to offer STARTTLS.\n- Identifying the mail servers.\n- SSL is off on mail servers.\n"
    said = quotes("What about mail servers?", listed, limit=20)
    assert "SSL is off on mail servers." in said
    assert not any("to offer STARTTLS" in text or "Identifying" in text for text in said)


def test_what_leads_into_the_lists_around_an_item_speaks_for_it_too() -> None:
    listed = "# Plan\n\nAgencies shall enhance email by:\n\n- Keeping the gates shut.\n\nAgencies shall enhance roads by:\n\n- Keeping the lamps lit.\n"
    source = SourceText("S1", "Plan", listed)
    found = best_sentences(weigh_sources("What about email?", [source]), source, (), 1)
    assert "gates" in found[0].text


# Sentences


@pytest.mark.parametrize(
    "fragment",
    [
        "SHALL be sent to the Alder over a protected channel of its own",
        "should be tagged to expire when the Alder session ends.",
        "in which the Alder of Elm was drowned by the flood.",
    ],
)
def test_a_part_of_a_sentence_is_never_quoted_alone(fragment: str) -> None:
    text = f"# Title\n\n- {fragment}\n\nThe Alder is a river of some length.\n"
    assert quotes("Alder", text, limit=5) == ["The Alder is a river of some length."]


def test_an_item_is_quoted_with_what_leads_into_its_list() -> None:
    text = "# Title\n\nRivers are wet. Boats on the Alder:\n\n- SHALL carry a lamp at night\n- SHOULD carry a bell.\n"
    source = SourceText("S1", "Title", text)
    found = best_sentences(weigh_sources("Alder boats lamp bell", [source]), source, (), 5)
    assert [(p.text, p.quote) for p in found if "SH" in p.text] == [
        ("Boats on the Alder: SHALL carry a lamp at night.", "SHALL carry a lamp at night"),
        ("Boats on the Alder: SHOULD carry a bell.", "SHOULD carry a bell."),
    ]


def test_a_later_sentence_of_an_item_stands_by_itself() -> None:
    text = "# Title\n\nEncryption helps by providing:\n\n- **Secrecy**. Web pages on the Alder are all encrypted.\n"
    assert quotes("Alder pages", text) == ["Web pages on the Alder are all encrypted."]


def test_an_item_far_below_what_leads_into_it_is_quoted_only_where_it_stands_by_itself() -> None:
    far = "".join(f"- offering boat number {n} to whoever comes along the bank\n" for n in range(9))
    text = f"# Title\n\nTowns help by:\n\n{far}- listing all the pike of the Alder without a stop\n- Pike of the Alder are listed.\n"
    assert quotes("Alder pike", text, limit=5) == ["Pike of the Alder are listed."]


def test_no_mark_of_emphasis_is_left() -> None:
    assert plain('it says _"all of **it** is `safe`"_ and _more_.') == 'it says "all of it is safe" and more.'


def test_of_two_sentences_that_say_the_same_the_one_that_names_its_subject_is_quoted() -> None:
    text = "# Title\n\nIt has trout in its water.\n\nThe river has trout in its water.\n"
    assert quotes("trout", text, limit=1) == ["The river has trout in its water."]


def test_the_sentence_that_says_most_is_quoted() -> None:
    assert quotes("Which fish live in the Alder?", limit=1) == ["Its fish are mostly trout and some old pike."]
    assert "It rises near Elm, where Ada Quill was born in March 1901." in quotes("Who was born where the Alder rises?")


def test_a_heading_speaks_for_the_sentences_below_it() -> None:
    assert "From its source to the sea it measures 212 kilometres." in quotes("What is the length of the Alder?")


def test_quotes_stand_in_the_order_of_the_source() -> None:
    found = quotes("Which fish? Who was born? What river?", limit=4)
    assert found == sorted(found, key=TEXT.index)


def test_a_sentence_that_names_another_source_is_worth_more() -> None:
    assert quotes("Tell me of the Alder", limit=2, linked=("Elm",))[1].startswith("It rises near Elm")


@pytest.mark.parametrize("scrap", ["# The Alder", "| a | table |", "https://example.org"])
def test_headings_tables_and_addresses_are_not_quoted(scrap: str) -> None:
    assert not any(scrap in quote for quote in quotes("table example.org Alder", limit=20))


@pytest.mark.parametrize(
    "scrap",
    [
        "November 3, 2021",
        "Alder Bindings and Other Threats",
        "Alder confidentiality.",
        "Binding Alder Directive 22-01: Reducing the Significant Risk of Known Exploited Fish",
        "### 7.1. Alder Bindings",
    ],
)
def test_labels_dates_and_headings_without_a_mark_are_not_quoted(scrap: str) -> None:
    text = f"{scrap}\n\nThe Alder is a river of some length.\n"
    assert quotes("What Alder directive binds fish, threats and confidentiality?", text, limit=9) == [
        "The Alder is a river of some length."
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "The Alder floods.",
        "Alder secrets contain entropy of at least 64 bits, generated using an approved generator",
        "أنهار الألدر طويلة جدا في الشمال.",
        "阿尔德河很长。",
        "阿尔德河是北方的一条大河它流入海",
    ],
)
def test_a_sentence_is_quoted_in_any_script_and_as_an_item_without_a_full_stop(sentence: str) -> None:
    end = "" if sentence[-1] in ".。" else "。" if sentence[0] == "阿" else "."
    assert quotes(sentence, f"# Title\n\n- {sentence}\n") == [sentence + end]


@pytest.mark.parametrize("fence", ["```", "~~~", "```http"])
def test_code_is_not_quoted(fence: str) -> None:
    code = f"{fence}\nAlder-Header: it is the code of the Alder server.\n{fence[:3]}"
    text = f"The Alder header is sent by every server.\n\n{code}\n\nIt ends the Alder.\n"
    assert not any("code" in quote for quote in quotes("What is the code of the Alder server?", text, limit=9))
    assert quotes("What is open?", "```\nThe door is open all day long.\n") == ["The door is open all day long."]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is HSTS?", "Strict Transport Security (HSTS) is a standard that protects visitors."),
        ("What is HSTS? Cite official sources.", "Strict Transport Security (HSTS) is a standard that protects visitors."),
        ("Who was Ada Quill?", "Ada Quill was an engineer."),
        ("What are heat pumps?", "Heat pumps are machines that move warmth."),
    ],
)
def test_what_a_thing_is_said_to_be_comes_before_what_else_is_said_of_it(question: str, sentence: str) -> None:
    name = question.partition("?")[0].rsplit(" ", 1)[1]
    text = f"Browsers like {name} only over a secure connection.\n\nMany agencies enabled {name} in 2017.\n\n{sentence}\n"
    assert quotes(question, text, limit=1) == [sentence]


def test_a_sentence_that_says_nothing_on_it_is_left_out_where_another_does() -> None:
    text = "Frequently asked questions are answered here.\n\nThe Alder carries trout and pike to the sea.\n"
    assert quotes("Which trout and pike does the Alder carry?", text, limit=5) == ["The Alder carries trout and pike to the sea."]


def test_the_second_quote_says_what_the_first_does_not() -> None:
    text = "Pumps and valves drive the mill.\n\nPumps and valves are old.\n\nThe mill has a turbine.\n"
    assert quotes("Which pumps, valves and turbine?", text) == ["Pumps and valves drive the mill.", "The mill has a turbine."]


def test_a_quote_stands_in_the_source_to_the_letter_and_the_claim_is_readable() -> None:
    text = "The [Alder](https://example.org/Alder_(river)) is **long**.[3] It ends."
    source = SourceText("S1", "", text)
    (passage,) = best_sentences(weigh_sources("Alder long", [source]), source, (), 1)
    assert passage.quote in text
    assert passage.text == "The Alder is long."


@pytest.mark.parametrize(
    "scrap",
    ["Total revenue: $12,500.00", "By THE PRESS OFFICE", "“This is half a quotation.", 'She said "half of it.', "and goes on as follows:"],
)
def test_labels_and_halves_are_not_quoted(scrap: str) -> None:
    text = f"The Alder is long.\n\n{scrap}\n\nThe Alder is deep.\n"
    assert quotes("Alder revenue half press quotation", text, limit=5) == ["The Alder is long.", "The Alder is deep."]


def test_a_long_item_without_a_full_stop_is_prose() -> None:
    item = "the Alder carries ships of up to forty metres length"
    assert quotes("Alder ships", f"- {item}\n", limit=1) == [f"{item}."]


def test_the_same_sentence_is_quoted_once() -> None:
    assert quotes("Alder river", "The Alder is a long river. " * 5, limit=5) == ["The Alder is a long river."]


@pytest.mark.parametrize(
    ("markdown", "seen"),
    [
        ("a **bold** and *soft* word", "a bold and soft word"),
        ("![picture](x.png) text", "text"),
        ('[link](http://x.org "title") end', "link end"),
        ("5 * 3 is 15[12] [citation needed]", "5 * 3 is 15"),
        ("snake_case stays `code`", "snake_case stays code"),
        ("[S3] stays", "[S3] stays"),
    ],
)
def test_markdown_is_shown_as_a_reader_sees_it(markdown: str, seen: str) -> None:
    assert plain(markdown) == seen


# Leads

ALDER = SourceText("S1", "The Alder", TEXT)
COWS = SourceText("S2", "Cows", "Cows live near Zebra Point with Bob Brown.")


def test_names_in_good_sentences_lead_on_before_others() -> None:
    found = leads("Who was born where the Alder rises?", ALDER, COWS)
    assert found[0] == "Ada Quill"
    assert found.index("Ada Quill") < found.index("Elm")
    assert found.index("Elm") < found.index("Zebra Point")


def test_what_is_asked_or_read_already_leads_nowhere() -> None:
    found = leads("Where was Ada Quill born, near the Alder?", ALDER)
    assert "Ada Quill" not in found
    assert "Alder" not in found


@pytest.mark.parametrize("word", ["March", "1901", "American", "Danish", "Italian"])
def test_dates_and_peoples_lead_nowhere(word: str) -> None:
    source = SourceText("S1", "The Alder", f"The Alder is a river. The {word} people and {word} of it are known.")
    assert word not in leads("What river?", source)


def test_one_lead_is_a_query_of_what_is_still_open() -> None:
    (query,) = [lead for lead in leads("Which bishop blessed the Alder?", ALDER) if ":" in lead]
    assert query.startswith("The Alder: bishop blessed")


def test_nothing_leads_nowhere() -> None:
    assert bridging_leads(weigh_sources("q", []), [], []) == []
    empty = SourceText("S1", "", "")
    assert len(leads("", empty)) <= 1


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ('It says _"all of it is new."_ — no more', 'It says "all of it is new." — no more'),
        ("a **bold** and an _old_ word, snake_case too", "a bold and an old word, snake_case too"),
    ],
)
def test_marks_of_emphasis_are_not_words(raw: str, read: str) -> None:
    assert plain(raw) == read


@pytest.mark.parametrize("rest", ["?", ", and what does preloading do?", " and how does it work?"])
def test_the_definition_counts_where_more_is_asked_too(rest: str) -> None:
    question = weigh(f"What is Strict Transport Security{rest}", [])
    assert defines(question, "Strict Transport Security is a standard.")
    assert not defines(question, "Others work with Strict Transport Security.")


@pytest.mark.parametrize(
    ("question", "sentence", "says"),
    [
        ("What are febrile seizures?", "A febrile seizure, also known as a fever fit, is a seizure with a high temperature.", True),
        ("What are febrile seizures?", "About 80% are classified as simple febrile seizures.", False),
        ("What is glass?", "Glass is hard.", True),
        ("What is a lens?", "A lens, or objective, is curved.", True),
    ],
)
def test_a_definition_may_have_an_aside_and_another_number(question: str, sentence: str, says: bool) -> None:
    assert defines(weigh(question, []), sentence) is says
