"""How each provider of the OpenAI protocol is told not to think, and where its key is found.

The protocol has no common word for it. Each entry is a list of request fields to try in turn: a server that refuses the
first gets the next, and at last none.
"""

import importlib
import os
import stat
from collections.abc import Mapping
from typing import Any

from deepdelve.config import Settings, home
from deepdelve.core.errors import ConfigError
from deepdelve.engine.backends.address import host_of, is_local
from deepdelve.utils.secrets import usable

Fields = Mapping[str, Any]
KEY_FILE = "openai_api_key"
_TEMPLATE: Fields = {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}
_EFFORT: Fields = {"reasoning_effort": "none"}
_TYPE: Fields = {"thinking": {"type": "disabled"}}
_ENABLE: Fields = {"enable_thinking": False}
# Servers of one's own: vLLM, SGLang and llama.cpp read the template's words, Ollama reads the effort.
_OWN: tuple[Fields, ...] = ({**_TEMPLATE, **_EFFORT}, _TEMPLATE)
_HOSTED: dict[str, tuple[Fields, ...]] = {
    "openrouter.ai": ({"reasoning": {"enabled": False}}, {"reasoning": {"effort": "low", "exclude": True}}),
    "deepseek.com": (_TYPE,),
    "z.ai": (_TYPE,),
    "bigmodel.cn": (_TYPE,),
    "moonshot.ai": (_TYPE,),
    "moonshot.cn": (_TYPE,),
    "aliyuncs.com": (_ENABLE,),
    "siliconflow.cn": (_ENABLE,),
    "siliconflow.com": (_ENABLE,),
    "googleapis.com": (_EFFORT, {"reasoning_effort": "low"}),
    "groq.com": (_EFFORT, {"reasoning_effort": "low"}),
    "together.xyz": ({"reasoning": {"enabled": False}}, _TEMPLATE),
    "fireworks.ai": (_EFFORT,),
    "ollama.com": (_EFFORT,),
    "x.ai": (),
    "mistral.ai": (),
    "anthropic.com": (),
}
# Only these read the new name of the output limit; servers of one's own know the old one.
_NEW_LIMIT = ("openai.com", "azure.com")
_KEYS = {
    "openai.com": "OPENAI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
    "deepseek.com": "DEEPSEEK_API_KEY",
    "groq.com": "GROQ_API_KEY",
    "mistral.ai": "MISTRAL_API_KEY",
    "together.xyz": "TOGETHER_API_KEY",
    "fireworks.ai": "FIREWORKS_API_KEY",
    "googleapis.com": "GEMINI_API_KEY",
    "x.ai": "XAI_API_KEY",
    "moonshot.ai": "MOONSHOT_API_KEY",
    "aliyuncs.com": "DASHSCOPE_API_KEY",
    "z.ai": "ZAI_API_KEY",
    "ollama.com": "OLLAMA_API_KEY",
}


def thinking_off(url: str, model: str) -> tuple[Fields, ...]:
    """Request fields that switch thinking off, in the order in which to try them; empty where there is no switch."""
    if _belongs(url, "openai.com") or _belongs(url, "azure.com"):
        return ({"reasoning_effort": "none"}, {"reasoning_effort": "low"}) if reasons(model) else ()
    for domain, fields in _HOSTED.items():
        if _belongs(url, domain):
            return fields
    return _OWN


def reasons(model: str) -> bool:
    """Whether a model of OpenAI is one that reasons: it takes an effort and no temperature."""
    name = model.rsplit("/", 1)[-1].lower()
    return name.startswith("gpt-5") or (name[:1] == "o" and name[1:2].isdigit())


def takes_new_limit(url: str) -> bool:
    """Whether the output limit is called ``max_completion_tokens`` there, and not ``max_tokens``."""
    return any(_belongs(url, domain) for domain in _NEW_LIMIT)


def find_key(settings: Settings, url: str) -> str:
    """The key for a server: from the settings or environment, the keyring, or a file that only its owner can read.

    The settings' key and the file go to the host of ``api.openai_base_url`` only, and a provider's own variable to that
    provider only, so that no server ever gets another one's key. Blocks: the keyring may ask the desktop.

    Raises:
        ConfigError: the key file can be read by others, or the key is none.
    """
    main = host_of(url) == host_of(settings.api.openai_base_url)
    given = settings.api.openai_api_key.get_secret_value().strip() if main else ""
    variable = next((name for domain, name in _KEYS.items() if _belongs(url, domain)), "")
    found = given or (os.environ.get(variable, "").strip() if variable else "")
    found = found or ("" if is_local(url) else _from_keyring(host_of(url)))
    return usable(found or (_from_file() if main else ""), host_of(url))


def key_help(url: str) -> str:
    """What to do where a key is missing, in a sentence."""
    variable = next((name for domain, name in _KEYS.items() if _belongs(url, domain)), "DEEPDELVE_API__OPENAI_API_KEY")
    return f"Set {variable}, or write the key to {home() / KEY_FILE} with mode 600."


def _belongs(url: str, domain: str) -> bool:
    host = host_of(url)
    return host == domain or host.endswith("." + domain)


def _from_keyring(host: str) -> str:
    try:
        keyring: Any = importlib.import_module("keyring")
        return str(keyring.get_password("deepdelve", host) or "")
    except ImportError:
        return ""
    except Exception:
        # Keyring backends raise whatever their desktop raises; without one there is simply no key in it.
        return ""


def _from_file() -> str:
    file = home() / KEY_FILE
    try:
        mode = file.stat().st_mode
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise ConfigError(f"{file} can be read by others.", f"Run: chmod 600 {file}")
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
