"""Keys: found in the environment, the system's keyring or a private file; masked wherever text leaves; kept from child processes."""

import importlib
import importlib.util
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, SecretStr

from deepdelve.config import Group, Settings, home, nearest
from deepdelve.core.errors import ConfigError
from deepdelve.utils.files import write_text_atomic

SERVICE = "deepdelve"
MASK = "********"
# Names under which these keys are commonly set, beside DEEPDELVE_<GROUP>__<KEY>.
COMMON_NAMES = {
    "api.openai_api_key": "OPENAI_API_KEY",
    "search.brave_api_key": "BRAVE_API_KEY",
    "search.tavily_api_key": "TAVILY_API_KEY",
    "search.semantic_scholar_api_key": "SEMANTIC_SCHOLAR_API_KEY",
}
_SHORTEST = 6
_LONG = 12
_SECRET_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PASSPHRASE)(?:_|$)", re.I)
# What looks like a key even where it is not known as one: bearer tokens, vendor prefixes, parameters, passwords in addresses.
_SHAPES = (
    re.compile(r"(?i)(\bbearer\s{1,4})[A-Za-z0-9._~+/=-]{8,2000}"),
    re.compile(r"(\b(?:sk|pk|tvly|ghp|gho|xoxb|xoxp|hf|BSA)[-_])[A-Za-z0-9_-]{12,400}"),
    re.compile(r"(?i)(\b(?:api[_-]?key|access[_-]?token|token|secret|password)[\"']?\s{0,3}[=:]\s{0,3}[\"']?)[^\s\"'&,;}]{6,400}"),
    re.compile(r"(://[^\s/:@\"']{0,200}:)[^\s/@\"']{1,400}(?=@)"),
)
# Parameters of an address that are commonly keys; only where the address is a setting, since pages have such parameters too.
_KEY_PARAMETER = re.compile(r"(?i)([?&](?:[a-z0-9_-]{0,40}[_-])?(?:key|auth|sig|signature)=)[^\s&#\"'\\]{1,400}")


def secret_keys(model: type[BaseModel] = Settings, prefix: str = "") -> tuple[str, ...]:
    """The dotted keys of all settings that are secret."""
    keys: list[str] = []
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            keys += secret_keys(kind, f"{prefix}{name}.")
        elif kind is SecretStr:
            keys.append(prefix + name)
    return tuple(keys)


def fill(settings: Settings, env: Mapping[str, str] | None = None) -> Settings:
    """The settings with each secret that they leave empty looked up: environment, keyring, private file, in this order.

    Raises:
        ConfigError: the private file is open to others, is no JSON object of strings, or holds a name that is no secret setting;
            or a key is none.
    """
    filled = settings.model_copy(deep=True)
    for key in secret_keys():
        group, name = _group(filled, key)
        if not _value(getattr(group, name)) and (found := find(key, env)):
            setattr(group, name, SecretStr(usable(found, key)))
    return filled


def usable(key: str, what: str) -> str:
    """The key, if it can be sent: a header takes one line of printable ASCII.

    Raises:
        ConfigError: it cannot; the line does not show it.
    """
    if key.isascii() and key.isprintable():
        return key
    raise ConfigError(f"The key for {what} holds characters that no key has.", "Copy it again: one line of letters, digits and signs.")


def find(key: str, env: Mapping[str, str] | None = None) -> str:
    """One secret by its dotted key, or an empty string.

    Raises:
        ConfigError: as ``fill``.
    """
    variables = os.environ if env is None else env
    for name in (own_variable(key), COMMON_NAMES.get(key, "")):
        if name and (value := variables.get(name, "").strip()):
            return value
    return _from_keyring(key) or _read_file().get(key, "")


def own_variable(key: str) -> str:
    """The environment variable of a secret by its dotted key."""
    return "DEEPDELVE_" + key.upper().replace(".", "__")


def store(key: str, value: str) -> Path:
    """Keep a secret in the private file, which only its owner may read; an empty value removes it. Returns the file.

    Raises:
        ConfigError: the key is none of the secret settings.
        DiskError: the file cannot be written.
    """
    if key not in secret_keys():
        raise ConfigError(f"{key} is not a secret setting.", f"Secret settings: {', '.join(secret_keys())}.")
    kept = {name: old for name, old in _read_file().items() if name != key} | ({key: value} if value else {})
    path = secrets_path()
    write_text_atomic(path, json.dumps(kept, indent=2) + "\n", mode=0o600)
    return path


