"""Imports go one way, as in the other packages: a lower layer does not import a higher one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parents[1] / "src" / "hob"
LAYERS = [
    {"data", "errors"},
    {"message"},
    {"vat_promise"},
    {"reference"},
    {"far"},
    {"secret_file", "streams", "terms"},
    {"captp", "address"},
    {"websocket"},
    {"sessions"},
    {"entry", "granter", "tools.likeness", "tools.verbs"},
    {"tools"},
    {"sync.threads"},
    {"sync.calls"},
    {"sync.base"},
    {"sync.faces"},
    {"sync"},
    {"approvals"},
    {"hosting"},
]
"""From the lowest up. Modules that are not listed may use all of these, and none of these uses them."""


def imported(file: Path) -> Iterator[str]:
    """Yields the modules of ours that a file imports at run time, also late, as dotted names below `hob`."""
    inside = file.relative_to(SRC).with_suffix("").parts
    tree = ast.parse(file.read_text())
    skipped = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level == 0 or id(node) in skipped:
            continue
        folder = inside[: len(inside) - node.level]
        for name in [node.module] if node.module else [alias.name for alias in node.names]:
            yield ".".join([*folder, *name.split(".")])


def modules() -> dict[str, Path]:
    found = {}
    for file in SRC.rglob("*.py"):
        parts = file.relative_to(SRC).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def test_no_module_imports_a_higher_one() -> None:
    level = {name: at for at, names in enumerate(LAYERS) for name in names}

    def listed(module: str) -> str:
        return module if module in level else module.split(".")[0]

    wrong = []
    for module, file in modules().items():
        mine = level.get(listed(module))
        if module == "" or mine is None:
            continue
        for other in imported(file):
            theirs = level.get(listed(other))
            if theirs is None or theirs > mine or (theirs == mine and listed(other) != listed(module)):
                wrong.append(f"{module} imports {other}")
    assert wrong == []
    assert level.keys() <= modules().keys()


def test_there_is_no_circle_of_imports() -> None:
    graph = {module: set(imported(file)) & modules().keys() for module, file in modules().items() if module}
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join((*way, module))
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, (*way, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_each_file_has_a_docstring_and_at_most_400_lines() -> None:
    for module, file in modules().items():
        text = file.read_text()
        assert ast.get_docstring(ast.parse(text)), f"{module} does not say what it is for"
        assert text.count("\n") <= 400, f"{module} has {text.count(chr(10))} lines: one idea per file"
