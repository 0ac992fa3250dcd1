"""What lint finds, and what verify finds, in vaults that a person has worked in."""

import pytest

from deepdelve.core.errors import UsageError
from deepdelve.engine.bounded.models import Link
from deepdelve.engine.vault import lint, store, verifying
from deepdelve.engine.vault.adding import add_run
from tests.engine.bounded.kit import FACT, ScriptedModel, bench
from tests.engine.vault.kit import BODY, Shelf


def write(shelf: Shelf, name: str, text: str) -> None:
    path = shelf.file(f"wiki/concepts/{name}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def kinds(shelf: Shelf, page: str = "") -> set[str]:
    return {problem.kind for problem in lint.lint(shelf.vault).problems if page in problem.page}


def test_an_untouched_vault_has_no_problem(shelf: Shelf) -> None:
    shelf.ingest()
    assert lint.lint(shelf.vault).problems == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[[Tides of the bey]]", "broken"),
        ("[[Tides of the bay#No such heading]]", "missing heading"),
        ("[[Tides of the bay#^none]]", "missing heading"),
        ("[[not closed", "invalid"),
        ("---\ntitle: [\n---\n", "frontmatter"),
        ("---\ntitle: x\n", "frontmatter"),
        ("---\ntitle: Tides of the bay\n---\n", "duplicate title"),
        ("---\nsources: [raw/sources/gone.md]\n---\n", "missing source file"),
        ("---\ntype: synthesis\n---\n\nThe bay is nine hundred kilometres long and very deep.\n", "uncited claim"),
        ("text", "unindexed page"),
        ("text", "orphan"),
    ],
)
def test_each_problem_is_found(shelf: Shelf, text: str, kind: str) -> None:
    shelf.ingest()
    write(shelf, "Mine", text)
    assert kind in kinds(shelf)


def test_a_link_that_nearly_fits_gets_a_suggestion(shelf: Shelf) -> None:
    shelf.ingest()
    write(shelf, "Mine", "[[Tides of the bey]] [[Something else altogether]]")
    broken = [problem for problem in lint.lint(shelf.vault).problems if problem.kind == "broken"]
    assert [problem.suggestion for problem in broken] == ["Tides of the bay", ""]


def test_two_pages_of_one_name_make_a_link_ambiguous(shelf: Shelf) -> None:
    shelf.ingest()
    for name in ("One", "Two"):
        write(shelf, name, f"---\ntitle: {name}\naliases: [Shared]\n---\n")
    write(shelf, "Mine", "[[shared]] [[Tides of the bay#Tides]] [[#x]]\n\n# x\n")
    assert "ambiguous" in kinds(shelf, "Mine")
    assert "broken" not in kinds(shelf, "Mine")


def test_links_within_the_database_follow_new_and_deleted_pages(shelf: Shelf) -> None:
    shelf.ingest(body=BODY + "\nSee [[Harbours]] and [[Nowhere]] for more. [1]\n")

    def links() -> dict[str, bool]:
        with shelf.database.transaction() as session:
            return {link.target: link.dangling for link in session.query(Link).all()}

    assert links() == {"Harbours": True, "Nowhere": True}
    result = shelf.ingest("deep-research-2", "Harbours", BODY.replace("4.2", "4.4"))
    assert links() == {"Harbours": False, "Nowhere": True}
    shelf.file(result.path).unlink()
    shelf.ingest("deep-research-3", "Moon", BODY.replace("4.2", "4.5"))
    assert links()["Harbours"] is True
    with shelf.database.transaction() as session:
        assert store.relink(session, shelf.vault.id, ["unknown"]) == 0


async def test_verify_holds_pages_against_the_kept_texts() -> None:
    with bench() as made:
        await made.run()
        page = made.pages()[0]
        good = verifying.verify_page(made.vault, page)
        assert (good.ok, good.counts.supported) == (True, 2)
        page.write_text(page.read_text().replace("4.2 metres", "7.9 metres"))
        assert [claim.status for claim in verifying.verify_page(made.vault, page).uncarried] == ["contradicted"]
        for kept in made.vault.asset("x").parent.glob("*.md"):
            kept.write_text(kept.read_text().replace("4.2", "7.9"))
        changed = next(iter(verifying.verify_pages(made.vault)))
        assert changed.missing == ("[1]",)
        assert not changed.ok


async def test_a_page_of_a_model_that_cites_one_source_lists_one() -> None:
    note = f"# Tides\n\n{FACT} [1] On average, {FACT[0].lower()}{FACT[1:]} [1]\n"
    with bench(model=ScriptedModel(synthesize=note)) as made:
        await made.run()
        assert made.pages()[0].read_text().count("kept text") == 1


def test_a_run_without_a_report_may_not_enter(shelf: Shelf) -> None:
    with pytest.raises(UsageError):
        add_run("20260101_000000_abcdef", shelf.vault, shelf.database)
