"""Finds the command, runs it, and turns every error into one line and an exit code."""

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from typing import NoReturn

from deepdelve.cli import (
    app_command,
    ask_command,
    checks_command,
    export_command,
    keep_command,
    look_command,
    run_command,
    runs_command,
    search_command,
    serve_command,
    show_command,
    vault_command,
    verify_command,
)
from deepdelve.cli.parser import RUN_EXITS, Command, Parser, nearest, text_argument
from deepdelve.cli.text import one_line
from deepdelve.core.errors import DeepDelveError, UsageError
from deepdelve.core.paths import check_home

COMMANDS: tuple[Command, ...] = (
    Command("run", "research a question and print the report", run_command.add_arguments, run_command.main, RUN_EXITS),
    Command("ask", "ask about a finished run; its report stays as it is", ask_command.add_arguments, ask_command.main, RUN_EXITS),
    Command("runs", "list the runs", runs_command.add_arguments, runs_command.main),
    Command(
        "show", "print the report, sources, findings or events of a run", show_command.add_arguments, show_command.main, show_command.EXITS
    ),
    Command(
        "search", "search what was asked and found before", search_command.add_search, search_command.search, search_command.SEARCH_EXITS
    ),
    Command("open", "print what a search result leads to, down to the passage", search_command.add_open, search_command.open_ref),
    Command("history", "rebuild a lost prompt history, or index the history", search_command.add_history, search_command.history),
    Command("verify", "check any report against its sources", verify_command.add_arguments, verify_command.main, verify_command.EXITS),
    Command("export", "write the report of a run as HTML, PDF, Word or references", export_command.add_arguments, export_command.main),
    Command("finish", "make a partial report of what a run has", keep_command.add_finish, keep_command.finish, RUN_EXITS),
    Command("replay", "run a recorded run again, offline", keep_command.add_replay, keep_command.replay, keep_command.REPLAY_EXITS),
    Command("bundle", "pack a run for a bug report, without secrets", keep_command.add_bundle, keep_command.bundle),
    Command(
        "vault",
        "bounded research into an Obsidian vault, and what keeps it sound",
        vault_command.add_arguments,
        vault_command.main,
        vault_command.EXITS,
    ),
    Command("serve", "the HTTP API, on this machine only unless a password is set", serve_command.add_arguments, serve_command.main),
    Command(
        "doctor", "look at what a run needs, and say what mends it", look_command.add_doctor, look_command.doctor, look_command.DOCTOR_EXITS
    ),
    Command(
        "fetch", "print what agents would read of a page or file", look_command.add_fetch, look_command.fetch, look_command.FETCH_EXITS
    ),
    Command(
        "search-health",
        "ask every search engine once",
        look_command.add_search_health,
        look_command.search_health,
        look_command.HEALTH_EXITS,
    ),
    Command(
        "checks",
        "list the checks of a report, what mends each, and what is switched off",
        checks_command.add_arguments,
        checks_command.main,
    ),
)
APP = Command("", app_command.SUMMARY, app_command.add_arguments, app_command.main, RUN_EXITS)
INTERRUPTED = 130
UNEXPECTED = 4


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Args:
        argv: the arguments without the program's name; None takes the process's own.
    """
    _tolerant_streams()
    arguments = [text_argument(part) for part in (sys.argv[1:] if argv is None else argv)]
    try:
        with _sigterm_interrupts():
            return _guarded(lambda: _dispatch(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        _close_streams()


def _dispatch(arguments: list[str]) -> int:
    """Hand the arguments to the command that they name."""
    check_home()
    command = APP
    if arguments and not arguments[0].startswith("-"):
        found = next((known for known in COMMANDS if known.name == arguments[0]), None)
        if found is None:
            raise _unknown(arguments[0])
        command, arguments = found, arguments[1:]
    parser = Parser(command, COMMANDS if command is APP else ())
    return command.main(parser.parse(arguments))


def _guarded(action: Callable[[], int]) -> int:
    """The action's exit code; errors become one line on stderr."""
    try:
        return action()
    except DeepDelveError as error:
        _complain(error.line())
        return error.exit_code
    except BrokenPipeError:
        return 0
    except Exception as error:
        from deepdelve.cli.logs import record_crash

        _complain(f"Something went wrong that should not have ({type(error).__name__}). {record_crash(error)}")
        return UNEXPECTED


def _unknown(word: str) -> UsageError:
    near = nearest(word, [command.name for command in COMMANDS])
    shown = one_line(word, 60)
    if near:
        return UsageError(f"There is no command '{shown}'.", f"Did you mean 'deepdelve {near}'?")
    return UsageError(
        f"There is no command '{shown}'.", "For a question: deepdelve run \"QUESTION\". 'deepdelve --help' lists the commands."
    )


def _complain(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print("deepdelve: " + one_line(line, 2000), file=sys.stderr, flush=True)


@contextlib.contextmanager
def _sigterm_interrupts() -> Generator[None]:
    """While in force, SIGTERM is met as Ctrl-C is; outside the main thread signals do not arrive."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _tolerant_streams() -> None:
    """Closed streams lead nowhere; characters that the terminal's encoding lacks are replaced, not fatal."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _close_streams() -> None:
    """Flush; a reader that has gone (``| head``) is no error, and the interpreter must not complain of it at its end."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
