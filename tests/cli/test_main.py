"""Bad input is one line that says what to do, with exit code 2; nothing is started."""

import errno
import sys
from pathlib import Path

import pytest

from deepdelve import __version__
from deepdelve.cli.main import main
from deepdelve.core.errors import BackendError, CorpusError, DiskError, RunBusyError
from tests.cli.fake_facade import FakeFacade


def refused(said: object, *parts: str) -> None:
    """It ended with 2, wrote one line to stderr that holds these parts, and nothing to stdout."""
    assert said.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    for part in parts:
        assert part in said.err, said.err


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["rnu", "x"], ["no command 'rnu'", "deepdelve run"]),
        (["shwo"], ["deepdelve show"]),
        (["What is a heat pump?"], ["deepdelve --help"]),
        (["--promt", "x"], ["no flag --promt", "--prompt"]),
        (["--list-run"], ["--list-runs"]),
        (["--zzzz"], ["no flag --zzzz", "--help"]),
        (["run", "q", "--detph", "quick"], ["--detph", "--depth"]),
        (["run", "q", "--sed-doc=x"], ["no flag --sed-doc.", "--seed-doc"]),
        (["run", "what", "is", "it"], ["too many", "quotation marks"]),
        (["run", "q", "--depth", "quik"], ["'quik'", "did you mean quick"]),
        (["run", "q", "--style", "haiku"], ["'haiku'", "standard, academic, answer"]),
        (["run", "q", "--backend", "olama"], ["did you mean ollama"]),
        (["run", "q", "--backend", "nope"], ["it takes auto, ollama, openai, builtin"]),
        (["run", "q", "--bogus"], ["no flag --bogus. See 'deepdelve run --help'"]),
        (["run", "q", "--corpra", "x"], ["no flag --corpra. Did you mean --corpus?"]),
        (["run", "q", "--max-minutes", "ten"], ["'ten'", "minutes"]),
        (["run", "q", "--max-minutes", "0"], ["'0'"]),
        (["run", "q", "--max-minutes", "nan"], ["'nan'"]),
        (["run", "q", "--max-minutes=-1"], ["'-1'"]),
        (["run", "q", "--corpus"], ["--corpus", "expected one argument"]),
        (["run", "q", "--js"], ["no flag --js", "--json"]),
        (["run"], ["question is empty"]),
        (["run", ""], ["question is empty"]),
        (["run", " \n\t "], ["question is empty"]),
        (["run", "--resume-run", "latest", "q"], ["takes no question"]),
        (["run", "--resume-run", " "], ["--resume-run is empty"]),
        (["run", "--resume-run", "latest", "--corpus", "x"], ["takes no --corpus"]),
        (["run", "--resume-run", "latest", "--depth", "deep"], ["takes no --depth"]),
        (["run", "--resume-run", "latest", "--seed-url", "https://a.example"], ["takes no --seed-url"]),
        (["run", "--resume-run", "latest", "--record"], ["takes no --record"]),
        (["run", "--resume-run", "nope"], ["no run 'nope'"]),
        (["doctor", "--backend", "builtin", "--model", "m"], ["no model and no server", "--model"]),
        (["ask", "latest", "q", "--backend", "builtin", "--base-url", "http://127.0.0.1:9"], ["no model and no server"]),
        (["ask"], ["No run is named", "deepdelve runs"]),
        (["ask", "latest"], ["question is empty"]),
        (["ask", "How long is the Alder?"], ["No run is named", 'deepdelve ask latest "How long is the Alder?"']),
        (["ask", "latest", "  "], ["question is empty"]),
        (["ask", "nope", "q"], ["no run 'nope'", "Did you mean"]),
        (["show"], ["No run is named"]),
        (["show", "nope"], ["no run 'nope'"]),
        (["show", "latest", "--sources", "--findings"], ["not allowed with"]),
        (["runs", "--limit", "0"], ["'0'"]),
        (["runs", "--limit", "²"], ["'²'"]),
        (["--prompt", ""], ["prompt is empty"]),
        (["-p", "  "], ["prompt is empty"]),
        (["--style", "haiku"], ["'haiku'"]),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], parts: list[str], deepdelve_says, facade: FakeFacade) -> None:
    refused(deepdelve_says(*arguments), *parts)
    assert not [call for call in facade.calls if call[0] in {"start", "ask", "resume"}]


