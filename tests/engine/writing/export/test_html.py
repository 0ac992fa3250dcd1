"""HTML, opened with a parser that is not ours."""

from dataclasses import replace

import lxml.html
import pytest

from deepdelve.engine.writing.export.document import Document, build
from deepdelve.engine.writing.export.html import write

from .made import CHINESE, PASSAGE, SUPPORTED, claims, document, sources


def page(made: Document | None = None) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(write(made or document()))


def test_every_inner_link_has_its_target_once() -> None:
    found = page()
    ids = found.xpath("//@id")
    assert len(ids) == len(set(ids))
    targets = {link.removeprefix("#") for link in found.xpath("//a/@href") if link.startswith("#")}
    assert targets <= set(ids)
    assert {"passage-1", "passage-2", "passage-3", "claim-1", "source-1"} <= targets


def test_the_sign_behind_a_claim_leads_to_its_passage_and_back() -> None:
    found = page()
    (claim,) = found.xpath("//span[@id='claim-1']")
    assert claim.text_content() == SUPPORTED + "✓"
    (sign,) = claim.xpath(".//a[@class='sign']")
    (passage,) = found.xpath(f"//li[@id='{sign.get('href')[1:]}']")
    assert passage.xpath(".//mark")[0].text == PASSAGE
    assert passage.xpath(".//a[@href='#claim-1']")[0].text_content() == SUPPORTED


def test_the_status_is_said_in_sign_and_word_with_its_reason() -> None:
    said = [item.text_content() for item in page().xpath("//ol[@id='evidence']/li")]
    assert said[0].startswith(f"✓ supported: {SUPPORTED}")
    assert said[1].startswith(f"⚠ unsupported (why <x> & $y$): {CHINESE}")


def test_nothing_is_loaded_and_nothing_runs() -> None:
    found = page()
    assert not found.xpath("//script | //img | //link | //iframe | //object | //form | //svg")
    assert "default-src 'none'" in found.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert not [name for element in found.iter() for name in element.attrib if name.startswith("on")]
    assert "url(" not in write(document())


def test_outside_text_is_never_markup() -> None:
    found = page()
    assert "<script>alert(1)</script>" in found.text_content()
    assert found.xpath("//h1")[0].text_content() == "Heat pumps & <b>bold</b> #emph[x] $x^2$"
    assert not found.xpath("//b")


@pytest.mark.parametrize("bomb", ['"><script>x</script>', "' onmouseover='x", "</title><script>x</script>", "]]><!--", "&lt;script&gt;"])
def test_markup_in_any_field_stays_text(bomb: str) -> None:
    source = sources()["S1"].model_copy(update={"title": bomb, "url": f"https://e.example/{bomb}"})
    ledger = [claim.model_copy(update={"reason": bomb}) for claim in claims()]
    made = build(f"# {bomb}\n\n{bomb}\n\n`{bomb}`\n", ledger, {"S1": source}, {"S1": bomb}, title=bomb, language="en")
    found = page(replace(made, language=bomb))
    assert not found.xpath("//script | //comment()")
    assert not [name for element in found.iter() for name in element.attrib if name.startswith("on")]


def test_addresses_are_those_of_the_web_only() -> None:
    source = sources()["S1"].model_copy(update={"url": "javascript:alert(1)"})
    found = page(build("Text.", claims(), {"S1": source}, {}, title="q"))
    assert all(link.startswith(("#", "https://", "http://")) for link in found.xpath("//a/@href"))


def test_text_from_the_right_runs_from_the_right() -> None:
    found = page()
    assert [element.tag for element in found.xpath("//main//*[@dir='rtl']")] == ["p", "td"]


def test_wide_tables_scroll_in_their_own_frame() -> None:
    tables = page().xpath("//div[@class='table']/table")
    assert [len(table.xpath(".//th")) for table in tables] == [3, 11]
    assert len(tables[1].xpath(".//tbody/tr")) == 3


def test_contents_lead_to_headings() -> None:
    links = page().xpath("//nav//a")
    assert [link.text_content() for link in links] == ["Performance of pumps", "Sources", "What carries each claim"]


def test_the_same_report_gives_the_same_file() -> None:
    assert write(document()) == write(document())


def test_a_report_without_claims_has_no_evidence_part() -> None:
    assert not page(build("# T\n\nText.", [], {}, {}, title="q")).xpath("//*[@id='evidence']")
