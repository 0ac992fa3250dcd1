"""Lines of the page's furniture go; sentences that merely begin like them stay."""

import pytest

from deepdelve.tools.web.documents.boilerplate import is_furniture, plain, rejoined, without_boilerplate

PROSE = ["A paragraph of the article, long enough to count as prose and to carry a thought to its end. " * 3] * 4


@pytest.mark.parametrize(
    "block",
    [
        "Read more: Alibaba poised to launch record listing",
        "Read also",
        "Related Roundup: [MacBook Pro](https://a.test/mbp)",
        "Mehr zum Thema",
        "### Weitere aktuelle Themen",
        "Más sobre La Tercera",
        "Lire aussi : Le port en chiffres",
        "Leia também: O porto",
        "Tags: harbour, storm",
        "Schlagworte: Hafen",
        "Titelbild: Anna Muster",
        "Photo: Jane Doe / Agency",
        "© 2024 Harbour Times",
        "Copyright Inexhibit 2019",
        "Follow us on Twitter",
        "Subscribe to our newsletter",
        "Advertisement",
        "- Previous",
        "Lesedauer: 3 Minuten",
        "4 min read",
        "Last updated 3 May",
        "12 Comments",
        "Kommentare insgesamt: 0",
        "If you enjoyed this article, we have a proposition for you.",
    ],
)
def test_furniture(block: str) -> None:
    assert is_furniture(block)


@pytest.mark.parametrize(
    "block",
    [
        "Read more than two books a year and you are above the average of the country.",
        "Related work on harbours goes back to the nineteenth century. It was first done by engineers.",
        "Photography was banned in the harbour until 1950.",
        "Copyrighted works are treated in the second part of the act, which came into force in the spring of the year after, and which has "
        "been amended four times since then, most recently by a bill that the town had not asked for and did not like at all.",
        "Comments by the minister were not well received.",
        "Tags were sewn on every sack by hand.",
        "Subscribers fell by a tenth. The paper closed.",
        "The last updated figures are from May.",
        "| Tags: | a |",
        "```\nTags: x\n```",
        "Share prices fell by a tenth on Monday.",
    ],
)
def test_sentences_stay(block: str) -> None:
    assert not is_furniture(block)


def test_what_trails_the_text_is_cut() -> None:
    blocks = [*PROSE, "## Related articles", "- [One](https://a.test/1)\n- [Two](https://a.test/2)", "A teaser of another article"]
    assert without_boilerplate(blocks, "") == PROSE


def test_a_list_of_links_at_the_end_is_cut_even_without_a_heading() -> None:
    assert without_boilerplate([*PROSE, "- [One more story](https://a.test/1)"], "") == PROSE


def test_a_heading_with_nothing_under_it_is_cut_from_an_article() -> None:
    assert without_boilerplate([*PROSE, "## Something else"], "") == PROSE


def test_a_section_of_prose_stays_whatever_its_heading() -> None:
    blocks = [*PROSE, "## Popular culture", PROSE[0]]
    assert without_boilerplate(blocks, "") == blocks


def test_byline_and_date_above_the_text_go() -> None:
    assert without_boilerplate(["By Ada Mole", "Monday, 5 March 2018 10:13", *PROSE], "") == PROSE


def test_a_bare_repetition_of_the_title_goes_and_a_heading_stays() -> None:
    title = "The harbour that three countries built"
    assert without_boilerplate([title, *PROSE], title) == PROSE
    assert without_boilerplate([f"# {title}", *PROSE], title)[0] == f"# {title}"


def test_a_first_sentence_with_a_year_stays() -> None:
    blocks = ["The harbour was built in 1974.", *PROSE]
    assert without_boilerplate(blocks, "The harbour") == blocks


def test_a_page_that_is_all_furniture_is_left_alone() -> None:
    blocks = ["Tags: a, b", "Follow us on Twitter", "Hello there"]
    assert without_boilerplate(blocks, "") == blocks


def test_sentences_parted_at_a_link_are_put_together() -> None:
    parted = ["According to the newspaper", "[The Port](https://a.test/)", ", the wall was late", "The next paragraph."]
    assert rejoined(parted) == ["According to the newspaper [The Port](https://a.test/), the wall was late", "The next paragraph."]


@pytest.mark.parametrize(
    "blocks",
    [
        ["A sentence that ends.", "another that begins small"],
        ["## Heading", "lower-case start"],
        ["- item", "lower"],
        ["| a |", "lower"],
        ["Open end", "Next Begins Large"],
    ],
)
def test_whole_blocks_are_not_put_together(blocks: list[str]) -> None:
    assert rejoined(blocks) == blocks


def test_plain_takes_the_marks_away() -> None:
    assert plain("## A [link](https://a.test/x) here") == "A link here"
    assert plain("- one\n- two") == "one\ntwo"
    assert plain("> 3. quoted") == "quoted"
