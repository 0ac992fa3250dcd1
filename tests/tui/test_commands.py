"""Every slash command, through the app."""

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, TabbedContent

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import ConfigError
from deepdelve.engine import facade
from deepdelve.engine.writing.exports import FORMATS
from deepdelve.tui.commands import COMMANDS, EXPORT_FORMATS, available, markdown_table
from deepdelve.tui.screens.reading import ReadingScreen
from deepdelve.tui.screens.report import ReportScreen
from deepdelve.tui.screens.runs import RunsScreen
from deepdelve.tui.screens.sessions import SessionsScreen
from deepdelve.tui.screens.settings import SettingsScreen, fields, widget_of

from .fake_engine import QUESTION, FakeEngine
from .support import Driven, driven

RUN = "20260101_000001_aaaaaa"
OTHER = "20260102_000001_bbbbbb"
DOCS = Path(__file__).resolve().parents[2] / "docs" / "app.md"


def engine() -> FakeEngine:
    made = FakeEngine()
    made.saved(RUN, session_id="session-7")
    made.saved(OTHER, "Another question?", session_id="session-8")
    return made


def tab(d: Driven) -> str:
    return d.app.research.query_one(TabbedContent).active


def test_every_command_has_help_and_a_handler() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
    for command in COMMANDS:
        assert command.help.endswith(".")
        assert callable(command.run)


def test_every_command_has_its_row_in_the_documentation() -> None:
    assert markdown_table(COMMANDS) in DOCS.read_text(encoding="utf-8")


def test_commands_without_their_engine_function_are_not_offered() -> None:
    class Less:
        list_runs = list_sessions = read_report = set_setting = None

    names = {command.name for command in available(Less())}
    assert "runs" in names
    assert not names & {"resume-run", "finish", "verify", "export", "doctor"}
    assert len(available(None)) == len(COMMANDS)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/hepl", "There is no command /hepl. Did you mean /help?"),
        ("/zzzz", "There is no command /zzzz. /help lists them all."),
        ("/depth", "Depth: standard. Possible: quick, standard, deep."),
        ("/depth quick", "Depth: quick. Possible: quick, standard, deep."),
        ("/DEPTH deep", "Depth: deep. Possible: quick, standard, deep."),
        ("/depth huge", "depth: input should be 'quick', 'standard' or 'deep', not 'huge'."),
        ("/style answer", "Report style: answer. Possible: standard, academic, answer."),
        ("/style poem", "report style: input should be 'standard', 'academic' or 'answer', not 'poem'."),
        ("/backend builtin", "Backend: builtin. Possible: auto, ollama, openai, builtin; builtin needs no model."),
        ("/model qwen3:8b", "Model: qwen3:8b."),
        ("/model", "Model: chosen by the backend."),
        (
            "/search-backend corpus",
            "Search: corpus. Possible: auto, corpus, searxng, ddgs, wikipedia, arxiv, openalex, crossref, semantic_scholar, brave, tavily; "
            "or several with commas.",
        ),
        ("/thinking on", "Thinking: on, for this session."),
        ("/thinking maybe", "Thinking is on or off. Type /thinking on or /thinking off."),
        ("/corpus", "Corpus: none. The next run searches it; /corpus clear empties the list."),
        ("/corpus /no/such", "There is nothing at /no/such. Give a folder or file that exists."),
        ("/seed-doc /no/such", "There is nothing at /no/such. Give a folder or file that exists."),
        ("/seed-url ftp://x", "'ftp://x' is not a web address. Give one that begins with https://."),
        ("/seed-url https://example.org/a", "Addresses fetched in any case: https://example.org/a."),
        ("/pipeline-evidence", "The next run does its own research."),
        ("/stop", "Nothing goes on that could be stopped."),
        ("/steer", "Say what the research should do differently. For example: /steer leave out press releases."),
        ("/steer x", "No research goes on that could be steered. Ask a question first."),
        ("/drop-source 9", "There is no source 9 in this run. /sources lists them."),
        ("/finish", "There is no run to write up. Open one with /runs."),
        ("/report zz", "There is no run 'zz'. /runs lists them."),
        ("/report 2026", "2 runs fit '2026'. Give more of the id; /runs lists them."),
        ("/resume zz", "There is no session 'zz'. /sessions lists them."),
        ("/export", "Name a format (md, html, pdf, docx, bib, ris, csl) or a file that ends in one. For example: /export html."),
        ("/config settings.dept", "There is no setting 'settings.dept'. Did you mean 'settings.depth'?"),
        ("/config settings.depth", "settings.depth = standard"),
        ("/theme blu", "There is no theme 'blu'. Tab completes their names."),
        ("/theme nrod", "There is no theme 'nrod'. Did you mean nord?"),
        ("/verify", "Checked again: 3 claims: ✓ 1 supported · ◐ 1 partial · ! 1 unsupported."),
    ],
)
async def test_what_a_command_says(line: str, said: str) -> None:
    async with driven(engine()) as d:
        await d.say(line)
        assert d.notices[-1] == said
        assert not d.engine.requests


