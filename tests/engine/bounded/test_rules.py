"""The rules of bounded research, held over its source: each is a reason to refuse a change."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepdelve.engine.bounded import bounds
from deepdelve.engine.bounded.provider import InferenceProvider

SRC = Path(bounds.__file__).resolve().parents[2]
ROOMS = sorted([*(SRC / "engine" / "bounded").rglob("*.py"), *(SRC / "engine" / "vault").rglob("*.py"), SRC / "tools" / "searxng.py"])
LOOP = SRC / "engine" / "bounded" / "deep_research.py"
OTHERS = re.compile("tavily|duckduckgo|ddg|googlesearch|serpapi|brave|bing", re.I)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def function(name: str) -> ast.AsyncFunctionDef:
    return next(node for node in ast.walk(tree(LOOP)) if isinstance(node, ast.AsyncFunctionDef) and node.name == name)


def calls(node: ast.AST) -> Iterator[str]:
    return (ast.unparse(inner.func) for inner in ast.walk(node) if isinstance(inner, ast.Call))


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: path.relative_to(SRC).as_posix().replace("/", "."))
def test_b03_no_other_engine_is_named(path: Path) -> None:
    assert not OTHERS.search(path.read_text())


def test_b31_the_loop_is_counted_and_assesses_before_it_refines() -> None:
    loops = [node for node in ast.walk(function("_bounded_loop")) if isinstance(node, ast.For | ast.AsyncFor | ast.While)]
    assert [ast.unparse(loop.iter) for loop in loops if isinstance(loop, ast.For)] == ["range(1, max_iter + 1)"]
    assert len(loops) == 1
    inside = [name for name in calls(loops[0]) if name.startswith("_")]
    assert inside == ["_search_searxng", "_fetch_and_extract", "_assess_sufficiency", "_generate_queries"]
    gate = loops[0].body[1]
    assert isinstance(gate, ast.If)
    assert ast.unparse(gate.test) == "accumulator.total_tokens >= token_budget"


def test_b31_no_endless_loop_anywhere() -> None:
    for path in ROOMS:
        for node in ast.walk(tree(path)):
            assert not (isinstance(node, ast.While) and isinstance(node.test, ast.Constant)), path


def test_b31_neither_settings_nor_environment_are_read_in_the_loop() -> None:
    names = {node.id for node in ast.walk(function("_bounded_loop")) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(function("_bounded_loop")) if isinstance(node, ast.Attribute)}
    assert not {"os", "settings", "Settings", "environ", "getenv", "load"} & (names | attributes)
    text = LOOP.read_text()
    assert "os.environ" not in text
    assert "settings." not in text


def test_b31_there_is_one_semaphore_and_both_fan_outs_pass_it() -> None:
    made = [path.name for path in ROOMS for name in calls(tree(path)) if name.rpartition(".")[2] in {"Semaphore", "BoundedSemaphore"}]
    assert made == ["bounds.py"]
    assert bounds.CONCURRENCY == 3
    for name in ("_search_searxng", "_fetch_and_extract"):
        assert "fan_out" in set(calls(function(name)))


def test_b31_only_the_seam_writes_pages_or_raises_the_version() -> None:
    writers = {path.name for path in ROOMS if any(name.endswith("transaction.change") for name in calls(tree(path)))}
    assert writers == {"seam.py"}
    bumps = {path.name for path in ROOMS if any(name in {"store.bump", "bump"} for name in calls(tree(path)))}
    assert bumps == {"seam.py"}
    for path in (SRC / "engine" / "bounded").rglob("*.py"):
        assert "wiki/" not in path.read_text(), path
        assert ".wiki" not in path.read_text(), path


def test_b31_no_model_address_or_key_is_written_down() -> None:
    for path in (SRC / "engine" / "bounded").rglob("*.py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.search(r"(?i)gpt-|qwen|llama|claude|sk-[a-z0-9]{8}|api\.openai", node.value), path
    assert "http" not in "".join(
        node.value for node in ast.walk(tree(LOOP)) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def test_b31_no_provider_is_told_from_another() -> None:
    checked = [ast.unparse(node) for node in ast.walk(tree(LOOP)) if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"]
    assert all("provider" not in text.lower() for text in checked)
    assert not {"name", "model"} & {
        node.attr
        for node in ast.walk(function("_bounded_loop"))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "provider"
    }


def test_b31_a_provider_has_no_further_method() -> None:
    assert {name for name in vars(InferenceProvider) if not name.startswith("_")} == {"chat", "bind_accumulator"}


def test_b31_the_final_write_stands_in_a_finally() -> None:
    tries = [node for node in ast.walk(function("_conduct")) if isinstance(node, ast.Try)]
    assert any("_finalize" in set(calls(ast.Module(body=node.finalbody, type_ignores=[]))) for node in tries)


def test_b31_no_source_is_gone_over_again() -> None:
    for name in ("_fetch_and_extract", "_fetched"):
        assert not [node for node in ast.walk(function(name)) if isinstance(node, ast.For | ast.AsyncFor | ast.While)]


def imported(path: Path) -> Iterator[Path]:
    """The modules of ours that a module names in an import, also within its functions."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("deepdelve."):
            base = SRC.joinpath(*(node.module or "").split(".")[1:])
            candidates = [base / f"{name.name}.py" for name in node.names] + [base.with_suffix(".py"), base / "__init__.py"]
            yield from (found for found in candidates if found.is_file())


def test_b31_no_other_search_engine_can_be_reached_by_import() -> None:
    # Adding a finished run is the one way by which a run of the general kind comes in; it searches nothing.
    left, seen = [path for path in ROOMS if path.name not in {"adding.py"}], set[Path]()
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += imported(path)
    engines = {path.name for path in seen if path.parent == SRC / "tools" / "search"}
    assert engines <= {"__init__.py", "base.py", "engine.py", "merge.py", "records.py"}