def secrets_path() -> Path:
    """The private file."""
    return home() / "secrets.json"


def shown(settings: Settings) -> dict[str, Any]:
    """The settings as they may be printed: each secret that is set reads ``********``, passwords and keys in addresses too."""
    plain = settings.model_dump(mode="json")
    for key in secret_keys():
        group, name = key.rsplit(".", 1)
        target = cast(dict[str, Any], plain[group])
        target[name] = MASK if target[name] else ""
    masked = Mask(())
    return cast(dict[str, Any], json.loads(_KEY_PARAMETER.sub(rf"\1{MASK}", masked(json.dumps(plain)))))


class Mask:
    """Takes secrets out of text that goes to logs, events, bundles, exports and screens.

    Args:
        values: secrets that are known; those under six characters would mask ordinary words and are left alone.
    """

    def __init__(self, values: Iterable[str]) -> None:
        kept = {value for value in values if len(value) >= _SHORTEST}
        self._known = _any_of(kept)
        # In JSON a value may stand with its quotation marks and backslashes escaped.
        long = {value for value in kept if len(value) >= _LONG}
        self._long = _any_of(long | {json.dumps(value, ensure_ascii=False)[1:-1] for value in long})

    @property
    def empty(self) -> bool:
        """Whether ``known`` changes nothing."""
        return self._long is None

    def known(self, text: str) -> str:
        """The text with every known secret replaced and nothing else, for text that must otherwise stay as it is.

        Known values under twelve characters are left alone here: a made-up key such as ``lm-studio`` is a word that sources use.
        """
        return self._long.sub(MASK, text) if self._long else text

    def __call__(self, text: str) -> str:
        """The text with every known secret, and what has the shape of one, replaced."""
        if self._known:
            text = self._known.sub(MASK, text)
        for shape in _SHAPES:
            text = shape.sub(rf"\1{MASK}", text)
        return text


def mask_for(settings: Settings, env: Mapping[str, str] | None = None) -> Mask:
    """A mask that knows the secrets of the settings and of the environment."""
    variables = os.environ if env is None else env
    named = [value for name, value in variables.items() if _SECRET_NAME.search(name)]
    held = [_value(getattr(*_group(settings, key))) for key in secret_keys()]
    return Mask([*named, *held])


def child_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a child process: without variables that hold secrets."""
    variables = os.environ if env is None else env
    return {name: value for name, value in variables.items() if not _SECRET_NAME.search(name)}


def _any_of(values: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(values, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _group(settings: Settings, key: str) -> tuple[Any, str]:
    *groups, name = key.split(".")
    target: Any = settings
    for group in groups:
        target = getattr(target, group)
    return target, name


def _value(secret: SecretStr) -> str:
    return secret.get_secret_value()


def _from_keyring(key: str) -> str:
    """A secret of the system's keyring, where the package ``keyring`` is installed; one that is locked counts as empty."""
    if importlib.util.find_spec("keyring") is None:
        return ""
    try:
        keyring: Any = importlib.import_module("keyring")
        return str(keyring.get_password(SERVICE, key) or "")
    except Exception:  # The edge to whatever backend the person's desktop brings.
        return ""


def _read_file() -> dict[str, str]:
    """The private file by dotted keys."""
    path = secrets_path()
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise OSError("not a regular file")
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path} cannot be read.", "Check its permissions, or remove it.") from error
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise ConfigError(f"{path} is open to others.", f"Run: chmod 600 {path}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON.", "Correct it, or remove it.") from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in cast(dict[str, object], found).values()):
        raise ConfigError(f"{path} must hold one object of texts.", "Correct it, or remove it.")
    return {_key_named(name, path): value.strip() for name, value in cast(dict[str, str], found).items()}


def _key_named(name: str, path: Path) -> str:
    """The dotted key that a name in the private file means: itself, or the name of its variable."""
    keys = secret_keys()
    named = {own_variable(key): key for key in keys} | {common: key for key, common in COMMON_NAMES.items()} | {key: key for key in keys}
    if name in named:
        return named[name]
    close = nearest(name, list(named))
    hint = f"Did you mean {close}?" if close else f"Names: {', '.join(keys)}."
    raise ConfigError(f"{path}: there is no secret setting named {name[:60]!r}.", hint)
