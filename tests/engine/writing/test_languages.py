"""A report comes in the language of its question: what the product adds to it too, and everything that reads it again knows that."""

import io
import re
from dataclasses import replace
from html import unescape

import pytest

from deepdelve.config import Settings
from deepdelve.core.requests import RunRequest
from deepdelve.engine import conduct, prepare, setup
from deepdelve.engine.language import language_of
from deepdelve.utils.grounding import citations, claims, frame
from deepdelve.utils.phrases import code_of, say
from tests.support.whole_run import RecordingSurface, write_corpus

QUESTIONS = {
    "de": (
        "Wie lang ist der Fluss Erle und wer hat ihn vermessen?",
        "Erle",
        "Der Fluss Erle ist 212 Kilometer lang. Der Fluss Erle fließt im Norden.",
    ),
    "fr": ("Quelle est la longueur du fleuve Aulne et qui est son auteur ?", "Aulne", "Le fleuve Aulne a une longueur de 212 kilomètres."),
    "es": ("¿Cuál es la longitud del río Aliso y quién es su autor?", "Aliso", "El río Aliso tiene una longitud de 212 kilómetros."),
    "it": ("Qual è la lunghezza del fiume Ontano e chi è il suo autore?", "Ontano", "Il fiume Ontano ha una lunghezza di 212 chilometri."),
    "pt": ("Qual é o comprimento do rio Amieiro e quem é o seu autor?", "Amieiro", "O rio Amieiro tem um comprimento de 212 quilómetros."),
    "nl": (
        "Hoe lang is de rivier Els en wie heeft het opgemeten?",
        "Els",
        "De rivier Els is 212 kilometer lang. De rivier Els ligt in het noorden.",
    ),
    "zh": ("赤杨河有多长？", "赤杨河", "赤杨河是北方的一条河。赤杨河长212公里。"),
    "ja": ("ハンノキ川の長さはどのくらいですか？", "ハンノキ川", "ハンノキ川は北の川である。ハンノキ川の長さは212キロメートルである。"),
}
# Words that stand in no other language's report.
ENGLISH = re.compile(r"\b(?:Verified|Checked by|claims|Extractive|Notes on|question|could not|Sources|Open questions|The|This|No)\b")


async def built_in(folder, question, title, text, **more):
    corpus = write_corpus(folder, {"river": f"# {title}\n\n{text}\n"})
    settings = Settings.model_validate({"api": {"backend": "builtin"}})
    asked = RunRequest(question=question, corpus=(str(corpus),), **more)
    prepared = await prepare.prepare(asked, settings)
    surface = RecordingSurface()
    run = setup.new_run(asked, prepared, surface)
    ctx = setup.context_for(run, prepared, surface, auto_approve=True)
    try:
        result = await conduct.conduct(ctx)
    finally:
        await ctx.services.close()
    return result, run


@pytest.mark.parametrize("style", ["standard", "academic"])
@pytest.mark.parametrize("code", QUESTIONS)
async def test_what_the_product_adds_is_in_the_language_of_the_question(code, style, tmp_path):
    question, title, text = QUESTIONS[code]
    assert code_of(language_of(question)) == code
    result, run = await built_in(tmp_path / "c", question, title, text, style=style)
    report = run.read_file("final_report.md")
    assert result.claims.supported
    assert say("extractive", code) in report
    assert f"> {frame.label(result.outcome, code)}" in report
    assert f"## {say('references' if style == 'academic' else 'sources', code)}" in report
    assert not ENGLISH.findall(report.replace("corpus://c/river.md", "")) or code == "fr"
    assert frame.top_end(report) > report.index(say("extractive", code))


@pytest.mark.parametrize("code", QUESTIONS)
async def test_the_product_reads_its_own_report_again(code, tmp_path):
    """Its claims are those of the ledger; the lines about the report, its notes and its list of sources are none."""
    question, title, text = QUESTIONS[code]
    result, run = await built_in(tmp_path / "c", question, title, text)
    report = run.read_file("final_report.md")
    parsed = citations.parse(report)
    assert len(parsed.listed) == len(result.citations)
    found = [claim for claim in claims.extract_claims(report, parsed, question) if claim.needs_citation]
    assert len(found) == result.claims.total


@pytest.mark.parametrize("code", ["de", "ja"])
async def test_a_run_that_finds_nothing_says_so_in_the_language(code, tmp_path):
    result, run = await built_in(tmp_path / "c", QUESTIONS[code][0], "Other", "Nothing of the kind stands here.")
    report = run.read_file("final_report.md")
    assert result.outcome == "no_evidence"
    assert f"> {frame.label('no_evidence', code)}" in report
    assert say("gap", code).strip() in report
    assert f"**{say('notes', code)}**" in report
    assert not ENGLISH.findall(report)


async def test_marks_on_claims_that_are_not_carried_are_in_the_language(tmp_path):
    from deepdelve.core.records import Claim, Source
    from deepdelve.utils.grounding import render

    draft = "# Fluss\n\nDer Fluss ist 912 Kilometer lang [S1]."
    start = draft.index("Der")
    claim = Claim(
        id="c1",
        text="Der Fluss ist 912 Kilometer lang",
        span=(start, len(draft)),
        citations=("S1",),
        status="unsupported",
        needs_citation=True,
    )
    source = Source(id="S1", url="https://a.example/", title="Erle", file="sources/S1.md", status=200, kind="text", state="ok")
    assert "⚠ nicht belegt durch [1]" in render.render(draft, [claim], {"S1": source}, "standard", language="German").text


@pytest.mark.parametrize("code", ["en", *QUESTIONS])
def test_exports_say_their_own_words_in_the_language(code):
    from docx import Document as read_docx

    from deepdelve.engine.writing.export import docx, html, pdf
    from tests.engine.writing.export.made import document

    made = replace(document(), language=code)
    own = [say(name, code) for name in ("carries", "status_supported", "status_unsupported")]
    page = unescape(html.write(made))
    words = "\n".join(paragraph.text for paragraph in read_docx(io.BytesIO(docx.write(made))).paragraphs)
    data = pdf.as_data(made)
    laid = [data["carries"], *(item["status"] for item in data["evidence"])]
    assert not [text for text in own if text not in page or text not in words or text not in laid]
    assert f'title="{say("carries_this", code)}"' in page


def test_findings_that_no_part_of_the_question_claims_have_a_heading_in_the_language():
    from deepdelve.engine.writing.material import deterministic_findings
    from tests.engine.completion.states import finding, source, state_of

    state = state_of([source("S1")], [], [finding(1, "S1", "", "Die Miete beträgt 900 EUR")])
    assert deterministic_findings(state).startswith("## Findings\n")
    assert deterministic_findings(state.model_copy(update={"language": "German"})).startswith("## Ergebnisse\n")
