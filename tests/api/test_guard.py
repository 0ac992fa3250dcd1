"""Who may speak to the API."""

import base64
import json
import socket
from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdelve.api.description import openapi_text
from deepdelve.api.guard import check_binding, is_loopback
from deepdelve.api.server import serve
from deepdelve.config import home
from deepdelve.core.errors import ConfigError, StateError
from tests.api.kit import BASE, api, api_settings

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.1", "[::", "localhost.evil.example:8420"])
async def test_a_foreign_host_is_refused(host: str) -> None:
    async with api() as made:
        assert (await made.client.get("/health", headers={"Host": host})).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8420", "localhost:1", "[::1]:8420", "LOCALHOST", "research.example"])
async def test_our_own_names_pass(host: str) -> None:
    async with api(api_settings(allowed_hosts=["research.example"])) as made:
        assert (await made.client.get("/health", headers={"Host": host})).json()["status"] == "ok"


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://localhost:1"}]
)
async def test_a_foreign_page_is_refused(headers: dict[str, str]) -> None:
    async with api() as made:
        answer = await made.client.post("/research/start", json={"vault_id": "default", "topic": "tides"}, headers=headers)
        assert answer.status_code == 403
        assert made.bench.ledger.runs()[1] == 0


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}, {}])
async def test_no_route_answers_a_foreign_page_a_foreign_name_or_nobody_known(headers: dict[str, str]) -> None:
    async with api(api_settings(password=SecretStr("pass"))) as made:
        paths = (await made.client.get("/openapi.json", headers={"Authorization": "Bearer pass"})).json()["paths"]
        known = {"Authorization": "Bearer pass"} if headers else {}
        tried = [
            await made.client.request(
                method, path.replace("{run_id}", "latest"), headers={**headers, **known}, json={"question": "Rivers?"}
            )
            for path, operations in paths.items()
            for method in operations
        ]
        assert len(tried) == 17
        assert {answer.status_code for answer in tried} <= {401, 403, 421}
        assert {answer.json()["code"] for answer in tried} <= {"unauthorized", "foreign_page", "wrong_host"}
        assert made.bench.ledger.runs()[1] == 0
        assert not (home() / "runs").exists()


async def test_a_page_of_our_own_passes() -> None:
    async with api() as made:
        assert (await made.client.get("/health", headers={"Origin": BASE})).status_code == 200


async def test_a_password_is_asked_for_on_every_route() -> None:
    basic = base64.b64encode("anyone:täglich-42".encode()).decode()
    async with api(api_settings(password=SecretStr("täglich-42"))) as made:
        for path in ("/health", "/settings", "/research/runs", "/openapi.json", "/nowhere"):
            answer = await made.client.get(path)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        for wrong in ("Bearer x", "Basic !!!", "Bearer", f"Digest {basic}", "Basic /w=="):
            assert (await made.client.get("/health", headers={"Authorization": wrong})).status_code == 401
        assert (await made.client.get("/health", headers={"Authorization": f"Basic {basic}"})).status_code == 200


async def test_a_bearer_token_is_the_password() -> None:
    async with api(api_settings(password=SecretStr("long-enough"))) as made:
        assert (await made.client.get("/health", headers={"Authorization": "Bearer long-enough"})).status_code == 200


async def test_settings_are_shown_masked() -> None:
    settings = api_settings()
    settings.search.tavily_api_key = SecretStr("tvly-0123456789abcdef")
    settings.settings.database_url = ""
    async with api(settings) as made:
        text = (await made.client.get("/settings")).text
        assert "tvly" not in text
        assert json.loads(text)["search"]["tavily_api_key"] == "********"


async def test_keys_and_passwords_in_addresses_are_masked() -> None:
    settings = api_settings()
    settings.settings.database_url = "postgresql://user:geheim@127.0.0.1/x"
    settings.search.searxng_url = "http://user:geheim@127.0.0.1:9"
    settings.api.openai_base_url = "http://127.0.0.1:9/v1?key=geheim&x=1"
    async with api(settings) as made:
        text = (await made.client.get("/settings")).text
        assert "geheim" not in text
        assert "key=********&x=1" in text


async def test_long_bodies_are_refused_before_they_are_read() -> None:
    async with api() as made:
        answer = await made.client.post("/research/start", content=b"x" * 70_000, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.5.5.5"])
def test_this_machines_own_addresses_need_no_password(host: str) -> None:
    assert is_loopback(host)
    check_binding(api_settings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "research.example"])
def test_any_other_address_needs_one(host: str) -> None:
    with pytest.raises(ConfigError, match="password"):
        serve(api_settings(host=host), say=print)
    check_binding(api_settings(host=host, password=SecretStr("x")))


def test_a_port_that_is_taken_is_one_line_before_anything_is_said() -> None:
    said: list[str] = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError, match="cannot listen") as caught:
            serve(api_settings(port=taken.getsockname()[1]), say=said.append)
    assert "Another program uses the port" in caught.value.line()
    assert said == []


def test_a_ledger_that_cannot_be_read_is_said_and_not_taken_for_the_port() -> None:
    said: list[str] = []
    home().mkdir(parents=True)
    (home() / "vault.db").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(StateError, match="database"):
        serve(api_settings(port=0), say=said.append)
    assert said == []


async def test_behind_an_open_address_only_named_hosts_pass_where_names_are_given() -> None:
    settings = api_settings(host="0.0.0.0", password=SecretStr("pass"), allowed_hosts=["research.example"])
    async with api(settings) as made:
        headers = {"Authorization": "Bearer pass"}
        assert (await made.client.get("/health", headers={**headers, "Host": "evil.example"})).status_code == 421
        assert (await made.client.get("/health", headers={**headers, "Host": "research.example"})).status_code == 200


def test_the_description_that_is_kept_is_that_of_the_code() -> None:
    assert (ROOT / "docs" / "openapi.json").read_text() == openapi_text(), "run: make openapi"


def test_without_the_packages_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "fastapi" else find(name, *more))
    with pytest.raises(ConfigError, match="not installed"):
        serve(api_settings(), say=print)
