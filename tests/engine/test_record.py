"""A recorded run can be run again offline, byte for byte; what was not recorded ends the replay."""

import asyncio
import json
import tarfile

import pytest

from deepdelve.config import Settings
from deepdelve.core.errors import BackendError, StateError, UsageError
from deepdelve.engine import conduct, replay, store
from deepdelve.engine.backends.record import RECORD, check_same
from tests.engine.durable.support import go_on
from tests.support.scripted import text
from tests.support.whole_run import RIVERS, RecordingSurface, good_builder, good_rules, run_scripted, write_corpus


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


async def replayed(run_id):
    ctx, original = replay.open_replay(run_id, RecordingSurface())
    result = await asyncio.wait_for(conduct.conduct(ctx), 60)
    await ctx.services.close()
    return result, original, ctx.run.dir


async def test_a_replay_is_offline_and_the_same_to_the_byte(rivers):
    run = await run_scripted(good_rules(), rivers, record=True)
    for path in rivers.iterdir():
        path.unlink()
    result, original, again = await replayed(run.run.run_id)
    assert result.outcome == "verified"
    assert check_same(original, again) == []
    assert result.usage["calls"] == run.result.usage["calls"]


async def test_failures_are_replayed_too(rivers):
    calls = 0

    def flaky(messages, options):
        nonlocal calls
        calls += 1
        if calls == 1:
            raise BackendError("The server answered with status 500.", cause="server_error", retry_after=0)
        return good_builder(messages, options)

    run = await run_scripted(good_rules(Builder=flaky), rivers, record=True)
    _, original, again = await replayed(run.run.run_id)
    assert check_same(original, again) == []


async def test_a_call_that_was_not_recorded_ends_the_replay_with_its_name(rivers):
    run = await run_scripted(good_rules(), rivers, record=True)
    record = run.run.dir / RECORD
    rows = record.read_text().splitlines(keepends=True)
    record.write_text("".join(row for row in rows if '"kind": "fetch"' not in row))
    result, *_ = await replayed(run.run.run_id)
    assert result.outcome in {"failed", "partial"}
    assert "not recorded" in result.reason or "another course" in result.reason


async def test_a_run_without_a_record_cannot_be_replayed(rivers):
    run = await run_scripted(good_rules(), rivers)
    runs = store.run_ids()
    with pytest.raises(UsageError, match="not recorded") as error:
        replay.open_replay(run.run.run_id, RecordingSurface())
    assert error.value.exit_code == 2
    assert store.run_ids() == runs


@pytest.mark.parametrize(
    "damage",
    [
        lambda facts: facts.pop("settings"),
        lambda facts: facts.pop("nonce"),
        lambda facts: facts.update(settings={"api": {"not_a_key": 1}}),
        lambda facts: facts.update(settings=[]),
        lambda facts: facts.update(seeds=None),
        lambda facts: facts.update(style="haiku"),
    ],
)
async def test_a_damaged_record_is_one_line_and_starts_nothing(rivers, damage):
    run = await run_scripted(good_rules(), rivers, record=True)
    record = run.run.dir / RECORD
    head, *rows = record.read_text().splitlines(keepends=True)
    facts = json.loads(head)
    damage(facts)
    record.write_text(json.dumps(facts) + "\n" + "".join(rows))
    runs = store.run_ids()
    with pytest.raises(StateError, match="damaged, or of another version"):
        replay.open_replay(run.run.run_id, RecordingSurface())
    assert store.run_ids() == runs


async def test_rows_of_the_record_that_are_none_are_passed_over(rivers):
    run = await run_scripted(good_rules(), rivers, record=True)
    record = run.run.dir / RECORD
    head, *rows = record.read_text().splitlines(keepends=True)
    record.write_text("".join([head, '{"kind": 3, "key": "x"}\n', "[]\n", "{}\n", *rows]))
    result, original, again = await replayed(run.run.run_id)
    assert result.outcome == "verified"
    assert check_same(original, again) == []


async def test_a_bundle_holds_the_run_without_its_secrets(rivers, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789abcdef")
    run = await run_scripted(
        good_rules(PeerReviewer=lambda m, o: text('{"ok": true, "issues": []} sk-very-secret-0123456789abcdef')), rivers, record=True
    )
    packed = replay.bundle(run.run.run_id, Settings(), tmp_path / "bundle.tar.gz")
    with tarfile.open(packed) as archive:
        names = archive.getnames()
        body = b"".join(archive.extractfile(name).read() for name in names if name.endswith("journal.jsonl"))
    assert any(name.endswith("final_report.md") for name in names)
    assert b"very-secret" not in body
    assert json.loads(body.splitlines()[0])["type"] == "run_started"
    assert store.find_run(run.run.run_id).is_dir()


async def test_a_run_that_was_resumed_was_not_recorded_to_its_end_and_is_not_replayed(rivers):
    whole = await run_scripted(good_rules(Builder=lambda m, o: text("I will write it.")), rivers, record=True)
    assert whole.result.outcome == "partial"
    await go_on(whole.run.run_id)
    runs = store.run_ids()
    with pytest.raises(UsageError, match="resumed"):
        replay.open_replay(whole.run.run_id, RecordingSurface())
    assert store.run_ids() == runs
