"""The house style, held over the whole source: sizes, loops, state, edges, comments, and what imports what."""

import ast
import io
import os
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
FILES = sorted(SRC.rglob("*.py"))
FUNCTION_LINES = 60
FILE_LINES = 500
SCREEN_LINES = 300
COMMENT_SHARE = 0.05
BROAD_EXCEPT_PER_1000 = 1.0
# Module names bound to something mutable, each with its reason.
MUTABLE_ALLOWED: dict[str, str] = {}
CONTAINERS = {"list", "dict", "set", "defaultdict", "deque", "OrderedDict", "Counter", "WeakKeyDictionary", "WeakValueDictionary"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def name_of(path: Path) -> str:
    return path.relative_to(SRC).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8").splitlines())


def walk(*kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Every node of these kinds, with the place where it stands."""
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, kinds):
                yield f"{name_of(path)}:{getattr(node, 'lineno', 0)}", node


def length(node: ast.AST) -> int:
    """Lines of a definition, its docstring left out."""
    size = node.end_lineno - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        size -= first.end_lineno - first.lineno + 1
    return size


# Sizes


def test_functions_fit_on_a_screen() -> None:
    long = {f"{place} {node.name}": length(node) for place, node in walk(*FUNCTIONS) if length(node) > FUNCTION_LINES}
    assert not long


def test_functions_are_short_as_a_rule() -> None:
    sizes = sorted(length(node) for _, node in walk(*FUNCTIONS))
    assert sizes[len(sizes) // 2] <= 9
    assert sizes[int(len(sizes) * 0.9)] <= 30


def test_files_are_short() -> None:
    assert not {name_of(path): len(lines(path)) for path in FILES if len(lines(path)) > FILE_LINES}


def test_apps_and_screens_only_wire() -> None:
    def is_screen(node: ast.ClassDef) -> bool:
        bases = [ast.unparse(base).split("[")[0].rsplit(".", 1)[-1] for base in node.bases]
        return any(base in {"App", "Screen", "ModalScreen"} or base.endswith(("App", "Screen")) for base in bases)

    long = {f"{place} {node.name}": length(node) for place, node in walk(ast.ClassDef) if is_screen(node) and length(node) > SCREEN_LINES}
    assert not long


# Loops and state


def test_loops_are_counted() -> None:
    endless = [place for place, node in walk(ast.While) if isinstance(node.test, ast.Constant) and node.test.value]
    assert not endless


def test_there_is_no_global() -> None:
    assert not [place for place, _ in walk(ast.Global, ast.Nonlocal) if isinstance(_, ast.Global)]


def mutable_names(path: Path) -> Iterator[tuple[str, ast.expr]]:
    """Module-level names that are bound to a list, dict, set or the like."""
    for node in tree(path).body:
        value = getattr(node, "value", None)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            if isinstance(target, ast.Name) and value is not None and is_mutable(value):
                yield target.id, value


def is_mutable(value: ast.expr) -> bool:
    if isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)):
        return True
    called = value.func if isinstance(value, ast.Call) else None
    called = called.value if isinstance(called, ast.Subscript) else called
    return called is not None and ast.unparse(called).rsplit(".", 1)[-1] in CONTAINERS


ADDS = {"add", "append", "appendleft", "extend", "insert", "setdefault", "update"}
TAKES = {"clear", "discard", "pop", "popitem", "popleft", "remove", "reverse", "sort"}


def changes(path: Path, name: str) -> bool:
    """Whether the module changes what the name is bound to."""
    for node in ast.walk(tree(path)):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in ADDS | TAKES and ast.unparse(called.value) == name:
            return True
        targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target] if isinstance(node, ast.AugAssign) else []
        if any(isinstance(target, ast.Subscript) and ast.unparse(target.value) == name for target in targets):
            return True
    return False


def test_no_module_changes_its_own_state() -> None:
    """Tables are fine; a table that the module changes at run time is hidden state."""
    state = [f"{name_of(path)}:{name}" for path in FILES for name, _ in mutable_names(path) if changes(path, name)]
    assert set(state) <= set(MUTABLE_ALLOWED)


def test_no_module_starts_with_an_empty_container() -> None:
    """An empty container at module level can only be there to be filled."""
    empty = [
        f"{name_of(path)}:{name}"
        for path in FILES
        for name, value in mutable_names(path)
        if name != "__all__" and not (getattr(value, "elts", 1) and getattr(value, "keys", 1) and getattr(value, "args", 1))
    ]
    assert set(empty) <= set(MUTABLE_ALLOWED)


def test_there_is_one_context_variable_and_it_is_the_scope() -> None:
    made = [place for place, node in walk(ast.Call) if ast.unparse(node.func).split("[")[0].rsplit(".", 1)[-1] == "ContextVar"]
    assert [place.split(":")[0] for place in made] == ["core/scope.py"]


def test_the_scope_is_never_reset() -> None:
    """A token may not be given back in another task, which some Python versions make of every step of a stream."""
    assert not [place for place, node in walk(ast.Call) if ast.unparse(node.func) in {"_scope.reset", "contextvars.Token"}]


# Edges


def is_broad(node: ast.ExceptHandler) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(kind is None or ast.unparse(kind) in {"Exception", "BaseException"} for kind in kinds)


def reraises(node: ast.ExceptHandler) -> bool:
    return any(isinstance(inner, ast.Raise) for inner in ast.walk(node))


def is_broad_suppress(node: ast.Call) -> bool:
    return ast.unparse(node.func).endswith("suppress") and bool({ast.unparse(arg) for arg in node.args} & {"Exception", "BaseException"})


def test_broad_excepts_are_few() -> None:
    """At the edges of loops, workers and tools only; one that passes the error on does not count."""
    places = [place for place, node in walk(ast.ExceptHandler) if is_broad(node) and not reraises(node)]
    places += [place for place, node in walk(ast.Call) if is_broad_suppress(node)]
    allowed = BROAD_EXCEPT_PER_1000 * sum(len(lines(path)) for path in FILES) / 1000
    assert len(places) <= allowed, places


def test_no_except_is_bare_or_silent() -> None:
    """``except: pass`` hides faults; contextlib.suppress names the one that is meant."""
    silent = [
        place
        for place, node in walk(ast.ExceptHandler)
        if node.type is None or (is_broad(node) and all(isinstance(inner, ast.Pass) for inner in node.body))
    ]
    assert not silent


def test_nothing_prints_but_the_command_line() -> None:
    printing = [place for place, node in walk(ast.Call) if ast.unparse(node.func) == "print" and not place.startswith("cli/")]
    assert not printing


def test_asserts_do_not_check_what_comes_from_outside() -> None:
    """They vanish with ``python -O``; here they may only tell the type checker what is known."""
    wrong = [place for place, node in walk(ast.Assert) if node.msg is not None]
    assert not wrong


# Words


def comments(path: Path) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def test_comments_are_few() -> None:
    number = sum(len(comments(path)) for path in FILES)
    assert number <= COMMENT_SHARE * sum(len(lines(path)) for path in FILES)


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "HACK", "202"])
def test_comments_hold_no_notes_to_self_and_no_dates(word: str) -> None:
    assert not [f"{name_of(path)}: {text}" for path in FILES for text in comments(path) if word in text]


def test_every_module_says_what_it_is_for() -> None:
    silent = [name_of(path) for path in FILES if lines(path) and not ast.get_docstring(tree(path))]
    assert not silent


@pytest.mark.parametrize("path", ["/work/", "/opt/dd", "/root/", "/home/"])
def test_no_path_of_a_machine_is_in_the_project(path: str) -> None:
    kinds = {".py", ".md", ".yaml", ".toml", ".tcss", ".txt", ""}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\0")
    files = [ROOT / name for name in listed if name and Path(name).suffix in kinds and name != "tests/test_style.py"]
    found = [str(file) for file in files if file.is_file() and not file.is_symlink() and path in file.read_text("utf-8", "replace")]
    assert not found


def test_tests_mirror_the_source() -> None:
    """A test of a room stands in the folder of that room."""
    rooms = {path.name for path in SRC.iterdir() if path.is_dir() and path.name != "__pycache__"}
    beside = {"support", "contract", "__pycache__"}
    assert {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} <= rooms | beside


CLOCKS = {"time", "monotonic", "perf_counter", "process_time", "thread_time"}


def test_no_test_asserts_how_long_the_machine_took() -> None:
    """A busy machine fails such a test, and a fast one passes it; see tests/support/patience.py."""
    timed = [
        f"{path.relative_to(ROOT)}:{check.lineno}"
        for path in (ROOT / "tests").rglob("*.py")
        for check in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(check, ast.Assert)
        for call in ast.walk(check.test)
        if isinstance(call, ast.BinOp) and isinstance(call.op, ast.Sub)
        for side in (call.left, call.right)
        if isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute) and side.func.attr in CLOCKS
        if not path.match("test_broken_files.py")  # there the age of a record is what is asked
    ]
    assert not timed


# What imports what


def modules_after(code: str) -> set[str]:
    """The top-level modules in a fresh interpreter after this code."""
    script = f"import sys\n{code}\nprint('\\nMODULES', *sorted({{name.split('.')[0] for name in sys.modules}}))"
    env = {**os.environ, "PYTHONPATH": str(ROOT / ".typecheck")}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.rsplit("MODULES", 1)[1].split())


def test_the_engine_does_not_need_the_screen() -> None:
    loaded = modules_after("import deepdelve.engine.facade")
    assert not {"textual", "rich"} & loaded


def test_the_engine_facade_is_up_before_the_agent_framework() -> None:
    loaded = modules_after("import deepdelve.engine.facade")
    assert not {"agent_framework", "ollama", "openai", "trafilatura", "lxml"} & loaded


def test_help_loads_nothing_heavy() -> None:
    code = "from deepdelve.__main__ import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    loaded = modules_after(code)
    assert "deepdelve" in loaded
    assert not {"textual", "rich", "agent_framework", "pydantic", "httpx", "asyncio", "ruamel"} & loaded


def test_the_app_module_does_not_load_the_engine() -> None:
    """The first frame stands before the engine is imported."""
    loaded = modules_after("import deepdelve.tui.app\nassert 'deepdelve.engine.facade' not in sys.modules")
    assert not {"agent_framework", "ollama", "openai"} & loaded


def test_import_contracts_hold() -> None:
    pytest.importorskip("importlinter")
    env = {**os.environ, "PYTHONPATH": str(ROOT / ".typecheck")}
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(program), "--no-cache"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
