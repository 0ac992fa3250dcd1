"""``/runs``: questions over HTTP, from start to report; what may go on side by side, be stopped, taken up and asked."""

import asyncio
import json
from pathlib import Path

import pytest

from deepdelve.config import home
from deepdelve.engine import facade, store
from deepdelve.engine.lease import Lease
from tests.api.kit import Api, api, api_settings
from tests.support.llm_replies import Call, Reply
from tests.support.llm_server import LlmServer
from tests.support.model_rules import builder, findings_writer, steady_rules
from tests.support.model_runs import model_settings
from tests.support.searxng import FakeSearxng
from tests.support.web_site import WebSite
from tests.support.whole_run import RIVERS, RIVERS_QUESTION, write_corpus

RESEARCH = ("web_search", "fetch_url_to_workspace", "delegate_tasks")


@pytest.fixture
def rivers(tmp_path: Path) -> str:
    return str(write_corpus(tmp_path / "rivers", RIVERS))


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    folder = tmp_path / "bundle"
    folder.mkdir()
    rows = [
        {"source_url": f"https://{name.lower()}.example/", "title": name, "text": body.split("\n\n")[1], "facet": f"river {name}"}
        for name, body in RIVERS.items()
    ]
    (folder / "evidence.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return str(folder)


def settings_for(server: LlmServer, **more: object):
    chosen = model_settings(server, "openai")
    chosen.settings.idle_seconds = 120.0
    for name, value in more.items():
        setattr(chosen.serve, name, value)
    return chosen


def runs_kept() -> list[str]:
    return store.run_ids()


class TestFromQuestionToReport:
    async def test_a_question_becomes_a_report_with_claims_and_events(self, rivers: str) -> None:
        async with api() as made:
            run_id = await made.begin(corpus=[rivers], depth="quick")
            shown = await made.over(run_id)
            assert (shown["state"], shown["outcome"], shown["exit"], shown["problems"]) == ("ended", "verified", 0, [])
            assert shown["label"].startswith("Verified. ")
            assert shown["counts"]["sources"] >= shown["counts"]["citable_sources"] >= 1
            assert shown["claims"]["supported"] == sum(shown["claims"].values()) >= 1
            report = await made.client.get(f"/runs/{run_id}/report")
            assert report.headers["content-type"] == "text/markdown; charset=utf-8"
            assert report.text == facade.read_report(run_id)
            claims = (await made.client.get(f"/runs/{run_id}/claims")).json()
            carried = [claim for claim in claims if claim["status"] == "supported"]
            assert len(carried) == shown["claims"]["supported"]
            folder = home() / "runs" / run_id
            for claim in carried:
                passage = claim["passage"]
                assert (folder / passage["file"]).read_text()[passage["start"] : passage["end"]] == passage["quote"]

    async def test_events_come_in_order_from_the_first_to_the_last(self, rivers: str) -> None:
        async with api() as made:
            run_id = await made.begin(corpus=[rivers])
            events = await made.events(run_id)
            assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
            assert (events[0]["type"], events[-1]["type"]) == ("run_started", "run_ended")
            later = await made.events(run_id, **{"Last-Event-ID": str(len(events) - 2)})
            assert [event["seq"] for event in later] == [len(events) - 1, len(events)]
            assert len(await made.events(run_id, **{"Last-Event-ID": "x1"})) == len(events)

    async def test_runs_are_listed_newest_first_whoever_started_them(self, rivers: str) -> None:
        async with api() as made:
            ids = []
            for number in range(3):
                ids.append(await made.begin(f"How long is the river Alder, asked for the {number}. time?", corpus=[rivers], style="answer"))
                await made.over(ids[-1])
            pages = [(await made.client.get("/runs", params={"limit": 2, "offset": offset})).json() for offset in (0, 2)]
            rows = [row for page in pages for row in page["items"]]
            assert sorted(row["run_id"] for row in rows) == sorted(ids)
            assert {page["total"] for page in pages} == {3}
            assert {(row["state"], row["style"]) for row in rows} == {("ended", "answer")}
            assert (await made.client.get("/runs/latest")).json()["run_id"] == runs_kept()[0]

    async def test_a_prompt_is_entered_in_the_history_as_one_of_the_api(self, rivers: str) -> None:
        async with api() as made:
            await made.over(await made.begin(corpus=[rivers]))
        row = json.loads((home() / "history.jsonl").read_text().splitlines()[-1])
        assert (row["surface"], row["kind"]) == ("api", "research")


class TestEvidenceOnly:
    async def test_a_bundle_becomes_a_report_and_no_double_sees_a_request_whatever_the_model_asks_for(self, bundle: str) -> None:
        async with FakeSearxng() as searxng, WebSite() as site:
            calls = (
                Call("web_search", {"query": "rivers"}),
                Call("fetch_url_to_workspace", {"url": site.url("/", "localhost")}),
                Call("delegate_tasks", {"tasks": [{"task_name": "river Cedar", "instructions": "How long is it?"}]}),
            )

            def asking(rule):
                return lambda seen: Reply(calls=calls) if seen.turn == 0 else rule(seen)

            rules = steady_rules(FindingsWriter=asking(findings_writer), Builder=asking(builder))
            with LlmServer(rules) as server:
                chosen = settings_for(server)
                chosen.search.searxng_url, chosen.fetch.allow_loopback = searxng.url, True
                async with api(chosen) as made:
                    run_id = await made.begin(RIVERS_QUESTION, pipeline_evidence_dir=bundle)
                    events = await made.events(run_id)
                    shown = (await made.client.get(f"/runs/{run_id}")).json()
                roles = {seen.role for seen in server.chats()}
            assert (searxng.site.asked, site.asked) == ([], [])
        assert {event["tool"] for event in events if event["type"] == "tool_refused"} == set(RESEARCH)
        assert not [event for event in events if event["type"] in {"search_done", "task_changed"}]
        assert not [event for event in events if event["type"] == "tool_called" and event["tool"] in RESEARCH]
        assert (shown["outcome"], shown["evidence_only"], shown["counts"]["tasks"], shown["counts"]["searches"]) == ("verified", True, 0, 0)
        assert roles == {"FindingsWriter", "Builder", "PeerReviewer"}

    async def test_it_needs_no_model(self, bundle: str) -> None:
        async with api() as made:
            run_id = await made.begin(RIVERS_QUESTION, pipeline_evidence_dir=bundle)
            assert (await made.over(run_id))["outcome"] == "verified"
            assert "212 kilometres" in (await made.client.get(f"/runs/{run_id}/report")).text

    @pytest.mark.parametrize("more", [{"corpus": ["/"]}, {"seed_docs": ["/"]}, {"seed_urls": ["https://a.example/"]}])
    async def test_a_bundle_goes_with_no_other_source(self, bundle: str, more: dict[str, object]) -> None:
        async with api() as made:
            answer = await made.client.post("/runs", json={"question": "Rivers?", "pipeline_evidence_dir": bundle, **more})
            assert (answer.status_code, answer.json()["code"]) == (422, "unfit")
        assert runs_kept() == []

    async def test_a_folder_that_is_no_bundle_starts_nothing(self, tmp_path: Path) -> None:
        async with api() as made:
            answer = await made.client.post("/runs", json={"question": "Rivers?", "pipeline_evidence_dir": str(tmp_path)})
            assert (answer.status_code, answer.json()["code"]) == (422, "unfit")
            assert "evidence bundle" in answer.json()["detail"]
        assert runs_kept() == []


class TestWhatMayBeNamed:
    async def test_a_path_that_is_not_whole_is_refused(self) -> None:
        async with api() as made:
            for path in ("papers", "./papers", "../papers", ""):
                assert (await made.client.post("/runs", json={"question": "Rivers?", "corpus": [path]})).status_code == 422
            for path in ("~nobody-of-this-name/x", "/a\x00b"):
                answer = await made.client.post("/runs", json={"question": "Rivers?", "corpus": [path]})
                assert (answer.status_code, answer.json()["code"]) == (403, "path_refused")
        assert runs_kept() == []

    @pytest.mark.parametrize("field", ["corpus", "seed_docs", "pipeline_evidence_dir"])
    async def test_where_folders_are_named_nothing_outside_them_is_read_also_not_by_a_link(
        self, tmp_path: Path, rivers: str, field: str
    ) -> None:
        inside = tmp_path / "open"
        inside.mkdir()
        (inside / "link").symlink_to(rivers)
        async with api(api_settings(folders=[str(inside)])) as made:
            for path in (rivers, str(inside / "link"), f"{inside}/../rivers", "/", f"{inside}x"):
                body = {"question": "Rivers?", field: path if field == "pipeline_evidence_dir" else [path]}
                answer = await made.client.post("/runs", json=body)
                assert (answer.status_code, answer.json()["code"]) == (403, "path_refused")
                assert "rivers" not in answer.text
        assert runs_kept() == []

    async def test_what_lies_in_them_is_read(self, tmp_path: Path, rivers: str) -> None:
        async with api(api_settings(folders=[str(tmp_path)])) as made:
            assert (await made.over(await made.begin(corpus=[rivers])))["outcome"] == "verified"

    async def test_a_server_beyond_this_machine_reads_no_path_unless_folders_are_named(self, rivers: str) -> None:
        from pydantic import SecretStr

        async with api(api_settings(host="0.0.0.0", password=SecretStr("pass"))) as made:
            headers = {"Authorization": "Bearer pass"}
            answer = await made.client.post("/runs", json={"question": "Rivers?", "corpus": [rivers]}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "path_refused")

    @pytest.mark.parametrize(
        "body",
        [
            {"question": ""},
            {"question": "?"},
            {"question": None},
            {"question": "x" * 20_001},
            {"depth": "abyss"},
            {"style": "sonnet"},
            {"backend": "psychic"},
            {"scope": "moon"},
            {"search": "askjeeves"},
            {"scope": "corpus"},
            {"max_minutes": 0},
            {"max_minutes": "5"},
            {"max_minutes": True},
            {"seed_urls": ["file:///etc/passwd"]},
            {"seed_urls": ["just words"]},
            {"corpus": ["/there/is/no/such/folder"]},
            {"corpus": "/tmp"},
            {"base_url": "http://127.0.0.1:9"},
            {"evidence_dir": "/tmp"},
        ],
    )
    async def test_what_does_not_fit_is_422_and_starts_nothing(self, body: dict[str, object]) -> None:
        async with api() as made:
            answer = await made.client.post("/runs", json={"question": "How long is the river Alder?", **body})
            assert (answer.status_code, answer.json()["code"]) == (422, "unfit"), answer.text
        assert runs_kept() == []

    async def test_what_the_server_lacks_is_503(self) -> None:
        async with api() as made:
            with LlmServer() as server:
                away = server.openai_url
            made.live.settings.api.openai_base_url = away
            answer = await made.client.post("/runs", json={"question": "How long is the river Alder?", "backend": "openai"})
            assert (answer.status_code, answer.json()["code"]) == (503, "backend")
            made.live.settings.search.backend = "tavily"
            answer = await made.client.post("/runs", json={"question": "How long is the river Alder?"})
            assert (answer.status_code, answer.json()["code"]) == (503, "settings")
        assert runs_kept() == []


async def under_way(made: Api, server: LlmServer, rivers: str) -> str:
    """A run whose Planner waits for a reply that does not come."""
    server.fail("stall_first", role="Planner")
    run_id = await made.begin(RIVERS_QUESTION, corpus=[rivers])
    for _ in range(2_000):
        if server.chats("Planner"):
            return run_id
        await asyncio.sleep(0.01)
    raise AssertionError("the Planner was never asked")


class TestStopAndResume:
    async def test_a_run_is_stopped_and_taken_up_again_to_its_end(self, rivers: str) -> None:
        with LlmServer(steady_rules()) as server:
            async with api(settings_for(server)) as made:
                run_id = await under_way(made, server, rivers)
                assert (await made.client.get(f"/runs/{run_id}")).json()["state"] == "running"
                assert (await made.client.get("/runs")).json()["items"][0]["state"] == "running"
                answer = await made.client.post(f"/runs/{run_id}/stop")
                assert (answer.status_code, answer.json()) == (202, {"run_id": run_id, "status": "stopped"})
                shown = (await made.client.get(f"/runs/{run_id}")).json()
                assert (shown["state"], shown["outcome"], shown["exit"]) == ("ended", "stopped", 130)
                again = await made.client.post(f"/runs/{run_id}/stop")
                assert (again.status_code, again.json()["code"]) == (409, "state")
                body = {"backend": "builtin", "max_minutes": 5, "instruction": "Say where they rise."}
                assert (await made.client.post(f"/runs/{run_id}/resume", json=body)).status_code == 202
                events = await made.events(run_id)
                assert [event["text"] for event in events if event["type"] == "steered"] == ["Say where they rise."]
                assert (await made.over(run_id))["outcome"] == "verified"

    async def test_a_verified_run_is_not_taken_up(self, rivers: str) -> None:
        async with api() as made:
            run_id = await made.begin(corpus=[rivers])
            await made.over(run_id)
            answer = await made.client.post(f"/runs/{run_id}/resume")
            assert (answer.status_code, answer.json()["code"]) == (409, "state")

    async def test_what_goes_on_is_neither_taken_up_nor_asked(self, rivers: str) -> None:
        with LlmServer(steady_rules()) as server:
            async with api(settings_for(server)) as made:
                run_id = await under_way(made, server, rivers)
                for path, body in (("resume", {}), ("ask", {"question": "And the Cedar?"})):
                    answer = await made.client.post(f"/runs/{run_id}/{path}", json=body)
                    assert (answer.status_code, answer.json()["code"]) == (409, "busy")

    async def test_a_run_of_another_process_is_followed_and_left_alone(self, rivers: str) -> None:
        async with api() as made:
            run_id = await made.begin(corpus=[rivers])
            await made.over(run_id)
            lease = Lease(home() / "runs" / run_id)
            lease.take()
            following = asyncio.create_task(made.events(run_id))
            assert (await made.client.get(f"/runs/{run_id}")).json()["state"] == "running"
            assert (await made.client.post(f"/runs/{run_id}/stop")).json()["code"] == "state"
            answer = await made.client.post(f"/runs/{run_id}/ask", json={"question": "How long is the Alder?"})
            assert (answer.status_code, answer.json()["code"]) == (409, "busy")
            assert not following.done()
            lease.release()
            assert (await following)[-1]["type"] == "run_ended"

    async def test_no_more_runs_than_the_settings_allow(self, rivers: str) -> None:
        with LlmServer(steady_rules()) as server:
            async with api(settings_for(server, max_runs=1)) as made:
                first = await under_way(made, server, rivers)
                answer = await made.client.post("/runs", json={"question": "How long is the river Birch?", "corpus": [rivers]})
                assert (answer.status_code, answer.json()["code"]) == (429, "too_many")
                await made.client.post(f"/runs/{first}/stop")
                assert runs_kept() == [first]
                second = await made.begin("How long is the river Birch?", corpus=[rivers], backend="builtin")
                assert (await made.over(second))["outcome"] == "verified"

    async def test_a_server_that_ends_stops_its_runs_and_they_can_be_taken_up(self, rivers: str) -> None:
        with LlmServer(steady_rules()) as server:
            async with api(settings_for(server)) as made:
                run_id = await under_way(made, server, rivers)
                await made.live.close()
                assert not made.live.goes_on(run_id)
                assert facade.run_details(run_id).outcome == "stopped"

    async def test_approvals_are_denied_unless_the_request_grants_them(self, rivers: str) -> None:
        chosen = api_settings()
        chosen.settings.approvals = {"fetch_url_to_workspace": "ask"}
        async with api(chosen) as made:
            denied = await made.over(await made.begin(corpus=[rivers]))
            granted = await made.over(await made.begin(corpus=[rivers], auto_approve=True))
        assert denied["counts"]["sources"] == 0
        assert (denied["outcome"], granted["outcome"]) == ("no_evidence", "verified")


class TestAsking:
    async def test_a_question_is_answered_from_the_run_and_its_files_stay_as_they_are(self, rivers: str) -> None:
        async with api() as made:
            run_id = await made.begin(corpus=[rivers])
            await made.over(run_id)
            before = (await made.client.get(f"/runs/{run_id}/report")).text
            answer = (await made.client.post(f"/runs/{run_id}/ask", json={"question": "At what height is the source of the Alder?"})).json()
            assert "1,430 metres" in answer["answer"]
            assert answer["outcome"] == "verified"
            assert [citation["n"] for citation in answer["citations"]] == [1]
            assert (await made.client.get(f"/runs/{run_id}/report")).text == before
            assert (await made.client.get(f"/runs/{run_id}")).json()["state"] == "ended"
            assert (await made.events(run_id))[-1]["type"] != "run_started"

    async def test_a_run_without_a_report_is_not_asked(self, rivers: str) -> None:
        with LlmServer(steady_rules()) as server:
            async with api(settings_for(server)) as made:
                run_id = await under_way(made, server, rivers)
                await made.client.post(f"/runs/{run_id}/stop")
                answers = [
                    await made.client.post(f"/runs/{run_id}/ask", json={"question": "And the Cedar?"}),
                    await made.client.get(f"/runs/{run_id}/report"),
                    await made.client.get(f"/runs/{run_id}/claims"),
                ]
        assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(404, "no_report")}

    async def test_a_question_can_be_stopped(self, rivers: str) -> None:
        with LlmServer(steady_rules()) as server:
            server.fail("stall_first", role="Analyzer")
            async with api(settings_for(server)) as made:
                run_id = await made.begin(corpus=[rivers], backend="builtin")
                await made.over(run_id)
                asking = asyncio.create_task(made.client.post(f"/runs/{run_id}/ask", json={"question": "How long is the Alder?"}))
                while not server.chats("Analyzer"):
                    await asyncio.sleep(0.01)
                assert (await made.client.post(f"/runs/{run_id}/stop")).status_code == 202
                answer = await asking
                assert (answer.status_code, answer.json()["code"]) == (409, "stopped")
                assert (await made.client.get(f"/runs/{run_id}")).json()["outcome"] == "verified"


