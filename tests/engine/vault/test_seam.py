"""The seam: what comes in once, what wins over what, and what a kill leaves."""

import json
import os
import threading
from pathlib import Path

import pytest
import yaml
from obsidian_parse import parse as read_independently

from deepdelve.core.errors import DiskError, RunBusyError, StateError, UsageError
from deepdelve.engine.vault import frontmatter, index, lint, pages, transaction
from deepdelve.engine.vault.layout import Vault, vault_of
from deepdelve.engine.vault.seam import body_sha256
from tests.engine.bounded.kit import FACT, SECOND, ScriptedModel, bench
from tests.engine.vault.kit import BODY, Shelf


class Kill(BaseException):
    """Ends a change as a kill does: nothing that follows runs, not even what mends errors."""


def test_a_note_becomes_one_page_with_all_its_fields(shelf: Shelf) -> None:
    result = shelf.ingest()
    page = frontmatter.parse(shelf.file(result.path).read_text())
    assert (result.status, result.path) == ("completed", "wiki/synthesis/Tides of the bay.md")
    assert set(pages.REQUIRED) <= set(page.fields)
    assert page.fields["sources"] == ["raw/sources/deep-research-1.md"]
    assert page.fields["verification"] == {"grounding": "verified", "sources_cited": 1, "run_id": "1"}
    assert "4.2 metres" in page.body
    assert "[[wiki/synthesis/Tides of the bay|Tides of the bay]]" in shelf.file("wiki/index.md").read_text()
    assert "deep-research | Tides of the bay" in shelf.file("wiki/log.md").read_text()
    assert json.loads(shelf.file(".obsidian/app.json").read_text())
    assert shelf.version == 1


def test_the_hash_gate_by_time_by_content_and_by_body(shelf: Shelf) -> None:
    first = shelf.ingest()
    path = shelf.raw()
    assert shelf.seam().ingest_file(path).reason == "unchanged"
    os.utime(path, ns=(1, 1))
    assert shelf.seam().ingest_file(path).reason == "unchanged"
    path.write_text(path.read_text().replace("status: converged", "status: other") + "\n  \n")
    again = shelf.seam().ingest_file(path)
    assert (again.status, again.page_id) == ("skipped", first.page_id)
    assert shelf.version == 1


async def test_b22_the_same_synthesis_of_two_runs_is_one_page_and_one_version() -> None:
    with bench() as made:
        one, two = await made.run(), await made.run()
        shelf = Shelf(made)
        assert one.synthesis_page_id == two.synthesis_page_id is not None
        row = made.ledger.get(two.run_id)
        assert (row.ingest_status or "").startswith("skipped: the same text as")
        assert len(made.pages()) == 1
        assert shelf.version == 1


TOPICS = [
    'He said "tides: 4.2 m"',
    "Tides: yes\n- no",
    "tides 🌊 of the bäy — ½",
    "t" * 300,
    "../../../etc/passwd",
    'a/b\\c:d*e?f"g<h>i|j#k^l[m]n',
    "...hidden",
    "CON",
    "--- a \n---",
    "{{x}} <% tp %> [[link]] `=1`",
    "'single' & !tag *alias %comment",
]


@pytest.mark.parametrize("topic", TOPICS)
async def test_b23_any_topic_makes_valid_yaml_and_a_safe_file_name(topic: str) -> None:
    with bench(model=ScriptedModel(queries="bay tides\nbay levels")) as made:
        result = await made.run(topic)
        page = made.pages()[0]
        assert result.status == "converged"
        assert page.parent == made.vault.wiki / "synthesis"
        assert len(page.name.encode()) <= 123
        assert not set('[]#^|\\/:*?"<>') & set(page.stem)
        assert not page.name.startswith(".")
        fields = yaml.safe_load(page.read_text().split("---\n")[1])
        assert fields["title"][:100] == " ".join(topic.split())[:100]
        raw = frontmatter.parse((made.vault.root / fields["sources"][0]).read_text())
        assert raw.fields["topic"] == " ".join(topic.split())
        report = lint.lint(made.vault)
        assert not {problem.kind for problem in report.problems} & {"frontmatter", "invalid", "broken", "unindexed page"}


def test_b24_a_page_that_a_person_edited_is_left_alone(shelf: Shelf) -> None:
    first = shelf.ingest()
    page = shelf.file(first.path)
    page.write_text(page.read_text() + "\nMy own words.\n")
    again = shelf.ingest(body=BODY.replace("4.2", "4.3"))
    assert (again.status, again.page_id) == ("skipped", first.page_id)
    assert again.reason.startswith("conflict")
    assert page.read_text().endswith("My own words.\n")
    proposal = shelf.vault.proposals / "synthesis" / "Tides of the bay.md"
    assert "4.3" in proposal.read_text()
    assert shelf.version == 1