@pytest.mark.parametrize(
    ("line", "screen"),
    [
        ("/help", ReadingScreen),
        ("/runs", RunsScreen),
        ("/sessions", SessionsScreen),
        ("/config", SettingsScreen),
        (f"/report {RUN}", ReportScreen),
        ("/report aaaaaa", ReportScreen),
    ],
)
async def test_commands_that_open_a_screen_and_escape_that_leaves_it(line: str, screen: type) -> None:
    async with driven(engine()) as d:
        await d.say(line)
        await d.until(lambda: isinstance(d.app.screen, screen))
        await d.pilot.press("escape")
        assert d.app.screen is d.app.research


@pytest.mark.parametrize("name", ["plan", "sources", "claims"])
async def test_commands_that_open_a_tab(name: str) -> None:
    async with driven(engine()) as d:
        await d.say(f"/{name}")
        assert tab(d) == name


async def test_what_the_next_run_reads(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "evidence.jsonl").write_text('{"source_url": "https://alder.example/", "text": "The Alder is 212 kilometres long."}\n')
    async with driven() as d:
        await d.say(f"/corpus {tmp_path}")
        await d.say(f"/seed-doc {tmp_path / 'a.md'}")
        await d.say("/seed-url https://example.org/a")
        await d.say(f"/pipeline-evidence {tmp_path}")
        await d.say(QUESTION)
        await d.finished()
        request = d.engine.requests[0]
        assert request.corpus == (str(tmp_path),)
        assert request.seed_docs == (str(tmp_path / "a.md"),)
        assert request.seed_urls == ("https://example.org/a",)
        assert request.evidence_dir == str(tmp_path)


async def test_corpus_clear_forgets(tmp_path: Path) -> None:
    async with driven() as d:
        await d.say(f"/corpus {tmp_path}")
        await d.say(f"/corpus {tmp_path}")
        assert d.app.controller.inputs.corpus == (str(tmp_path),)
        await d.say("/corpus clear")
        assert d.app.controller.inputs.corpus == ()


async def test_depth_of_the_session_reaches_the_run() -> None:
    async with driven(settings=Settings()) as d:
        given = d.app.controller.settings
        await d.say("/depth quick")
        assert d.app.controller.settings.settings.depth == "quick"
        assert given.settings.depth == "standard"


async def test_new_begins_afresh() -> None:
    async with driven() as d:
        await d.say(QUESTION)
        await d.finished()
        await d.say("/new")
        assert d.app.controller.state.blocks == ()
        await d.say("Another?")
        await d.finished()
        assert [request.session_id for request in d.engine.requests] == ["session-1", "session-2"]


@pytest.mark.parametrize("line", ["/new", "/resume-run", "/resume", "/finish", "/resume session-7"])
async def test_a_run_that_goes_on_is_not_left_by_accident(line: str) -> None:
    made = engine()
    made.hold_at = "CheckVerdict"
    async with driven(made) as d:
        await d.say(QUESTION)
        await d.say(line)
        assert "A run goes on" in d.notices[-1]
        await d.say("/stop")
        await d.finished()


async def test_exit_closes_the_app() -> None:
    async with driven() as d:
        await d.say("/exit")
        assert d.app.return_value == 0


async def test_resume_run_takes_up_the_named_run() -> None:
    async with driven(engine()) as d:
        await d.say(f"/resume-run {RUN}")
        await d.finished()
        assert ("resume", RUN) in d.engine.calls
        assert d.app.controller.state.run_id == RUN


