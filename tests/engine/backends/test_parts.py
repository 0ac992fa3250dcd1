"""The small parts of a watched call: repetition, interleaved calls, counts, causes, addresses, switches and keys."""

import json
import random
import sys
from types import SimpleNamespace

import pytest
from agent_framework import Content, Message

from deepdelve.config import home
from deepdelve.core.errors import BackendError, ConfigError
from deepdelve.engine.backends import switches
from deepdelve.engine.backends.address import host_of, is_local, server_url
from deepdelve.engine.backends.base import StrikesError, reply_limit
from deepdelve.engine.backends.failures import Server, by_status, failure, quoted, retry_after
from deepdelve.engine.backends.stream import CallParts, RepeatGuard
from deepdelve.engine.backends.switches import find_key, key_help, reasons, takes_new_limit, thinking_off
from deepdelve.engine.backends.usage import TokenMeter, sent_chars, usage_of
from tests.engine.backends.kit import settings_for
from tests.support.patience import in_proportion

OLLAMA = Server("ollama", "http://127.0.0.1:11434", "m")
OPENAI = Server("openai", "http://127.0.0.1:8080/v1", "m")


class TestRepeatGuard:
    @pytest.mark.parametrize("passage", ["x", "the same again, ", "\n", "A whole sentence that comes round once more. " * 8])
    @pytest.mark.parametrize("piece", [1, 7, 500])
    def test_the_same_passage_for_ever_is_noticed_soon(self, passage, piece):
        guard, text = RepeatGuard(), passage * (8_000 // len(passage))
        noticed = [at for at in range(0, len(text), piece) if guard.feed(text[at : at + piece])]
        assert noticed
        assert noticed[0] < 5_000

    def test_long_honest_text_passes(self):
        words = random.Random(7)
        text = " ".join(words.choice(("stone", "harbour", "ship", "old", "grey", "of", "the", "and")) for _ in range(20_000))
        table = "".join(f"| row {n} | {n * n} | --- |\n" for n in range(2_000))
        for honest in (text, table, json.dumps(list(range(9_000)))):
            guard = RepeatGuard()
            assert not any(guard.feed(honest[at : at + 9]) for at in range(0, len(honest), 9))

    def test_it_costs_linear_time(self):
        def feed(numbers):
            guard = RepeatGuard()
            for n in numbers:
                guard.feed(f"{n} ")

        in_proportion(feed, range(20_000))


class TestCallParts:
    def test_interleaved_pieces_are_put_together(self):
        parts = CallParts()
        for call_id, name in (("a", "one"), ("b", "two")):
            parts.add(Content.from_function_call(call_id, name, arguments="", merge_mode="append"))
        for call_id, piece in (("a", '{"x"'), ("b", '{"y"'), ("a", ": 1}"), ("b", ": 2}")):
            parts.add(Content.from_function_call(call_id, "", arguments=piece, merge_mode="append"))
        assert parts.whole() == [("a", "one", '{"x": 1}'), ("b", "two", '{"y": 2}')]

    def test_a_piece_without_an_id_belongs_to_the_call_before_it(self):
        parts = CallParts()
        parts.add(Content.from_function_call("a", "one", arguments='{"x"', merge_mode="append"))
        parts.add(Content.from_function_call("", "", arguments=": 1}", merge_mode="append"))
        assert parts.whole() == [("a", "one", '{"x": 1}')]

    def test_calls_without_any_id_stay_apart(self):
        parts = CallParts()
        for value in (1, 2):
            parts.add(Content.from_function_call("", "one", arguments={"x": value}))
        assert parts.whole() == [("", "one", {"x": 1}), ("", "one", {"x": 2})]


class TestUsage:
    def test_what_a_call_sends_is_counted_whole(self):
        messages = [
            Message("user", ["12345"]),
            Message("assistant", [Content.from_function_call("c", "tool", arguments='{"a": 1}')]),
            Message("tool", [Content.from_function_result("c", result="1234567")]),
        ]
        assert sent_chars(messages, {"instructions": "123"}, 100) == 5 + 4 + 8 + 7 + 3 + 100

    def test_the_server_s_counts_are_taken_and_estimated_where_it_gives_none(self):
        meter = TokenMeter()
        counted = usage_of({"input_token_count": 10, "output_token_count": 3}, meter, model="m", sent=400, said=40, seconds=1.5)
        assert (counted.tokens_in, counted.tokens_out, counted.estimated, counted.sent_chars) == (10, 3, False, 400)
        assert counted.model == "m"
        guessed = usage_of(None, meter, model="m", sent=400, said=40, seconds=1.5)
        assert (guessed.tokens_in, guessed.tokens_out, guessed.estimated) == (100, 10, True)

    @pytest.mark.parametrize(
        ("sent", "evaluated", "window", "alarm"),
        [
            (40_000, 10_000, None, False),
            (40_000, 8_000, None, False),
            (40_000, 4_096, None, True),
            (40_000, 8_150, 8_192, True),
            (30_000, 7_000, 8_192, False),
            (1_000, 10, None, False),
            (40_000, 0, None, False),
            (40_000, None, None, False),
        ],
    )
    def test_a_server_that_read_clearly_less_is_noticed(self, sent, evaluated, window, alarm):
        assert TokenMeter().judge(sent, evaluated, window) is alarm

    @pytest.mark.parametrize("real", [1.6, 3.0, 4.0, 5.2])
    def test_characters_per_token_are_learned_from_the_server(self, real):
        meter = TokenMeter()
        for chars in (8_000, 12_000, 16_000):
            assert not meter.judge(chars, round(chars / real))
        assert meter.chars_per_token == pytest.approx(real, rel=0.01)
        assert meter.judge(60_000, round(60_000 / real * 0.7)), "once learned, smaller cuts are seen"

    def test_a_cut_is_not_learned_from(self):
        meter = TokenMeter()
        meter.judge(40_000, 2_048)
        assert (meter.chars_per_token, meter.samples) == (4.0, 0)


class TestFailures:
    @pytest.mark.parametrize(
        ("status", "text", "cause"),
        [
            (400, "x does not support tools", "no_tools"),
            (400, '"auto" tool choice requires --enable-auto-tool-choice', "no_tools"),
            (400, "This model's maximum context length is 4096 tokens", "bad_request"),
            (400, "whatever", "bad_request"),
            (401, "", "unauthorized"),
            (402, "", "unauthorized"),
            (403, "", "unauthorized"),
            (404, '{"error": "model \'x\' not found"}', "model_missing"),
            (404, "404 page not found", "not_a_model_server"),
            (405, "", "not_a_model_server"),
            (408, "", "timeout"),
            (429, "slow down", "rate_limited"),
            (429, '{"error": {"code": "insufficient_quota"}}', "unauthorized"),
            (302, "", "not_a_model_server"),
            (500, "boom", "server_error"),
            (500, "token repeat limit reached", "repeat"),
            (503, "overloaded", "server_error"),
            (504, "", "timeout"),
            (-1, "an error in a stream", "server_error"),
        ],
    )
    @pytest.mark.parametrize("server", [OLLAMA, OPENAI], ids=["ollama", "openai"])
    def test_every_status_has_a_cause_and_a_remedy(self, server, status, text, cause):
        error = by_status(status, text, {}, server)
        assert error.cause == cause
        assert error.message.endswith(".")
        assert error.remedy
        assert "\n" not in error.line()

    def test_what_a_server_says_is_quoted_on_one_line_without_control_characters(self):
        assert quoted('{"error": {"message": "It\\nis \\u001b[31m bad."}}') == "It is [31m bad"
        assert quoted('{"error": "plain"}') == "plain"
        assert quoted("") == "no reason given"
        assert len(quoted("x" * 5_000)) == 201

    def test_the_innermost_cause_is_found(self):
        inner = BackendError("Known.", cause="repeat")
        outer = RuntimeError("wrapped")
        outer.__cause__ = inner
        assert failure(outer, OLLAMA, partial="so far") is inner
        assert inner.partial == "so far"

    def test_an_error_that_causes_itself_ends(self):
        error = RuntimeError("loop")
        error.__cause__ = error
        assert failure(error, OLLAMA).cause == "server_error"

    @pytest.mark.parametrize(
        ("value", "seconds"), [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("999999", 86_400.0), ("", None), ("soon", None)]
    )
    def test_the_asked_for_wait_is_read(self, value, seconds):
        assert retry_after({"retry-after": value}) == seconds

    def test_the_asked_for_wait_may_be_a_date(self):
        assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0

    def test_three_strikes_are_final_where_a_malformed_reply_is_not(self):
        assert BackendError("x", cause="malformed").transient
        assert not StrikesError("the reason").transient
        assert "the reason" in StrikesError("the reason").message


class TestAddresses:
    @pytest.mark.parametrize(
        ("written", "url"),
        [
            ("127.0.0.1:11434", "http://127.0.0.1:11434"),
            ("http://x.test/v1/", "http://x.test/v1"),
            ("0.0.0.0:11434", "http://127.0.0.1:11434"),
            ("https://x.test", "https://x.test"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ],
    )
    def test_addresses_are_read_as_people_write_them(self, written, url):
        assert server_url(written, key="k") == url

    @pytest.mark.parametrize("written", ["", "ftp://x", "http://", "http://x:notaport", "file:///etc/passwd", "http://a b"])
    def test_what_is_no_address_is_refused(self, written):
        with pytest.raises(ConfigError, match="k is not an address"):
            server_url(written, key="k")

    @pytest.mark.parametrize(
        ("url", "local"),
        [
            ("http://localhost:1", True),
            ("http://127.0.0.1", True),
            ("http://192.168.1.5", True),
            ("http://[::1]:8080", True),
            ("http://gpu-box:8000", True),
            ("http://box.local", True),
            ("https://api.openai.com/v1", False),
            ("http://8.8.8.8", False),
        ],
    )
    def test_servers_of_one_s_own_are_told_from_hosted_ones(self, url, local):
        assert is_local(url) is local
        assert host_of(url) == host_of(url).lower()


class TestSwitches:
    @pytest.mark.parametrize(
        ("url", "model", "first"),
        [
            ("http://127.0.0.1:8080/v1", "qwen3", "chat_template_kwargs"),
            ("https://openrouter.ai/api/v1", "x", "reasoning"),
            ("https://api.deepseek.com", "x", "thinking"),
            ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "x", "enable_thinking"),
            ("https://generativelanguage.googleapis.com/v1beta/openai", "x", "reasoning_effort"),
            ("https://api.openai.com/v1", "gpt-5-mini", "reasoning_effort"),
            ("https://api.openai.com/v1", "gpt-4o", None),
            ("https://api.mistral.ai/v1", "x", None),
        ],
    )
    def test_each_provider_is_told_in_its_own_words(self, url, model, first):
        fields = thinking_off(url, model)
        assert (first in fields[0]) if first else fields == ()

    def test_a_host_that_only_looks_like_a_provider_is_not_taken_for_it(self):
        assert thinking_off("https://notdeepseek.com/v1", "x") == thinking_off("http://127.0.0.1/v1", "x")
        assert thinking_off("https://deepseek.com.evil.test/v1", "x") == thinking_off("http://127.0.0.1/v1", "x")

    def test_models_that_reason_are_known_by_name(self):
        assert [reasons(name) for name in ("o3-mini", "gpt-5.1", "openai/o1", "gpt-4o", "olmo-2", "")] == [
            True,
            True,
            True,
            False,
            False,
            False,
        ]

    def test_only_openai_reads_the_new_limit(self):
        assert takes_new_limit("https://api.openai.com/v1")
        assert not takes_new_limit("http://127.0.0.1:8080/v1")

    def test_a_reply_limit_follows_the_context(self):
        assert (reply_limit(16_384), reply_limit(2_048)) == (65_536, 20_000)


class TestKeys:
    URL = "https://openrouter.ai/api/v1"

    @pytest.fixture(autouse=True)
    def no_keyring(self, monkeypatch):
        monkeypatch.setattr(switches, "_from_keyring", lambda host: "")

    def test_the_settings_come_first_then_the_provider_s_variable_then_the_file(self, monkeypatch):
        settings = settings_for(openai_base_url=self.URL)
        assert find_key(settings, self.URL) == ""
        home().mkdir(parents=True)
        file = home() / switches.KEY_FILE
        file.write_text("from-file\n")
        file.chmod(0o600)
        assert find_key(settings, self.URL) == "from-file"
        monkeypatch.setenv("OPENROUTER_API_KEY", "from-variable")
        assert find_key(settings, self.URL) == "from-variable"
        settings.api.openai_api_key = "from-settings"
        assert find_key(settings, self.URL) == "from-settings"

    def test_a_file_that_others_can_read_is_refused(self):
        home().mkdir(parents=True)
        file = home() / switches.KEY_FILE
        file.write_text("x")
        file.chmod(0o644)
        with pytest.raises(ConfigError, match="can be read by others") as caught:
            find_key(settings_for(openai_base_url=self.URL), self.URL)
        assert "chmod 600" in caught.value.remedy

    def test_no_server_gets_another_one_s_key(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "openai-key")
        settings = settings_for(openai_base_url=self.URL, openai_api_key="main-key")
        assert find_key(settings, "https://other.test/v1") == ""
        assert find_key(settings, "https://api.openai.com/v1") == "openai-key"
        assert find_key(settings_for(openai_base_url="http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080/v1") == ""

    def test_help_names_the_provider_s_variable(self):
        assert "OPENROUTER_API_KEY" in key_help(self.URL)
        assert "DEEPDELVE_API__OPENAI_API_KEY" in key_help("https://other.test")


class TestKeyring:
    URL = "https://models.example.org/v1"

    def write(self, key):
        home().mkdir(parents=True)
        (home() / switches.KEY_FILE).write_text(f"{key}\n")
        (home() / switches.KEY_FILE).chmod(0o600)

    def test_the_keyring_comes_before_the_file_and_is_asked_for_the_host(self, monkeypatch):
        asked = []

        def get_password(service, user):
            asked.append((service, user))
            return "from-keyring" if user == "models.example.org" else None

        monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=get_password))
        self.write("from-file")
        settings = settings_for(openai_base_url=self.URL)
        assert find_key(settings, self.URL) == "from-keyring"
        assert find_key(settings, "https://other.example.org/v1") == ""
        assert asked == [("deepdelve", "models.example.org"), ("deepdelve", "other.example.org")]

    def test_a_server_of_one_s_own_needs_no_desktop_to_be_asked(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace())
        settings = settings_for(openai_base_url="http://127.0.0.1:8080/v1")
        assert find_key(settings, "http://127.0.0.1:8080/v1") == ""

    @pytest.mark.parametrize("error", [RuntimeError("no backend"), OSError("no desktop"), KeyError("x")])
    def test_a_keyring_that_fails_holds_no_key(self, monkeypatch, error):
        def get_password(service, user):
            raise error

        monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=get_password))
        self.write("from-file")
        settings = settings_for(openai_base_url=self.URL)
        assert find_key(settings, self.URL) == "from-file"
