"""The one settings model and its defaults. ``utils/settings_file.py`` reads it from file, environment and flags.

``config_template.yaml`` documents every key; a test holds that template and model name the same ones.
"""

import difflib
import os
import unicodedata
from pathlib import Path
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

TEMPLATE_NAME = "config_template.yaml"
_NUMBERS: tuple[object, ...] = (int, float, int | None, float | None)


class Group(BaseModel):
    """Base of all groups: unknown keys are errors, values are checked on assignment."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _takes_it(cls, value: object, info: ValidationInfo) -> object:
        """Refuse what would pass for another thing: true for the number 1, and text that no terminal or server can take."""
        kind: object = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and kind in _NUMBERS:
            raise ValueError("expected a number")
        if kind is SecretStr and isinstance(value, str) and not value.isascii():
            raise ValueError("expected a key of letters, digits and signs of ASCII")
        texts = cast("list[object]", value) if isinstance(value, list) else [value]
        if any(unicodedata.category(char) in ("Cc", "Cs") for text in texts if isinstance(text, str) for char in text):
            raise ValueError("expected text on one line, without control characters")
        return cast("object", value)


class ApiSettings(Group):
    """Which model answers, and where."""

    backend: Literal["auto", "ollama", "openai", "builtin"] = "auto"
    ollama_host: str = "http://127.0.0.1:11434"
    ollama_model: str = ""
    openai_base_url: str = ""
    openai_model: str = ""
    openai_api_key: SecretStr = SecretStr("")
    specialist_model: str = ""
    specialist_base_url: str = ""
    thinking: bool = False
    keep_alive: str = "30m"
    temperature: float = Field(default=0.2, ge=0, le=2)
    preflight: bool = True


class SearchSettings(Group):
    """Where searches go."""

    backend: str = "auto"
    scope: Literal["auto", "web", "corpus", "both"] = "auto"
    corpus: list[str] = Field(default_factory=list[str])
    searxng_url: str = ""
    max_results: int = Field(default=10, ge=1, le=50)
    brave_api_key: SecretStr = SecretStr("")
    tavily_api_key: SecretStr = SecretStr("")
    semantic_scholar_api_key: SecretStr = SecretStr("")
    contact_email: str = ""
    blocked_domains: list[str] = Field(default_factory=list[str])


class FetchSettings(Group):
    """How pages are fetched."""

    allow_loopback: bool = False
    max_bytes: int = Field(default=5_242_880, ge=1024)
    max_pdf_bytes: int = Field(default=31_457_280, ge=1024)
    total_seconds: float = Field(default=25.0, gt=0)
    per_host: int = Field(default=2, ge=1)
    respect_robots: bool = False
    browser: bool = False
    cache: bool = True
    reuse_earlier_runs: bool = True


class Preset(Group):
    """What one depth may spend."""

    attempts: int = Field(ge=1)
    planner_rounds: int = Field(ge=1)
    search: int = Field(ge=1)
    fetch: int = Field(ge=1)
    minutes: float = Field(gt=0)


class Presets(Group):
    """The three depths."""

    quick: Preset = Preset(attempts=4, planner_rounds=1, search=8, fetch=12, minutes=10)
    standard: Preset = Preset(attempts=8, planner_rounds=2, search=20, fetch=30, minutes=45)
    deep: Preset = Preset(attempts=12, planner_rounds=4, search=60, fetch=90, minutes=120)


class CompletionSettings(Group):
    """Thresholds of the completion check."""

    thin_coverage: float = Field(default=0.5, ge=0, le=1)
    uneven_share: float = Field(default=0.333, ge=0, le=1)
    underuse_share: float = Field(default=0.5, ge=0, le=1)
    duplicate_overlap: float = Field(default=0.6, ge=0, le=1)
    uncited_limit: int = Field(default=3, ge=1)
    facet_dispatches: int = Field(default=4, ge=1)
    answer_words: int = Field(default=250, ge=50)


class RunSettings(Group):
    """How a run goes."""

    depth: Literal["quick", "standard", "deep"] = "standard"
    report_style: Literal["standard", "academic", "answer"] = "standard"
    context_budget_chars: int = Field(default=24_000, ge=2_000)
    num_ctx: int = Field(default=16_384, ge=2_048)
    max_run_minutes: float | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1_000)
    dispatch_minutes: float = Field(default=8.0, gt=0)
    concurrency: int = Field(default=3, ge=1, le=32)
    idle_seconds: float = Field(default=120.0, gt=0)
    completion_check_escalation_threshold: int = Field(default=3, ge=1)
    intake: bool = True
    human_in_the_loop: bool = False
    approvals: dict[str, Literal["allow", "ask", "deny"]] = Field(default_factory=dict[str, Literal["allow", "ask", "deny"]])
    ablation: dict[str, bool] = Field(default_factory=dict[str, bool])
    judge: Literal["lexical", "model"] = "lexical"
    database_url: str = ""
    presets: Presets = Presets()
    completion: CompletionSettings = CompletionSettings()


class VaultSettings(Group):
    """Bounded vault research: where the vault is, and what one run may spend."""

    dir: str = ""
    max_iter: int = Field(default=3, ge=1, le=10)
    token_budget: int = Field(default=100_000, ge=1_000, le=1_000_000)
    max_queries: int = Field(default=5, ge=2, le=10)
    fetch_max_chars: int = Field(default=20_000, ge=1_000, le=200_000)
    deadline_seconds: float = Field(default=900.0, gt=0)


class ServeSettings(Group):
    """The HTTP API."""

    host: str = "127.0.0.1"
    port: int = Field(default=8420, ge=0, le=65_535)
    password: SecretStr = SecretStr("")
    allowed_hosts: list[str] = Field(default_factory=list[str])
    max_runs: int = Field(default=4, ge=1, le=100)
    folders: list[str] = Field(default_factory=list[str])


class UiSettings(Group):
    """How the app looks."""

    theme: str = "textual-dark"
    notify: bool = True
    notify_with: Literal["auto", "bell", "osc9", "osc777"] = "auto"
    keys: dict[str, str] = Field(default_factory=dict[str, str])


class Price(Group):
    """Cost of a model per million tokens, in the currency of your choice."""

    input: float = Field(default=0.0, ge=0)
    output: float = Field(default=0.0, ge=0)


class Settings(Group):
    """All settings."""

    api: ApiSettings = ApiSettings()
    search: SearchSettings = SearchSettings()
    fetch: FetchSettings = FetchSettings()
    settings: RunSettings = RunSettings()
    ui: UiSettings = UiSettings()
    vault: VaultSettings = VaultSettings()
    serve: ServeSettings = ServeSettings()
    prices: dict[str, Price] = Field(default_factory=dict[str, Price])


def home() -> Path:
    """The folder of everything that the product keeps (``DEEPDELVE_HOME``, else ``~/.deepdelve``)."""
    moved = os.environ.get("DEEPDELVE_HOME", "")
    return Path(moved).expanduser() if moved else Path.home() / ".deepdelve"


def config_path() -> Path:
    """The user's settings file."""
    return home() / "config.yaml"


def template_path() -> Path:
    """The documented defaults, in the installed package or in a checkout."""
    packaged = Path(__file__).with_name(TEMPLATE_NAME)
    return packaged if packaged.is_file() else Path(__file__).resolve().parent.parent / TEMPLATE_NAME


def known_keys(model: type[BaseModel] = Settings, prefix: str = "") -> list[str]:
    """Every dotted key of the settings model, groups left out."""
    keys: list[str] = []
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            keys += known_keys(kind, f"{prefix}{name}.")
        else:
            keys.append(prefix + name)
    return keys


def nearest(word: str, known: list[str]) -> str:
    """The known word that looks most like the given one, or an empty string."""
    leaf = {key.rsplit(".", 1)[-1]: key for key in reversed(known)}
    last = word.rsplit(".", 1)[-1]
    if word not in known and last in leaf:
        return leaf[last]
    found = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if found:
        return found[0]
    found = difflib.get_close_matches(last, list(leaf), n=1, cutoff=0.6)
    return leaf[found[0]] if found else ""
