"""The one registry of slash commands: popup, palette, ``/help`` and the table in ``docs/app.md`` come from it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TypeAlias, get_args
from urllib.parse import urlsplit

from pydantic import ValidationError

from deepdelve.config import ApiSettings, Settings, known_keys, nearest
from deepdelve.core.errors import ConfigError, CorpusError, DeepDelveError, UsageError
from deepdelve.core.paths import given_path
from deepdelve.core.records import ClaimCounts, Depth, Style
from deepdelve.tui import past_commands, vault
from deepdelve.tui.completion import Choice
from deepdelve.tui.controller import Controller
from deepdelve.tui.text import claim_counts, count, one_line

Run: TypeAlias = Callable[[Controller, str], Awaitable[None]]
Words: TypeAlias = Callable[[Controller], Awaitable[Sequence[Choice]]]
EXPORT_FORMATS = {
    "md": "Markdown, as it was delivered",
    "html": "one page with its evidence, for any browser",
    "pdf": "with its evidence, to print and send on",
    "docx": "with its evidence, for a word processor",
    "bib": "the cited sources as BibTeX",
    "ris": "the cited sources as RIS",
    "csl": "the cited sources as CSL-JSON",
}


@dataclass(frozen=True)
class SlashCommand:
    """A slash command. ``needs`` names engine functions without which it is not offered; ``words`` completes its argument."""

    name: str
    args: str
    help: str
    run: Run
    needs: tuple[str, ...] = ()
    words: Words | None = None

    @property
    def usage(self) -> str:
        """The command with its arguments, as help shows it."""
        return f"/{self.name} {self.args}".strip()


def available(engine: object | None) -> list[SlashCommand]:
    """The commands that the engine can serve; all of them while it is not loaded yet."""
    return [command for command in COMMANDS if engine is None or all(hasattr(engine, name) for name in command.needs)]


async def execute(controller: Controller, line: str) -> None:
    """Carries out a line that begins with a slash.

    Raises:
        UsageError: no such command (names the nearest), or its argument is wrong.
    """
    word, argument = [*line.strip().removeprefix("/").split(maxsplit=1), "", ""][:2]
    commands = {command.name: command for command in available(controller.loaded)}
    command = commands.get(word.lower())
    if command is None:
        near = nearest(word.lower(), list(commands))
        raise UsageError(f"There is no command /{one_line(word, 40)}.", f"Did you mean /{near}?" if near else "/help lists them all.")
    await command.run(controller, argument.strip())


def markdown_table(commands: Sequence[SlashCommand]) -> str:
    """The commands as a Markdown table."""
    rows = [f"| `{command.usage.replace('|', chr(92) + '|')}` | {command.help} |" for command in commands]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def _fixed(*words: str) -> Words:
    async def found(controller: Controller) -> list[Choice]:
        return [Choice(word, word) for word in words]

    return found


async def _export_words(controller: Controller) -> list[Choice]:
    return [Choice(word, word, what) for word, what in EXPORT_FORMATS.items()]


async def _run_words(controller: Controller) -> list[Choice]:
    engine = await controller.engine()
    runs = await controller.call(engine.list_runs, 50)
    return [Choice(run.run_id, run.run_id, one_line(run.question, 60)) for run in runs]


async def _session_words(controller: Controller) -> list[Choice]:
    engine = await controller.engine()
    sessions = await controller.call(engine.list_sessions, 50)
    return [Choice(item.session_id, item.session_id, one_line(item.title, 60)) for item in sessions]


async def _source_words(controller: Controller) -> list[Choice]:
    return [Choice(source.id, source.id, one_line(source.title or source.url, 60)) for source in controller.state.sources.values()]


async def _model_words(controller: Controller) -> list[Choice]:
    engine = await controller.engine()
    return [Choice(one_line(name, 200), one_line(name, 200)) for name in await engine.models(controller.settings)]


async def _engine_words(controller: Controller) -> list[Choice]:
    engine = await controller.engine()
    return [Choice(name, name) for name in engine.search_engines()]


async def _config_words(controller: Controller) -> list[Choice]:
    return [Choice(key, key) for key in known_keys()]


async def _theme_words(controller: Controller) -> list[Choice]:
    from textual.theme import BUILTIN_THEMES

    return [Choice(name, name) for name in sorted(BUILTIN_THEMES)]


async def _help(controller: Controller, argument: str) -> None:
    controller.front.open_screen("help")


async def _new(controller: Controller, argument: str) -> None:
    await controller.new()


async def _stop(controller: Controller, argument: str) -> None:
    if not controller.stop():
        raise UsageError("Nothing goes on that could be stopped.")


async def _exit(controller: Controller, argument: str) -> None:
    controller.front.leave()


def _assign(controller: Controller, group: str, key: str, value: str) -> None:
    """Sets a value for this session; a wrong one is a sentence that names what is allowed."""
    controller.settings = _assigned(controller, group, key, value)


def _assigned(controller: Controller, group: str, key: str, value: str) -> Settings:
    copy = controller.settings.model_copy(deep=True)
    try:
        setattr(getattr(copy, group), key, value)
    except ValidationError as error:
        raise UsageError(f"{key.replace('_', ' ')}: {error.errors()[0]['msg'].lower()}, not '{one_line(value, 40)}'.") from None
    return copy


async def _depth(controller: Controller, argument: str) -> None:
    if argument:
        _assign(controller, "settings", "depth", argument)
    controller.say(f"Depth: {controller.settings.settings.depth}. {_one_of(Depth)}")


async def _style(controller: Controller, argument: str) -> None:
    if argument:
        _assign(controller, "settings", "report_style", argument)
    controller.say(f"Report style: {controller.settings.settings.report_style}. {_one_of(Style)}")


def _one_of(literal: object) -> str:
    return f"Possible: {', '.join(get_args(literal))}."


async def _backend(controller: Controller, argument: str) -> None:
    if argument:
        _assign(controller, "api", "backend", argument)
    kinds = get_args(ApiSettings.model_fields["backend"].annotation)
    controller.say(f"Backend: {controller.settings.api.backend}. Possible: {', '.join(kinds)}; builtin needs no model.")


async def _model(controller: Controller, argument: str) -> None:
    api = controller.settings.api
    key = "openai_model" if api.backend == "openai" else "ollama_model"
    if argument:
        _assign(controller, "api", key, argument)
    controller.say(f"Model: {getattr(controller.settings.api, key) or 'chosen by the backend'}.")


async def _search_backend(controller: Controller, argument: str) -> None:
    engine = await controller.engine()
    if argument:
        changed = _assigned(controller, "search", "backend", argument)
        await engine.check_search(changed)
        controller.settings = changed
    names = ", ".join(engine.search_engines())
    controller.say(f"Search: {controller.settings.search.backend}. Possible: {names}; or several with commas.")


async def _thinking(controller: Controller, argument: str) -> None:
    if argument not in {"", "on", "off"}:
        raise UsageError("Thinking is on or off.", "Type /thinking on or /thinking off.")
    if argument:
        _assign(controller, "api", "thinking", argument)
    controller.say(f"Thinking: {'on' if controller.settings.api.thinking else 'off'}, for this session.")


async def _corpus(controller: Controller, argument: str) -> None:
    if argument == "clear":
        controller.change(corpus=())
    elif argument:
        folder = _existing(argument)
        controller.change(corpus=(*(known for known in controller.inputs.corpus if known != folder), folder))
    chosen = [*controller.settings.search.corpus, *controller.inputs.corpus]
    controller.say(f"Corpus: {', '.join(chosen) or 'none'}. The next run searches it; /corpus clear empties the list.")


async def _seed_doc(controller: Controller, argument: str) -> None:
    if argument == "clear":
        controller.change(seed_docs=())
    elif argument:
        controller.change(seed_docs=(*controller.inputs.seed_docs, _existing(argument)))
    controller.say(f"Documents read in any case: {', '.join(controller.inputs.seed_docs) or 'none'}.")


async def _seed_url(controller: Controller, argument: str) -> None:
    if argument == "clear":
        controller.change(seed_urls=())
    elif argument:
        parts = urlsplit(argument)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(f"'{one_line(argument, 80)}' is not a web address.", "Give one that begins with https://.")
        controller.change(seed_urls=(*controller.inputs.seed_urls, argument))
    controller.say(f"Addresses fetched in any case: {', '.join(controller.inputs.seed_urls) or 'none'}.")


async def _evidence(controller: Controller, argument: str) -> None:
    if not argument or argument == "clear":
        controller.change(evidence_dir="")
        controller.say("The next run does its own research.")
        return
    folder = _existing(argument)
    texts = await controller.call((await controller.engine()).check_bundle, Path(folder))
    controller.change(evidence_dir=folder)
    controller.say(f"The next run writes from the bundle {folder} alone: {count(texts, 'text')}. /pipeline-evidence clear forgets it.")


def _existing(argument: str) -> str:
    path = given_path(argument)
    if not path.exists():
        raise CorpusError(f"There is nothing at {one_line(argument, 120)}.", "Give a folder or file that exists.")
    return str(path.resolve())


async def _runs(controller: Controller, argument: str) -> None:
    controller.front.open_screen("runs")


async def _sessions(controller: Controller, argument: str) -> None:
    controller.front.open_screen("sessions")


async def _resume_run(controller: Controller, argument: str) -> None:
    await controller.resume_run(argument)


async def _resume(controller: Controller, argument: str) -> None:
    await controller.resume_session(argument)


async def _finish(controller: Controller, argument: str) -> None:
    await controller.finish()


async def _report(controller: Controller, argument: str) -> None:
    run = await controller.find_run(argument)
    controller.front.open_screen("report", run_id=run.run_id)


async def _verify(controller: Controller, argument: str) -> None:
    engine = await controller.engine()
    run = await controller.find_run(argument)
    claims = await controller.call(engine.verify_run, run.run_id)
    counts = ClaimCounts(**{name: sum(claim.status == name for claim in claims) for name in ClaimCounts.model_fields})
    controller.say(f"Checked again: {counts.total} claims: {claim_counts(counts)}.")


async def _export(controller: Controller, argument: str) -> None:
    if not argument:
        raise UsageError(f"Name a format ({', '.join(EXPORT_FORMATS)}) or a file that ends in one.", "For example: /export html.")
    run = await controller.find_run()
    words = [word.lower() if word.lower() in EXPORT_FORMATS else word for word in argument.split()]
    for wanted in words if all(map(_names_format, words)) else [argument]:
        try:
            await controller.export(run.run_id, wanted)
        except DeepDelveError as error:
            controller.fail(error)


def _names_format(word: str) -> bool:
    return word in EXPORT_FORMATS or PurePath(word).suffix.lower().removeprefix(".") in {*EXPORT_FORMATS, "json"}


def _tab(name: str) -> Run:
    async def run(controller: Controller, argument: str) -> None:
        controller.front.open_screen("tab", tab=name)

    return run


async def _files(controller: Controller, argument: str) -> None:
    run = await controller.find_run(argument)
    controller.front.open_screen("files", run_id=run.run_id)


async def _steer(controller: Controller, argument: str) -> None:
    if not argument:
        raise UsageError("Say what the research should do differently.", "For example: /steer leave out press releases.")
    controller.steer(argument)


async def _drop_source(controller: Controller, argument: str) -> None:
    wanted = argument.upper() if argument.upper().startswith("S") else f"S{argument}"
    if wanted not in controller.state.sources:
        raise UsageError(f"There is no source {one_line(argument, 20) or '?'} in this run.", "/sources lists them.")
    controller.steer(wanted, "drop_source")


async def _config(controller: Controller, argument: str) -> None:
    if not argument:
        controller.front.open_screen("settings")
        return
    key, _, value = argument.partition(" ")
    if key not in known_keys():
        near = nearest(key, known_keys())
        raise ConfigError(f"There is no setting '{one_line(key, 60)}'.", f"Did you mean '{near}'?" if near else "/config lists them.")
    if value.strip():
        await controller.set_setting(key, value.strip())
    controller.say(f"{key} = {setting(controller.settings, key)}")


def setting(settings: Settings, dotted: str) -> object:
    """The value of a setting; secrets print masked, and so do passwords in addresses."""
    from deepdelve.engine import facade

    value: object = settings
    for name in dotted.split("."):
        value = getattr(value, name)
    return facade.masker(settings)(str(value))


async def _doctor(controller: Controller, argument: str) -> None:
    engine = await controller.engine()
    controller.say("Looking at server, model, search and folders …")
    rows = await engine.doctor(controller.settings)
    lines = [f"{'✓' if row.ok else '✗'} {row.name}: {row.detail}{f' → {row.fix}' if row.fix and not row.ok else ''}" for row in rows]
    controller.say("\n".join(lines) or "Nothing was checked.", "info" if all(row.ok for row in rows) else "warning")


async def _theme(controller: Controller, argument: str) -> None:
    if not argument:
        controller.say("Name a theme: /theme textual-light, /theme nord …; Tab completes.")
        return
    controller.front.set_theme(argument)
    await controller.set_setting("ui.theme", argument)


COMMANDS: tuple[SlashCommand, ...] = (
    SlashCommand("help", "", "All commands and keys.", _help),
    SlashCommand("new", "", "An empty transcript and a new session.", _new),
    SlashCommand("stop", "", "Stop what goes on; everything found is kept.", _stop),
    SlashCommand("exit", "", "Close the app.", _exit),
    SlashCommand("depth", "quick|standard|deep", "How much the next run may spend.", _depth, words=_fixed(*get_args(Depth))),
    SlashCommand("style", "standard|academic|answer", "What kind of report is written.", _style, words=_fixed(*get_args(Style))),
    SlashCommand(
        "backend", "NAME", "Who answers: auto, ollama, openai or builtin.", _backend, words=_fixed("auto", "ollama", "openai", "builtin")
    ),
    SlashCommand("model", "NAME", "The model of the backend.", _model, words=_model_words),
    SlashCommand("search-backend", "NAME", "Where searches go.", _search_backend, words=_engine_words),
    SlashCommand("thinking", "on|off", "Let the model think aloud, for this session.", _thinking, words=_fixed("on", "off")),
    SlashCommand("corpus", "DIR", "Search this folder; /corpus clear forgets all.", _corpus),
    SlashCommand("seed-doc", "PATH", "Read this document in any case; /seed-doc clear forgets all.", _seed_doc),
    SlashCommand("seed-url", "URL", "Fetch this page in any case; /seed-url clear forgets all.", _seed_url),
    SlashCommand("pipeline-evidence", "DIR", "Write from this evidence bundle, without research; clear forgets it.", _evidence),
    SlashCommand("steer", "TEXT", "Tell the research what to do differently.", _steer),
    SlashCommand("drop-source", "N", "Drop a source and all that rests on it.", _drop_source, words=_source_words),
    SlashCommand("plan", "", "The plan and its tasks.", _tab("plan")),
    SlashCommand("sources", "", "The sources and their state.", _tab("sources")),
    SlashCommand("claims", "", "The claim ledger.", _tab("claims")),
    SlashCommand("report", "[RUN]", "The report with its evidence.", _report, ("read_report",), _run_words),
    SlashCommand("files", "[RUN]", "The files of the run's folder.", _files, ("run_files",), _run_words),
    SlashCommand("finish", "", "Write an honest partial report from what there is.", _finish, ("finish",)),
    SlashCommand("verify", "[RUN]", "Check the report against its sources again.", _verify, ("verify_run",), _run_words),
    SlashCommand("export", "FORMAT|FILE", "Write the report in another format; several at once.", _export, ("export",), _export_words),
    SlashCommand("runs", "", "All runs.", _runs, ("list_runs",)),
    SlashCommand("resume-run", "[RUN]", "Take a run up again.", _resume_run, ("resume",), _run_words),
    SlashCommand("sessions", "", "All sessions.", _sessions, ("list_sessions",)),
    SlashCommand("resume", "[ID]", "Open a session again.", _resume, ("list_sessions",), _session_words),
    SlashCommand("search", "[TERMS]", "Search earlier prompts.", past_commands.search, ("stream_history",)),
    SlashCommand("deep", "[N] [TERMS]", "Search the likeliest N conversations too.", past_commands.deep, ("stream_history",)),
    SlashCommand("exhaustive", "[TERMS]", "Search everything that is kept.", past_commands.exhaustive, ("stream_history",)),
    SlashCommand("open", "REF", "Open a record that a search found.", past_commands.open_ref, ("open_ref",)),
    SlashCommand("config", "[KEY [VALUE]]", "The settings; with a value, change one.", _config, ("set_setting",), _config_words),
    SlashCommand("theme", "NAME", "The colours.", _theme, words=_theme_words),
    SlashCommand("vault-research", "TOPIC", "Search, assess and write one page into the vault.", vault.research, ("vaults",)),
    SlashCommand("vault-add", "[RUN]", "Let a finished report into the vault.", vault.add, ("vaults",), _run_words),
    SlashCommand("vault-check", "", "What vault research needs, and how to mend it.", vault.check, ("vaults",)),
    SlashCommand("vault-lint", "", "Broken links and what else is wrong in the vault.", vault.lint, ("vaults",)),
    SlashCommand("doctor", "", "What works, what does not, and how to mend it.", _doctor, ("doctor",)),
)
