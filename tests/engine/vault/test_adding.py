"""Any finished run may enter the vault, with what its sources carry and nothing else."""

from deepdelve.config import home
from deepdelve.core.requests import RunRequest
from deepdelve.engine import conduct, prepare, setup
from deepdelve.engine.vault import frontmatter, lint, verifying
from deepdelve.engine.vault.adding import add_run
from tests.engine.vault.kit import Shelf
from tests.support.whole_run import RecordingSurface

DOCUMENT = """# Tides of the northern bay

The difference between high and low water in the northern bay is 4.2 metres on average. The northern bay has two tides a day.

The harbour office of the northern bay has measured the water level every hour since 1931, and publishes the tides each spring.
"""


async def finished_run() -> str:
    folder = home().parent / "papers"
    folder.mkdir()
    (folder / "tides.md").write_text(DOCUMENT)
    from deepdelve.config import Settings

    settings = Settings()
    settings.api.backend = "builtin"
    asked = RunRequest(question="How high are the tides of the northern bay?", corpus=(str(folder),), depth="quick", auto_approve=True)
    prepared = await prepare.prepare(asked, settings)
    surface = RecordingSurface()
    run = setup.new_run(asked, prepared, surface)
    ctx = setup.context_for(run, prepared, surface, auto_approve=True)
    try:
        await conduct.conduct(ctx)
    finally:
        await ctx.services.close()
    return run.run_id


async def test_the_report_of_a_finished_run_enters_once(shelf: Shelf) -> None:
    run_id = await finished_run()
    result, gate = add_run(run_id, shelf.vault, shelf.database)
    assert (result.status, gate.ok) == ("completed", True)
    text = shelf.file(result.path).read_text()
    assert "4.2 metres" in text
    assert "[S1]" not in text
    assert frontmatter.parse(text).fields["verification"]["run_id"] == run_id
    assert add_run(run_id, shelf.vault, shelf.database)[0].status == "skipped"
    assert shelf.version == 1
    assert verifying.verify_page(shelf.vault, shelf.file(result.path)).ok
    assert not {problem.kind for problem in lint.lint(shelf.vault).problems} - {"uncited claim"}


async def test_what_no_source_carries_stays_out(shelf: Shelf) -> None:
    run_id = await finished_run()
    draft = home() / "runs" / run_id / "draft" / "final_report.md"
    draft.write_text(
        draft.read_text() + "\n\nThe northern bay is 900 kilometres long and was found in 1604. [S1]\n\nMore is known elsewhere. [S7]\n"
    )
    result, gate = add_run(run_id, shelf.vault, shelf.database)
    text = shelf.file(result.path).read_text()
    assert gate.dropped >= 2
    assert "900" not in text
    assert "elsewhere" not in text