def test_b24_an_edit_during_the_ingest_wins_too(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shelf.ingest()
    page = shelf.file(first.path)
    files = index.index_files

    def edit(entries: list[index.Entry]) -> dict[str, str]:
        page.write_text(page.read_text() + "\nTyped just now.\n")
        return files(entries)

    monkeypatch.setattr(index, "index_files", edit)
    again = shelf.ingest(body=BODY.replace("4.2", "4.3"))
    assert again.reason.startswith("conflict")
    assert page.read_text().endswith("Typed just now.\n")


STEPS = ["journaled", "renamed wiki/synthesis/Tides of the bay.md", "renamed wiki/index.md", "renamed wiki/log.md", "committed"]


@pytest.mark.parametrize("at", STEPS)
def test_b25_a_kill_at_any_step_after_the_journal_is_finished_later(shelf: Shelf, at: str) -> None:
    def step(name: str) -> None:
        if name == at:
            raise Kill

    with pytest.raises(Kill):
        shelf.seam(step).ingest_file(shelf.raw())
    assert shelf.seam().recover()
    assert shelf.version == 1
    page = shelf.rows()[0]
    assert shelf.file(page.path).is_file()
    assert not list(shelf.vault.root.rglob("*.tmp"))
    assert shelf.seam().ingest_file(shelf.raw()).reason == "unchanged"
    assert not lint.lint(shelf.vault).problems
    assert shelf.version == 1


def test_b25_a_kill_before_the_journal_changes_nothing(shelf: Shelf) -> None:
    def step(name: str) -> None:
        raise Kill

    with pytest.raises(Kill):
        shelf.seam(step).ingest_file(shelf.raw())
    assert (shelf.version, shelf.rows(), list(shelf.vault.wiki.rglob("*.md"))) == (0, [], [])
    assert shelf.ingest().status == "completed"


def test_b25_what_cannot_be_finished_is_undone(shelf: Shelf) -> None:
    def step(name: str) -> None:
        if name == "journaled":
            raise Kill

    with pytest.raises(Kill):
        shelf.seam(step).ingest_file(shelf.raw())
    next(shelf.vault.wiki.rglob(".Tides*.tmp")).unlink()
    assert "undone" in shelf.seam().recover()
    assert shelf.version == 0
    assert shelf.ingest().status == "completed"


def test_b25_a_fault_on_the_way_puts_everything_back(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.ingest()
    before = {path: path.read_bytes() for path in shelf.vault.wiki.rglob("*.md")}
    seam = shelf.seam()

    def refuse(payload: object) -> None:
        raise StateError("The ledger's database refused.")

    monkeypatch.setattr(seam, "_commit", refuse)
    with pytest.raises(StateError):
        seam.ingest_file(shelf.raw("deep-research-2", "Harbours", BODY.replace("4.2", "4.4")))
    assert {path: path.read_bytes() for path in shelf.vault.wiki.rglob("*.md")} == before
    assert not (shelf.vault.own / transaction.JOURNAL).exists()
    assert shelf.version == 1


def test_b25_a_broken_journal_is_set_aside(shelf: Shelf) -> None:
    shelf.ingest()
    (shelf.vault.own / transaction.JOURNAL).write_text("{broken")
    assert "set aside" in shelf.seam().recover()
    assert shelf.seam().recover() == ""


def test_b27_a_deleted_page_is_no_cache_hit(shelf: Shelf) -> None:
    first = shelf.ingest()
    shelf.file(first.path).unlink()
    again = shelf.ingest()
    assert (again.status, again.page_id, again.path) == ("completed", first.page_id, first.path)
    assert shelf.version == 2


def test_b27_a_deleted_page_leaves_the_index(shelf: Shelf) -> None:
    first = shelf.ingest()
    shelf.file(first.path).unlink()
    shelf.ingest("deep-research-2", "Harbours", BODY.replace("4.2", "4.4"))
    assert "Tides of the bay|" not in shelf.file("wiki/index.md").read_text()
    assert not [problem for problem in lint.lint(shelf.vault).problems if problem.kind == "broken"]
    assert [page.deleted_at is None for page in shelf.rows()] == [True, False]


async def test_b32_a_vault_of_three_runs_opens_clean() -> None:
    model = ScriptedModel(
        synthesize=[f"# A\n\n{FACT} [1] {SECOND} [2]\n", f"# B\n\n{SECOND} [2] {FACT} [1]\n", f"# C\n\n- {FACT} [1]\n- {SECOND} [2]\n"]
    )
    with bench(model=model) as made:
        for topic in ("Tides of the northern bay", "tides of the NORTHERN bay", "The harbour: levels & “records”"):
            assert (await made.run(topic)).synthesis_page_id
        files = sorted(made.vault.root.rglob("*.md"))
        for file in files:
            read = frontmatter.parse(file.read_text())
            assert not read.error
        assert len({page.stem.casefold() for page in made.pages()}) == 3
        report = lint.lint(made.vault)
        assert report.problems == ()
        assert report.links >= 6
        _read_by_another(made.vault, files)


def _read_by_another(vault: Vault, files: list[Path]) -> None:
    """An independent parser sees the same fields and the same links, and each link of the index leads to a file."""
    results = {Path(str(found.path)).name: found for found in _parsed(vault)}
    for file in files:
        found = results[file.name]
        own = frontmatter.parse(file.read_text())
        assert dict(found.frontmatter or {}).get("title") == own.fields.get("title")
    linked = set(results["index.md"].wikilink_targets)
    assert linked
    assert all((vault.root / f"{target}.md").is_file() for target in linked), linked


def _parsed(vault: Vault) -> list:
    return list(read_independently([str(vault.root)]))


def test_two_ingests_at_once_are_two_pages_and_two_versions(shelf: Shelf) -> None:
    paths = [shelf.raw(f"deep-research-{n}", f"Topic {n}", BODY.replace("4.2", f"4.{n}")) for n in range(4)]
    results: list[str] = []
    threads = [threading.Thread(target=lambda path=path: results.append(shelf.seam().ingest_file(path).status)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == ["completed"] * 4
    assert shelf.version == 4
    assert len(shelf.rows()) == 4


def test_a_vault_that_another_holds_is_not_waited_for_without_end(shelf: Shelf) -> None:
    with transaction.locked(shelf.vault), pytest.raises(RunBusyError), transaction.locked(shelf.vault, 0.05):
        pass


def test_a_full_or_read_only_disk_is_one_line_and_leaves_nothing_half_written(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.ingest()
    before = {path: path.read_bytes() for path in shelf.vault.root.rglob("*.md")}
    path = shelf.raw("deep-research-2", "Harbours", BODY.replace("4.2", "4.4"))
    fsync = os.fsync
    left = [3]

    def full(fd: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        fsync(fd)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskError, match="no room"):
        shelf.seam().ingest_file(path)
    monkeypatch.undo()
    after = {found: found.read_bytes() for found in shelf.vault.root.rglob("*.md") if found != path}
    assert after == before
    assert shelf.version == 1
    assert not list(shelf.vault.root.rglob("*.tmp"))


def test_files_outside_the_vault_or_too_large_are_refused(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("x")
    with pytest.raises(UsageError, match="not in the vault"):
        shelf.seam().ingest_file(outside)
    with pytest.raises(UsageError, match="no file"):
        shelf.seam().ingest_file(shelf.vault.root / "raw" / "sources" / "none.md")
    big = shelf.raw()
    big.write_text("x" * (9 * 1024 * 1024))
    with pytest.raises(UsageError, match="larger"):
        shelf.seam().ingest_file(big)
    with pytest.raises(UsageError):
        vault_of(shelf.bench.settings, "../x")


def test_a_page_without_text_or_with_broken_links_is_mended_or_refused(shelf: Shelf) -> None:
    with pytest.raises(StateError, match="no text"):
        pages.drafted(frontmatter.Document({"title": "x"}, " \n "), "raw/sources/x.md")
    mended = pages.drafted(frontmatter.Document({"title": "x"}, "See [[a:b]] and [[Good]]."), "raw/sources/x.md")
    assert mended.body == "See a:b and [[Good]]."
    assert shelf.ingest(body=BODY + "\nSee [[Bad|link and ![[x]] <script>alert(1)</script>\n").status == "completed"


def test_what_would_run_or_load_when_the_page_opens_is_made_harmless(shelf: Shelf) -> None:
    body = (
        BODY
        + "\n```dataviewjs\napp.x()\n```\n\n`$= dv.x()` `= this.x` <% tp.x() %> ![p](https://track.example/p.png) ![[e]] <iframe src=x>\n"
    )
    text = shelf.file(shelf.ingest(body=body).path).read_text()
    for live in ("```dataviewjs", "`$=", "`= ", "<%", "![", "<iframe"):
        assert live not in text
    assert "app.x()" in text


def test_the_body_hash_ignores_frontmatter_and_trailing_space() -> None:
    assert body_sha256("---\na: 1\n---\n\nText  \nmore\n\n") == body_sha256("Text\r\nmore")
    assert body_sha256("Text") != body_sha256("text")


def test_a_large_index_is_split_by_type() -> None:
    entries = [index.Entry(f"wiki/synthesis/P{n}.md", f"P{n}", "synthesis", "", f"2026-01-01T{n:06}") for n in range(501)]
    files = index.index_files(entries)
    assert set(files) == {"wiki/index.md", "wiki/index-synthesis.md"}
    assert files["wiki/index.md"].count("\n- [[") == index.RECENT + 1
    assert files["wiki/index-synthesis.md"].count("\n- [[") == 501