class TestWhatIsNotThere:
    @pytest.mark.parametrize("path", ["", "/report", "/claims", "/events"])
    async def test_a_run_that_is_not_there_is_404(self, path: str) -> None:
        async with api() as made:
            for name in ("20260101_000000_abcdef", "latest"):
                answer = await made.client.get(f"/runs/{name}{path}")
                assert (answer.status_code, answer.json()["code"]) == (404, "not_found")

    @pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..", ".hidden", "a/b", "a" * 101])
    async def test_no_name_leads_out_of_the_folder_of_runs(self, name: str) -> None:
        async with api() as made:
            for path in ("", "/report", "/claims", "/events"):
                assert (await made.client.get(f"/runs/{name}{path}")).status_code in {404, 422}

    async def test_a_run_that_cannot_be_read_is_listed_and_said(self) -> None:
        folder = home() / "runs" / "20260101_000000_abcdef"
        folder.mkdir(parents=True)
        (folder / "journal.jsonl").write_text("no journal\n")
        async with api() as made:
            row = (await made.client.get("/runs")).json()["items"][0]
            assert (row["state"], row["outcome"]) == ("unreadable", None)
            answer = await made.client.get("/runs/20260101_000000_abcdef")
            assert (answer.status_code, answer.json()["code"]) == (503, "storage")

    async def test_every_refusal_has_a_code(self) -> None:
        async with api() as made:
            for method, path, code in (
                ("GET", "/nowhere", "not_found"),
                ("DELETE", "/runs", "refused"),
                ("GET", "/research/runs/x", "unfit"),
            ):
                answer = await made.client.request(method, path)
                assert (answer.json()["code"], bool(answer.json()["detail"])) == (code, True)
