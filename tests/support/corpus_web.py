"""The documents of a folder as a web site on loopback, with a SearXNG double that finds them.

``python -m tests.support.corpus_web FOLDER -- COMMAND …`` serves them for as long as the command runs; the command finds the instance
in SEARXNG_URL and may fetch from loopback. Nothing beyond loopback is contacted.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from tests.support.searxng import FakeSearxng, result
from tests.support.web_site import WebSite

TYPES = {
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".pdf": "application/pdf",
}
SNIPPET = 600


@contextlib.asynccontextmanager
async def corpus_web(folder: Path) -> AsyncIterator[tuple[FakeSearxng, WebSite]]:
    """The instance and the site. Pages stand under another name than the instance, whose own pages are never hits."""
    async with WebSite() as site, FakeSearxng([]) as searxng:
        for file in sorted(folder.iterdir()):
            if file.suffix in TYPES:
                data = file.read_bytes()
                site.add(f"/{file.name}", data, Content_Type=TYPES[file.suffix])
                words = file.stem.replace("-", " ")
                snippet = words if file.suffix == ".pdf" else data.decode("utf-8", "replace")[:SNIPPET]
                searxng.corpus.append(result(site.url(f"/{file.name}", "localhost"), words, snippet))
        yield searxng, site


async def serve(folder: Path, command: list[str]) -> int:
    async with corpus_web(folder) as (searxng, _):
        env = {**os.environ, "SEARXNG_URL": searxng.url, "DEEPDELVE_FETCH__ALLOW_LOOPBACK": "true"}
        process = await asyncio.create_subprocess_exec(*command, env=env)
        for number in (signal.SIGINT, signal.SIGTERM):
            # Ctrl-C reaches the command too; it ends, and this with it.
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, lambda: None)
        return await process.wait()


def main(arguments: list[str]) -> int:
    place = arguments.index("--")
    return asyncio.run(serve(Path(arguments[0]), arguments[place + 1 :]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
