"""What a delivered report says of itself is no claim about the world."""

import pytest

from deepdelve.utils.grounding import frame
from deepdelve.utils.grounding.verify import verify_report

TEXT = {"S1": "The Kalda Dam is 142 metres high."}


@pytest.mark.parametrize("label", frame.LABELS.values())
@pytest.mark.parametrize("first", ["", f"> {frame.EXTRACTIVE}\n"])
def test_the_lines_at_the_top_of_a_delivered_report_are_no_claims(label: str, first: str) -> None:
    report = f"{first}> {label}. 10 of 12 claims supported, 2 partly. Checked by lexical comparison with 3 texts.\n\n# Dams\n\nThe Kalda Dam is 142 metres high [S1].\n"
    assert verify_report(report, TEXT).counts.total == 1


def test_the_notes_at_the_end_are_no_claims() -> None:
    report = f"# Dams\n\nThe Kalda Dam is 142 metres high [S1].\n\n---\n\n**{frame.NOTES}**\n\n- Two pages of 14 could not be read: the server of Example Corp was down.\n"
    assert verify_report(report, TEXT).counts.total == 1


def test_a_quotation_elsewhere_is_a_claim_as_ever() -> None:
    report = "> Verified. The Selmo Dam of Norway is 99 metres high.\n\n# Dams\n\n> The Selmo Dam of Norway is 99 metres high.\n"
    assert verify_report(report, TEXT).counts.unsupported == 1
    plain = "> The Selmo Dam of Norway is 99 metres high.\n\n# Dams\n\nThe Kalda Dam is 142 metres high [S1].\n"
    assert verify_report(plain, TEXT).counts.unsupported == 1