async def test_resume_run_takes_up_the_newest_that_is_not_verified() -> None:
    made = engine()
    made.saved("20260103_000001_cccccc", events=[ev.RunStarted(run_id="20260103_000001_cccccc", question="Half?")])
    async with driven(made) as d:
        await d.say("/resume-run")
        await d.finished()
        assert made.calls[0] == ("resume", "20260103_000001_cccccc")


async def test_resume_run_without_any_unfinished_run_says_so() -> None:
    async with driven(engine()) as d:
        await d.say("/resume-run")
        assert d.notices[-1] == "There is no unfinished run. /runs lists all."


async def test_resume_opens_the_newest_session() -> None:
    async with driven(engine()) as d:
        await d.say("/resume")
        assert d.app.controller.session_id in {"session-7", "session-8"}
        assert d.app.controller.state.report


async def test_steer_and_drop_source_reach_the_run() -> None:
    made = FakeEngine()
    made.hold_at = "CheckVerdict"
    async with driven(made) as d:
        await d.say(QUESTION)
        await d.say("/steer shorter")
        await d.say("/drop-source 2")
        sent = [(command.kind, command.text) for command in made.handles[0].commands]
        assert sent == [("instruction", "shorter"), ("drop_source", "S2")]
        await d.settle()
        assert d.app.controller.state.dropped == {"S2"}
        await d.say("/stop")
        await d.finished()


def test_the_formats_offered_are_those_of_the_engine() -> None:
    assert tuple(EXPORT_FORMATS) == FORMATS


async def test_export_writes_the_report_in_each_format_named() -> None:
    async with driven(engine()) as d:
        await d.say("/export html DOCX csl")
        assert [call[2] for call in d.engine.calls if call[0] == "export"] == ["html", "docx", "csl"]
        assert d.notices[-1] == f"Written: {OTHER}.csl"


async def test_export_takes_formats_and_files_side_by_side_and_one_that_fails_keeps_none_from_being_written() -> None:
    async with driven(engine()) as d:
        await d.say("/export pdf html Refs.bib x.csl.json")
        assert [call[2] for call in d.engine.calls if call[0] == "export"] == ["pdf", "html", "Refs.bib", "x.csl.json"]
        assert "pip install 'deepdelve[export]'" in d.notices[-4]
        assert [line.split(":")[0] for line in d.notices[-3:]] == ["Written"] * 3


@pytest.mark.parametrize("gap", ["\n", "\t", "  ", "\n\n"])
async def test_a_command_ends_at_any_white_space(gap: str) -> None:
    async with driven() as d:
        await d.say(f"/depth{gap}quick")
        assert d.app.controller.settings.settings.depth == "quick"


@pytest.mark.parametrize(("command", "value", "kept"), [("seed-url", "https://example.org/a", "seed_urls"), ("seed-doc", "", "seed_docs")])
async def test_what_is_read_in_any_case_can_be_forgotten(tmp_path: Path, command: str, value: str, kept: str) -> None:
    async with driven() as d:
        await d.say(f"/{command} {value or tmp_path}")
        assert len(getattr(d.app.controller.inputs, kept)) == 1
        await d.say(f"/{command} clear")
        assert getattr(d.app.controller.inputs, kept) == ()


async def test_export_takes_a_file_whose_name_may_hold_spaces(tmp_path: Path) -> None:
    async with driven(engine()) as d:
        await d.say(f"/export {tmp_path / 'my report.md'}")
        assert d.notices[-1] == f"Written: {tmp_path / 'my report.md'}"


async def test_a_failed_export_is_one_line_and_costs_nothing() -> None:
    async with driven(engine()) as d:
        await d.say(f"/report {RUN}")
        await d.say("/export pdf")
        assert "pip install 'deepdelve[export]'" in d.notices[-1]
        assert RUN in d.engine.journal
        await d.say("/export html")
        assert d.notices[-1].startswith("Written: ")


async def test_what_an_export_lacks_is_said() -> None:
    made = engine()
    made.export_note = "No font of this machine has 3 of its letters."
    async with driven(made) as d:
        await d.say("/export html")
        assert d.notices[-1] == f"Written: {OTHER}.html. No font of this machine has 3 of its letters."