EMPTY = ["--model", "--base-url", "--config", "--search", "--corpus", "--seed-doc", "--seed-url", "--pipeline-evidence", "--events"]


@pytest.mark.parametrize("flag", EMPTY)
@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_value_is_refused_and_not_taken_for_this_folder_or_for_nothing(flag, value, deepdelve_says, facade: FakeFacade) -> None:
    refused(deepdelve_says("run", "q", f"{flag}={value}"), f"{flag} is empty")
    assert not facade.calls


@pytest.mark.parametrize("flag", ["--config", "--events"])
@pytest.mark.parametrize("value", ["x" * 5000, "~nobody-of-this-name/x"])
def test_what_can_be_no_path_is_refused_before_anything_starts(flag: str, value: str, deepdelve_says, facade: FakeFacade) -> None:
    refused(deepdelve_says("run", "q", flag, value))
    assert not [call for call in facade.calls if call[0] == "start"]


def test_a_home_that_cannot_be_one_is_one_line(monkeypatch: pytest.MonkeyPatch, deepdelve_says) -> None:
    monkeypatch.setenv("DEEPDELVE_HOME", "~nobody-of-this-name/x")
    refused(deepdelve_says("runs"), "DEEPDELVE_HOME", "Set it to a folder")


@pytest.mark.parametrize("arguments", [[], ["-p", "question"], ["--resume", "x"], ["--style", "academic"]])
def test_the_app_without_a_terminal_is_refused(arguments: list[str], deepdelve_says) -> None:
    refused(deepdelve_says(*arguments), "needs a terminal", "deepdelve run")


def test_outside_text_in_an_error_cannot_reach_the_terminal(deepdelve_says) -> None:
    said = deepdelve_says("\x1b[31mrun\nx")
    refused(said)
    assert "\x1b" not in said.err


def test_a_megabyte_of_argument_gives_a_short_line(deepdelve_says) -> None:
    said = deepdelve_says("x" * 1_000_000)
    refused(said)
    assert len(said.err) < 400


@pytest.mark.parametrize("word", ["run", "ask", "runs", "show", ""])
def test_help_says_everything_and_ends_with_0(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*([word] if word else []), "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "exit codes:" in text
    assert text.startswith(f"usage: deepdelve {word}".rstrip())


@pytest.mark.parametrize(
    ("word", "said", "not_said"),
    [
        ("search", ["  1    nothing found", "  3    not brought to its end", "  2    refused"], "claim"),
        ("history", ["  0    done"], "claim"),
        ("open", ["  0    done"], "claim"),
        ("verify", ["  5    with --fail-under"], "verified:"),
        ("run", ["  0    verified: every claim", "  130  stopped"], "done"),
        ("ask", ["  0    verified: every claim"], "done"),
        ("doctor", ["  4    something that a run needs is missing"], "claim"),
        ("vault", ["  3    no page was written"], "claim"),
    ],
)
def test_help_tells_the_exit_codes_of_its_own_command(
    word: str, said: list[str], not_said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([word, "--help"])
    codes = capsys.readouterr().out.split("exit codes:")[1]
    assert all(line in codes for line in said)
    assert not_said not in codes


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(f"\n  {name}" in text for name in ("run", "ask", "runs", "show"))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"deepdelve {__version__}\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CorpusError("The corpus is empty.", "Put documents in it."), 2),
        (RunBusyError("Busy.", "Wait."), 2),
        (BackendError("The server is down.", "Start it.", cause="unreachable"), 4),
        (DiskError("No room.", "Free some."), 4),
    ],
)
def test_an_error_of_the_product_is_its_line_and_its_code(error: Exception, code: int, deepdelve_says, facade: FakeFacade) -> None:
    facade.refusal = error
    said = deepdelve_says("run", "q")
    assert said.code == code
    assert said.err == f"deepdelve: {error.line()}\n"
    facade.refusal, facade.failure = None, error
    said = deepdelve_says("run", "q")
    assert said.code == code
    assert said.err.splitlines()[-1] == f"deepdelve: {error.line()}"
    assert said.out == ""


