"""What a delivered report says of itself is no claim about the world."""

from typing import get_args

import pytest

from deepdelve.core.records import Outcome
from deepdelve.utils.grounding import frame
from deepdelve.utils.grounding.verify import verify_report
from deepdelve.utils.phrases import say

TEXT = {"S1": "The Kalda Dam is 142 metres high."}


@pytest.mark.parametrize("language", ["English", "German", "Japanese"])
@pytest.mark.parametrize("outcome", get_args(Outcome))
@pytest.mark.parametrize("extractive", [True, False])
def test_the_lines_at_the_top_of_a_delivered_report_are_no_claims(outcome: Outcome, extractive: bool, language: str) -> None:
    first = f"> {say('extractive', language)}\n" if extractive else ""
    report = f"{first}> {frame.label(outcome, language)} 10 of 12 claims supported, 2 partly. Checked by lexical comparison with 3 texts.\n\n# Dams\n\nThe Kalda Dam is 142 metres high [S1].\n"
    assert verify_report(report, TEXT).counts.total == 1


@pytest.mark.parametrize("language", ["English", "German", "Japanese"])
def test_the_notes_at_the_end_are_no_claims(language: str) -> None:
    report = f"# Dams\n\nThe Kalda Dam is 142 metres high [S1].\n\n---\n\n**{say('notes', language)}**\n\n- Two pages of 14 could not be read: the server of Example Corp was down.\n"
    assert verify_report(report, TEXT).counts.total == 1


def test_a_quotation_elsewhere_is_a_claim_as_ever() -> None:
    report = "> Verified. The Selmo Dam of Norway is 99 metres high.\n\n# Dams\n\n> The Selmo Dam of Norway is 99 metres high.\n"
    assert verify_report(report, TEXT).counts.unsupported == 1
    plain = "> The Selmo Dam of Norway is 99 metres high.\n\n# Dams\n\nThe Kalda Dam is 142 metres high [S1].\n"
    assert verify_report(plain, TEXT).counts.unsupported == 1