async def test_config_writes_a_setting_and_keeps_the_sessions_own_changes() -> None:
    async with driven() as d:
        await d.say("/style answer")
        await d.say("/config settings.depth deep")
        assert d.engine.calls == [("set", "settings.depth", "deep")]
        assert d.notices[-1] == "settings.depth = deep"
        assert d.app.controller.settings.settings.report_style == "answer"


async def test_config_takes_lists() -> None:
    async with driven() as d:
        await d.say("/config search.blocked_domains a.example, b.example")
        assert d.engine.calls == [("set", "search.blocked_domains", ["a.example", "b.example"])]


async def test_secrets_are_never_shown() -> None:
    settings = Settings.model_validate({"api": {"openai_api_key": "sk-secret"}})
    async with driven(settings=settings) as d:
        await d.say("/config api.openai_api_key")
        assert "sk-secret" not in d.notices[-1]
        assert all(field.value == "" for field in fields(settings) if field.kind == "secret")


async def test_a_password_inside_an_address_is_never_shown() -> None:
    settings = Settings.model_validate({"api": {"openai_base_url": "http://anna:hunter22@127.0.0.1:8080/v1"}})
    async with driven(settings=settings) as d:
        await d.say("/config api.openai_base_url")
        assert "hunter22" not in d.notices[-1]
        assert "127.0.0.1:8080" in d.notices[-1]
        (field,) = [field for field in fields(settings) if field.key == "api.openai_base_url"]
        (entry,) = widget_of(field, 1)
        assert isinstance(entry, Input)
        assert entry.password


async def test_the_settings_form_writes_what_is_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven() as d:
        said: list[str] = []
        monkeypatch.setattr(d.app, "notify", lambda text, **options: said.append(text))
        await d.say("/config")
        screen = d.app.screen
        assert isinstance(screen, SettingsScreen)
        number = next(n for n, field in enumerate(screen.fields) if field.key == "api.ollama_model")
        box = screen.query_one(f"#setting-{number}", Input)
        box.focus()
        box.value = "qwen3:8b"
        await d.pilot.press("enter")
        await d.settle()
        assert d.engine.calls == [("set", "api.ollama_model", "qwen3:8b")]
        assert said == ["api.ollama_model is written."]

        def refuse(dotted: str, value: Any) -> Settings:
            raise ConfigError("Not so.", "Otherwise.")

        monkeypatch.setattr(d.engine, "set_setting", refuse)
        await d.pilot.press("enter")
        await d.settle()
        assert said[-1] == "Not so. Otherwise."


def test_the_form_has_every_setting_that_one_line_can_hold() -> None:
    keys = {field.key for field in fields(Settings())}
    assert {"api.backend", "settings.presets.deep.minutes", "search.corpus", "ui.notify"} <= keys
    assert not keys & {"settings.approvals", "ui.keys", "prices"}


async def test_theme_changes_and_is_remembered() -> None:
    async with driven() as d:
        await d.say("/theme textual-light")
        assert d.app.theme == "textual-light"
        assert d.engine.calls == [("set", "ui.theme", "textual-light")]


async def test_doctor_says_what_to_do() -> None:
    async with driven() as d:
        await d.say("/doctor")
        lines = d.notices[-1].split("\n")
        assert lines[0] == "✗ model server: nothing answers at 127.0.0.1:11434 → start it, or /backend builtin"
        assert lines[1] == "✓ home: writable"


class RealDoctor(FakeEngine):
    """The engine's own doctor, on what each test's home and settings are."""

    doctor = staticmethod(facade.doctor)


async def test_doctor_shows_what_the_engine_itself_found(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide rises twice a day.\n")
    settings = Settings()
    settings.api.backend = "builtin"
    settings.search.corpus, settings.search.scope = [str(tmp_path)], "corpus"
    async with driven(RealDoctor(), settings=settings) as d:
        await d.say("/doctor")
        assert [line.split(":")[0][2:] for line in d.notices[-1].split("\n")] == ["server", "search", "home", "terminal"]
        assert d.notices[-1].startswith("✓ server: The built-in backend is used")


async def test_a_theme_of_the_settings_that_does_not_exist_is_said() -> None:
    settings = Settings()
    settings.ui.theme = "pink"
    async with driven(settings=settings) as d:
        assert any("no theme 'pink'" in text for text in d.notices)
