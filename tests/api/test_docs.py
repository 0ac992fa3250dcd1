"""``deepdelve serve``, by the walk in ``docs/api.md`` as it stands there."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_process import environment
from tests.cli.test_vault_command import ROOT, searxng
from tests.support.children import PRODUCT, child

__all__ = ["searxng"]


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def walked(name: str, count: int, *more: str) -> list[str]:
    """What each step of a walk prints, then what further commands do; a signal ends the server behind them. ``BASE`` is its address."""
    walk = (ROOT / "docs" / "api.md").read_text().partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0]
    steps = re.findall(r"```sh\n(.*?)```", walk, re.DOTALL)
    assert len(steps) == count
    Path.home().mkdir(exist_ok=True)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    comes_up = f"for i in $(seq 100); do curl -s {url}/health >/dev/null && break; sleep 0.1; done\n"
    script = comes_up + "\necho ==STEP==\n".join([*steps, *(step.replace("BASE", url) for step in more)]).replace(":8420", f":{port}")
    script = script.replace("deepdelve show", f"{sys.executable} -m deepdelve show")
    with child(PRODUCT, "serve", "--port", str(port)) as server:
        assert server.stderr is not None
        assert url in server.stderr.readline()
        env = {**environment(), "no_proxy": "*"}
        done = subprocess.run(["sh", "-euc", script], env=env, cwd=Path.home(), capture_output=True, text=True, timeout=90, check=True)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) in {0, 130}
    return done.stdout.split("==STEP==\n")


def test_the_walk_of_general_runs_ends_with_a_report_and_with_one_from_its_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPDELVE_API__BACKEND", "builtin")
    papers = Path.home() / "papers"
    papers.mkdir(parents=True)
    for name in ("hsts.md", "certificates.md"):
        (papers / name).write_bytes((ROOT / "examples" / "corpus" / name).read_bytes())
    _, events, shown, read, asked, again, listed = walked("runs walk", 7)
    run = json.loads(shown)
    assert "event: run_ended" in events
    assert (run["state"], run["outcome"]) == ("ended", "verified")
    assert read.startswith("> ")
    assert '"status":"supported"' in read
    assert json.loads(asked)["citations"]
    assert "Written from given evidence alone" in again
    ids = [row["run_id"] for row in json.loads(listed)["items"]]
    assert len(ids) == 2
    assert run["run_id"] in ids
    journal = (Path(os.environ["DEEPDELVE_HOME"]) / "runs" / max(set(ids) - {run["run_id"]}) / "journal.jsonl").read_text()
    assert not re.search(r'"type":"(search_done|task_changed)"', journal)


@pytest.mark.usefixtures("searxng")
def test_the_walk_of_bounded_runs_ends_with_a_page_and_a_signal_ends_the_server() -> None:
    foreign = "curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil.example' BASE/health"
    _, events, shown, listed, ingested, refused = walked("walk", 5, foreign)
    assert "event: done" in events
    run = json.loads(shown)
    home = Path(os.environ["DEEPDELVE_HOME"])
    assert run["status"] == "converged"
    assert (home / "vault" / run["page"]).is_file()
    assert [row["id"] for row in json.loads(listed)["items"]] == [run["id"]]
    assert json.loads(ingested)["status"] == "skipped"
    assert refused == "421"
