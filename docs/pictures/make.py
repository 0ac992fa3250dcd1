"""Draws the pictures of the app from the running app: a real run of the built-in backend over the example corpus.

Run: ``python docs/pictures/make.py`` in a checkout where ``deepdelve`` can be imported.
"""

import asyncio
import os
import re
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parents[1] / "examples" / "corpus"
QUESTION = "What is HTTP Strict Transport Security, and what does preloading do?"
SIZE = (120, 36)


async def draw() -> None:
    """Asks, and takes a picture of each main screen."""
    from deepdelve.config import Settings
    from deepdelve.tui.app import DeepDelveApp
    from deepdelve.tui.screens.report import ReportScreen
    from deepdelve.tui.screens.runs import RunsScreen

    settings = Settings()
    settings.api.backend = "builtin"
    settings.search.corpus = [str(CORPUS)]
    app = DeepDelveApp(settings, prompt=QUESTION)
    async with app.run_test(size=SIZE) as pilot:

        async def until(condition: object) -> None:
            for _ in range(1_200):
                await pilot.pause(0.05)
                if condition():  # type: ignore[operator]
                    return
            raise SystemExit("the app did not get there")

        await until(lambda: isinstance(app.screen, ReportScreen))
        await pilot.press("n", "n")
        await pilot.pause(0.5)
        save(app.export_screenshot(title="The report beside its evidence"), "report")
        await pilot.press("escape", "f3")
        app.research.prompt.cursor_blink = False
        await pilot.pause(0.5)
        save(app.export_screenshot(title="A run, from question to report"), "research")
        app.send("/runs")
        await until(lambda: isinstance(app.screen, RunsScreen))
        await pilot.pause(0.5)
        save(app.export_screenshot(title="All runs"), "runs")


def save(svg: str, name: str) -> None:
    """Writes a picture, without the random id that each export carries."""
    (HERE / f"{name}.svg").write_text(re.sub(r"terminal-\d+", "terminal", svg), encoding="utf-8")


def main() -> None:
    """Draws in a home of its own."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["DEEPDELVE_HOME"] = home
        os.environ["TEXTUAL_ANIMATIONS"] = "none"
        asyncio.run(draw())


if __name__ == "__main__":
    main()
