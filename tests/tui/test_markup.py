"""No text from outside is ever markup: held over the syntax tree of every file of the app."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "src" / "tui"
FILES = sorted(ROOT.rglob("*.py"))
# Widgets and methods that read a plain string as markup unless told otherwise, and where the string stands.
TAKES_MARKUP = {"Static": 0, "Label": 0, "notify": 0, "update": 0, "OptionList": 0, "Option": 0, "Button": 0, "Checkbox": 0, "TabPane": 0}
MARKUP_PARSERS = {"from_markup", "to_content"}
# Widgets of the app itself whose ``update`` or constructor takes no markup.
SAFE_MAKERS = {"Content", "RichMarkdown", "Text"}


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def content_names(tree: ast.AST) -> set[str]:
    """Functions of the file that are declared to give ``Content``, and parameters declared so."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.returns is not None and "Content" in ast.unparse(node.returns):
                names.add(node.name)
            names |= {arg.arg for arg in node.args.args if arg.annotation is not None and "Content" in ast.unparse(arg.annotation)}
    return names


def is_plain(node: ast.expr, safe: set[str]) -> bool:
    """Whether an argument cannot bring markup from outside: a literal, or something that is Content already."""
    match node:
        case ast.Constant():
            return True
        case ast.IfExp():
            return is_plain(node.body, safe) and is_plain(node.orelse, safe)
        case ast.Call():
            name = name_of(node)
            inner = getattr(node.func, "value", None)
            return (
                name in SAFE_MAKERS | safe
                or name == "assemble"
                or (name == "join" and isinstance(inner, ast.Call) and name_of(inner) == "Content")
            )
        case ast.Name():
            return node.id in safe
        case ast.Attribute():
            return node.attr in safe
        case _:
            return False


def faults(source: str, known: set[str]) -> list[str]:
    tree = ast.parse(source)
    safe = known | content_names(tree)
    found: list[str] = []
    for call in calls(tree):
        name = name_of(call)
        if name in MARKUP_PARSERS:
            found.append(f"line {call.lineno}: {name}")
        if name not in TAKES_MARKUP or len(call.args) <= TAKES_MARKUP[name]:
            continue
        if any(keyword.arg == "markup" and getattr(keyword.value, "value", True) is False for keyword in call.keywords):
            continue
        if not is_plain(call.args[TAKES_MARKUP[name]], safe):
            found.append(f"line {call.lineno}: {ast.unparse(call)[:80]}")
    return found


def all_content_functions() -> set[str]:
    return set().union(*(content_names(ast.parse(path.read_text())) for path in FILES))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)).replace("/", ".") for path in FILES])
def test_no_outside_text_is_markup(path: Path) -> None:
    assert faults(path.read_text(), all_content_functions()) == []


@pytest.mark.parametrize(
    "code",
    [
        "Static(text)",
        "Static(f'{title}')",
        "self.notify(str(error))",
        "widget.update(text)",
        "Label('a' + text)",
        "Content.from_markup(text)",
        "Option(name)",
    ],
)
def test_the_check_finds_what_it_is_for(code: str) -> None:
    assert faults(code, set())


@pytest.mark.parametrize(
    "code", ["Static('plain')", "Static(Content(text))", "self.notify(text, markup=False)", "w.update(Content('\\n').join(rows))"]
)
def test_the_check_lets_safe_forms_pass(code: str) -> None:
    assert not faults(code, set())


def test_app_and_screens_stay_small() -> None:
    sizes: dict[str, int] = {}
    for path in [ROOT / "app.py", *(ROOT / "screens").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                sizes[node.name] = (node.end_lineno or 0) - node.lineno + 1
    assert {name: size for name, size in sizes.items() if size > 300} == {}
