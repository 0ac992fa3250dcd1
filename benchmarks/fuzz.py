"""Throw damaged input at what reads outside text, and see that it neither breaks nor hangs.

Run ``python -m benchmarks.fuzz TARGET [--seconds N] [--seeds DIR] [--keep DIR]``. Targets: ``url`` (addresses and the guard, with a
resolver that never asks the network), ``extract`` (documents of any type), ``report`` (citations, claims and sources list of a report).

Where atheris is installed (``pip install atheris``; it is no dependency of the project, since it has no wheel for every system), it
steers the input by the branches that were taken; else bytes are changed at random. An input that breaks a target is kept in ``--keep``
and ends the run with an exit code other than 0.
"""

import argparse
import asyncio
import contextlib
import faulthandler
import importlib
import ipaddress
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Target = Callable[[bytes], None]
SLOWEST_S = 10.0
_MARKS = [
    b"[1]",
    b"](",
    b"<div>",
    b"://",
    b"@",
    b"\x00",
    b"\xff",
    b"%2e",
    b"\n\n",
    b"|",
    b"> ",
    b"\xe3\x80\x82",
    b"127.0.0.1",
    b"[::1]",
    b"&#x",
]
SEEDS: dict[str, list[bytes]] = {
    "url": [b"https://example.org:443/a/../b?q=1#f", b"http://0x7f.1/", b"//user:pass@[::ffff:7f00:1]/x", b"http://\xe2\x91\xa0.example/"],
    "extract": [
        b"<html><body><article><h1>T</h1><p>Some words of a page, with <a href=x>a link</a>.</p><table><tr><td>1</table></article>",
        b'{"cells": [{"cell_type": "code", "source": ["x"], "outputs": []}], "nbformat": 4}',
        b"{\\rtf1{\\fonttbl{\\f0 A;}}Words \\u26481 ?\\par more}",
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<</Root 1 0 R>>",
        b"a,b\n1,2\n",
    ],
    "report": [
        b"# R\n\nThe dam is 142 metres high [1]. It costs 3.5 million (Smith, 2020).\n\n| a | b [2] |\n|---|---|\n\n## Sources\n\n"
        b"[1] A. https://a.example\n",
        "热泵可以在零下25度工作【1†source】。\n\n[^1]: x\n\n参考文献\n1. https://b.example".encode(),
    ],
}


def fuzz_url(data: bytes) -> None:
    """Every address is taken apart the same way twice, and none that is not public passes the guard."""
    from deepdelve.core.errors import FetchError
    from deepdelve.tools.web.guard import AddressGuard, is_public
    from deepdelve.utils import urls, whatwg

    async def nobody(name: str, port: int) -> list[str]:
        return ["10.0.0.1"]

    text = data.decode("utf-8", "surrogateescape")
    with contextlib.suppress(whatwg.UrlError):
        once = whatwg.parse(text).href
        assert whatwg.parse(once).href == once, f"not stable: {text!r}"
    for function in (urls.canonical, urls.is_web, urls.host, urls.registrable_domain, urls.parent):
        function(text)
    with contextlib.suppress(FetchError):
        checked = asyncio.run(AddressGuard(nobody).check(text))

        assert is_public(ipaddress.ip_address(checked.ip)), f"passed the guard: {text!r}"


def fuzz_extract(data: bytes) -> None:
    """A document gives text, or a refusal with its reason."""
    from deepdelve.core.errors import FetchError
    from deepdelve.tools.web.documents.parse import parse

    with contextlib.suppress(RecursionError, MemoryError, FetchError):
        assert parse(data, url="https://a.example/x", content_type="").text.strip()


def fuzz_report(data: bytes) -> None:
    """A report is parsed, its spans lie inside of it, and it is checked."""
    from deepdelve.utils.grounding import citations, claims
    from deepdelve.utils.grounding.verify import verify_report

    text = data.decode("utf-8", "replace").replace("\x00", "")
    parsed = citations.parse(text)
    for marker in parsed.markers:
        assert 0 <= marker.start < marker.end <= len(text)
    for claim in claims.extract_claims(text, parsed):
        assert claim.span is not None
        assert 0 <= claim.span[0] < claim.span[1] <= len(text)
    verify_report(text, {"1": text[: len(text) // 2]})


TARGETS: dict[str, Target] = {"url": fuzz_url, "extract": fuzz_extract, "report": fuzz_report}


def mutated(seed: bytes, chance: random.Random) -> bytes:
    """A seed with a few places changed: bytes flipped, pieces taken out, doubled or put in."""
    data = bytearray(seed)
    for _ in range(chance.randint(1, 8)):
        at = chance.randint(0, len(data))
        size = chance.randint(1, 12)
        match chance.randint(0, 3):
            case 0:
                data[at : at + 1] = bytes([chance.randint(0, 255)])
            case 1:
                del data[at : at + size]
            case 2:
                data[at:at] = data[at : at + size] * chance.choice([1, 2, 50])
            case _:
                data[at:at] = chance.choice(_MARKS)
    return bytes(data[:20_000])


def at_random(
    target: Target, seeds: Sequence[bytes], seconds: float, keep: Path, start: int = 0, most: int = sys.maxsize
) -> tuple[int, str]:
    """Runs until the time is over or so many inputs were tried; their number, and what was wrong with the last, empty if nothing."""
    chance = random.Random(start)
    pool = list(seeds)
    end = time.monotonic() + seconds
    tried = 0
    while tried < most and time.monotonic() < end:
        data = mutated(chance.choice(pool), chance)
        tried += 1
        began = time.process_time()
        try:
            target(data)
            fault = f"took {time.process_time() - began:.1f} s" if time.process_time() - began > SLOWEST_S else ""
        except Exception as error:  # whatever a target lets out is what is looked for
            fault = f"{type(error).__name__}: {error}"
        if fault:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"fault-{tried}").write_bytes(data)
            return tried, fault
        if len(pool) < 500:
            pool.append(data)
    return tried, ""


def _steered(atheris: Any, target: Target, seeds: Sequence[bytes], seconds: float, keep: Path) -> None:
    """Hands over to atheris, which ends the process itself."""
    keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(seeds):
            (Path(folder) / str(number)).write_bytes(seed)
        limits = [f"-max_total_time={seconds:.0f}", f"-timeout={SLOWEST_S:.0f}", f"-artifact_prefix={keep}/", "-rss_limit_mb=2048"]
        with atheris.instrument_imports(include=["deepdelve"]):
            for seed in seeds:
                target(seed)
        atheris.Setup([sys.argv[0], *limits, folder], target)
        atheris.Fuzz()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=Path, help="a folder of further inputs to start from")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-faults"), help="where an input that breaks the target is kept")
    args = parser.parse_args(arguments)
    seeds = SEEDS[args.target] + (
        [path.read_bytes()[:20_000] for path in sorted(args.seeds.iterdir()) if path.is_file()] if args.seeds else []
    )
    faulthandler.enable()
    with contextlib.suppress(ImportError):
        _steered(importlib.import_module("atheris"), TARGETS[args.target], seeds, args.seconds, args.keep)
        return 0
    tried, fault = at_random(TARGETS[args.target], seeds, args.seconds, args.keep)
    print(f"{args.target}: {tried} inputs at random (atheris is not installed). {fault or 'No fault.'}")
    return 1 if fault else 0


if __name__ == "__main__":
    raise SystemExit(main())