def test_any_other_error_names_the_log_and_is_written_there(deepdelve_says, facade: FakeFacade, isolated: Path) -> None:
    facade.failure = RuntimeError("boom\x1b[31m")
    said = deepdelve_says("run", "q")
    log = isolated / "logs" / "deepdelve.log"
    assert said.code == 4
    assert str(log) in said.err.splitlines()[-1]
    assert "Traceback" not in said.err
    assert "RuntimeError: boom" in log.read_text()


def test_a_log_that_cannot_be_written_is_said(deepdelve_says, facade: FakeFacade, isolated: Path) -> None:
    facade.failure = RuntimeError("boom")
    isolated.mkdir()
    (isolated / "logs").write_text("a file where the folder should be")
    said = deepdelve_says("run", "q")
    assert said.code == 4
    assert "could not be written" in said.err


@pytest.mark.parametrize("text", ["api: {bakend: x}\n", "settings: {max_run_minutes: ten}\n", "[]\n", "api: {\n"])
def test_a_wrong_settings_file_is_one_line(text: str, deepdelve_says, tmp_path: Path, facade: FakeFacade) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(text)
    refused(deepdelve_says("run", "q", "--config", str(config)), str(config))
    assert not [call for call in facade.calls if call[0] == "start"]


def test_a_missing_settings_file_is_refused_and_not_made(deepdelve_says, tmp_path: Path) -> None:
    missing = tmp_path / "none.yaml"
    refused(deepdelve_says("run", "q", "--config", str(missing)), "no settings file", str(missing))
    assert not missing.exists()


@pytest.mark.parametrize("kind", ["folder", "no parent"])
def test_an_events_file_that_cannot_be_written_is_refused_before_the_run(
    kind: str, deepdelve_says, tmp_path: Path, facade: FakeFacade
) -> None:
    target = tmp_path if kind == "folder" else tmp_path / "none" / "events.jsonl"
    refused(deepdelve_says("run", "q", "--events", str(target)), "events file")
    assert not [call for call in facade.calls if call[0] == "start"]


def test_an_events_file_is_not_made_for_a_run_that_is_refused(deepdelve_says, tmp_path: Path, facade: FakeFacade) -> None:
    facade.refusal = CorpusError("The corpus is empty.")
    target = tmp_path / "events.jsonl"
    refused(deepdelve_says("run", "q", "--events", str(target)))
    assert not target.exists()


def test_a_full_disk_costs_the_events_file_and_not_the_run(deepdelve_says, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def no_room(self: Path, *args: object, **kwargs: object) -> object:
        if self.name == "events.jsonl":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", no_room)
    said = deepdelve_says("run", "q", "--events", str(tmp_path / "events.jsonl"))
    assert said.code == 0
    assert said.err.count("events file is incomplete (No space left on device)") == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_output_that_cannot_be_written_is_one_line_that_says_where_the_report_is(
    number: int, deepdelve_says, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(text: str) -> None:
        raise OSError(number, "No such luck")

    monkeypatch.setattr(sys.stdout, "write", no_room)
    said = deepdelve_says("run", "q")
    assert said.code == 4
    assert "cannot be written (No such luck)" in said.err
    assert "deepdelve show latest" in said.err
    assert "should not have" not in said.err
