"""argparse, with one-line errors that name the nearest flag, and the argument types that commands share."""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from deepdelve import __version__
from deepdelve.cli.text import one_line
from deepdelve.core.errors import UsageError

_REFUSED = {2: "refused: a wrong flag, value or setting; one line says what to do"}
_STOPPED = {130: "stopped"}
RUN_EXITS = {
    0: "verified: every claim of the report is carried by a stored source",
    2: "refused before it started: wrong flag, setting, question or corpus",
    3: "a report that is not (wholly) verified, or no evidence was found; it says why",
    4: "no report: the model server or the program failed",
    **_STOPPED,
}


def exits(own: Mapping[int, str]) -> dict[int, str]:
    """The exit codes of a command that is no run: its own, and those that all have."""
    return dict(sorted({0: "done", **_REFUSED, 4: "could not be done; one line says why", **_STOPPED, **own}.items()))


@dataclass(frozen=True)
class Command:
    """A sub-command; the one without a name opens the app. ``exits`` are its exit codes and what each means."""

    name: str
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    main: Callable[[argparse.Namespace], int]
    exits: Mapping[int, str] = field(default_factory=lambda: exits({}))


class Parser(argparse.ArgumentParser):
    """The parser of one command.

    Args:
        command: the command whose flags it takes.
        listed: commands to list in the help.
    """

    def __init__(self, command: Command, listed: Sequence[Command] = ()) -> None:
        self._flags: list[str] = []
        width = max((len(other.name) for other in listed), default=0)
        rows = "\n".join(f"  {other.name:<{width}}  {other.summary}" for other in listed)
        commands = f"commands:\n{rows}\n\n'deepdelve COMMAND --help' says more.\n\n" if listed else ""
        codes = "exit codes:\n" + "\n".join(f"  {code:<3}  {meaning}" for code, meaning in command.exits.items())
        super().__init__(
            prog=f"deepdelve {command.name}".strip(),
            description=command.summary[:1].upper() + command.summary[1:] + ".",
            epilog=commands + codes,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if listed:
            self.add_argument("--version", action="version", version=f"deepdelve {__version__}")
        command.add_arguments(self)

    def add_argument(self, *args: Any, **kwargs: Any) -> argparse.Action:
        """As argparse's; the flags are kept for the nearest one."""
        self._flags += [flag for flag in args if isinstance(flag, str) and flag.startswith("--")]
        return super().add_argument(*args, **kwargs)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The arguments as a namespace.

        Raises:
            UsageError: an unknown flag, a word too many, or a value that does not fit.
        """
        known, extra = self.parse_known_args(arguments)
        if extra:
            flags = [word for word in extra if word.startswith("-") and word != "--"]
            raise self._unknown_flag(flags[0]) if flags else self._too_much(extra[0])
        self._refuse_empty(known)
        return known

    def _refuse_empty(self, known: argparse.Namespace) -> None:
        """An empty value is a variable that was not set, and not the wish to leave the flag out."""
        for action in self._actions:
            given: object = getattr(known, action.dest, None)
            values = cast("list[object]", given) if isinstance(given, list) else [given]
            if action.option_strings and any(isinstance(value, str) and not value.strip() and value != action.default for value in values):
                raise UsageError(f"{action.option_strings[-1]} is empty.", "Give it a value, or leave it out.")

    def error(self, message: str) -> NoReturn:
        """One line, and no usage block."""
        raise UsageError(one_line(message[:1].upper() + message[1:], 300) + ".", f"See '{self.prog} --help'.")

    def _unknown_flag(self, word: str) -> UsageError:
        flag = word.split("=", 1)[0]
        near = nearest(flag, self._flags)
        hint = f"Did you mean {near}?" if near else f"See '{self.prog} --help'."
        return UsageError(f"There is no flag {one_line(flag, 60)}.", hint)

    def _too_much(self, word: str) -> UsageError:
        return UsageError(f"One word too many: '{one_line(word, 60)}'.", "Put a question in quotation marks.")


def one_of(*allowed: str) -> Callable[[str], str]:
    """An argument type that takes these words only and names the nearest."""

    def convert(word: str) -> str:
        if word in allowed:
            return word
        near = nearest(word, allowed)
        hint = f"did you mean {near}?" if near else "it takes " + ", ".join(allowed)
        raise argparse.ArgumentTypeError(f"there is no '{one_line(word, 40)}'; {hint}".rstrip("?."))

    return convert


def minutes(word: str) -> float:
    """An argument type for a time in minutes, above zero."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"'{one_line(word, 40)}' is no number of minutes above 0")
    return value


def share(word: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"'{word[:40]}' is no share; give a number from 0 to 1, such as 0.9")
    return number


def count(word: str) -> int:
    """An argument type for a whole number above zero."""
    if not (word.isascii() and word.isdigit() and len(word) < 10 and int(word) > 0):
        raise argparse.ArgumentTypeError(f"'{one_line(word, 40)}' is no whole number above 0")
    return int(word)


def text_argument(word: str) -> str:
    """A word of the command line as proper Unicode; bytes that are no UTF-8 are replaced."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def nearest(word: str, known: Sequence[str]) -> str:
    """The known word that looks most like the given one, or an empty string."""
    import difflib

    # What all flags share says nothing of which one is meant.
    bare = {name.lstrip("-"): name for name in known}
    found = difflib.get_close_matches(word[:60].lstrip("-"), list(bare), n=1, cutoff=_ALIKE)
    return bare[found[0]] if found else ""


def question_of(words: str | None, what: str = "question") -> str:
    """The question, trimmed.

    Raises:
        UsageError: there is none.
    """
    question = (words or "").strip()
    if not question:
        raise UsageError(f"The {what} is empty.", f'Give it in quotation marks, as in: "{_EXAMPLE}"')
    return question


_ALIKE = 0.65
_EXAMPLE = "How do heat pumps work in cold climates?"


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags that say which model answers."""
    parser.add_argument(
        "--backend", type=one_of("auto", "ollama", "openai", "builtin"), metavar="NAME", help="auto, ollama, openai or builtin"
    )
    parser.add_argument("--model", metavar="NAME", help="the model on that server")
    parser.add_argument("--base-url", metavar="URL", help="address of the model server")
    parser.add_argument("--config", metavar="FILE", help="a settings file instead of your own")


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags that say what is written where."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the text")
    parser.add_argument("--events", metavar="FILE", help="write every event to this file, one JSON object a line")


def model_flags(args: argparse.Namespace) -> dict[str, str | None]:
    """The model flags as settings; a model or address counts for whichever server is used.

    Raises:
        UsageError: a model or an address for the backend that has none.
    """
    if args.backend == "builtin" and (args.model or args.base_url):
        raise UsageError(
            "The built-in backend has no model and no server to choose.", "Leave out --backend builtin, or --model and --base-url."
        )
    return {
        "api.backend": args.backend,
        "api.ollama_model": args.model,
        "api.openai_model": args.model,
        "api.ollama_host": args.base_url,
        "api.openai_base_url": args.base_url,
    }


def run_of(word: str | None) -> str:
    """The name of a run.

    Raises:
        UsageError: there is none.
    """
    if not (word or "").strip():
        raise UsageError("No run is named.", "Give a run's id, its beginning, or 'latest'; 'deepdelve runs' lists them.")
    return (word or "").strip()
