"""Identifiers of laws, standards, articles and papers."""

import pytest

from deepdelve.utils.grounding import regulations
from deepdelve.utils.grounding.index import SourceIndex

SOURCE = SourceIndex(
    "S1",
    "Regulation (EU) 2016/679 applies. Under Art. 17 and Article 22(3) a copy is due; see § 823 and Section "
    "230. The standard ISO/IEC 27001:2022 and EN 301 549 are named,"
    " as are NIST SP 800-53, RFC 9110, IEEE 802.11ax and 21 CFR Part 820. Directive 95/46/EC was repealed. "
    "CVE-2021-44228 is listed; doi 10.1000/xyz.12 and arXiv:2408.03261 too."
    " Recital 47 and Annex 3 explain it.",
)
STANDS = [
    "Regulation (EU) 2016/679",
    "Regulation 2016/679",
    "Article 17",
    "Art. 17",
    "Article 22(3)",
    "Art. 22(3)",
    "§ 823",
    "Section 230",
    "ISO/IEC 27001:2022",
    "ISO 27001",
    "EN 301 549",
    "NIST SP 800-53",
    "RFC 9110",
    "RFC9110",
    "IEEE 802.11",
    "21 CFR Part 820",
    "Directive 95/46/EC",
    "CVE-2021-44228",
    "arXiv:2408.03261",
    "Recital 47",
    "Annex 3",
]
ABSENT = [
    "Regulation (EU) 2016/697",
    "Article 71",
    "Art. 18",
    "Article 22(4)",
    "§ 832",
    "Section 203",
    "ISO/IEC 27002:2022",
    "ISO 27701",
    "EN 301 594",
    "NIST SP 800-35",
    "RFC 9011",
    "IEEE 803.11",
    "21 CFR Part 802",
    "Directive 95/64/EC",
    "CVE-2021-44282",
    "arXiv:2408.03216",
    "Recital 74",
    "Annex 9",
]


@pytest.mark.parametrize("name", STANDS)
def test_it_stands_in_the_source(name: str) -> None:
    text = f"As {name} says, a copy is due."
    assert regulations.find(text)
    assert regulations.first_absent(text, [SOURCE]) == ""


@pytest.mark.parametrize("name", ABSENT)
def test_it_does_not(name: str) -> None:
    assert regulations.first_absent(f"As {name} says, a copy is due.", [SOURCE])


@pytest.mark.parametrize("text", ["It costs 17 euros.", "Part of the act.", "In 2016 it rained.", "The article was long."])
def test_no_identifier(text: str) -> None:
    assert regulations.find(text) == []


def test_spellings_of_one_identifier_are_the_same() -> None:
    assert regulations.same("Article 17", "Art. 17")
    assert regulations.same("Directive 95/46/EC", "Directive 95/46")
    assert not regulations.same("Article 17", "Article 71")
