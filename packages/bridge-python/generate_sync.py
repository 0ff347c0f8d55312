"""Writes `src/hob/sync/faces.py`, the classes of `hob.sync`, from the classes for asyncio. So both have the same
methods, parameters and texts.

    python generate_sync.py            # writes it
    python generate_sync.py --check    # exits with 1 if it is not what would be written
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE / "src" / "hob"
TARGET = SOURCE / "sync" / "faces.py"

HEAD = '''"""The classes of `hob.sync`: each method calls the one of the same name for asyncio, and waits for its result.

Written by `generate_sync.py`. Change the classes for asyncio, and run that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from .calls import Cap
from ..granter import Grant, Granter as AsyncGranter
from ..sessions import Child as AsyncChild, Session as AsyncSession
from .base import Face, SessionFace, enter
from ..terms import Terms
'''

# The sync class, its base, and the classes whose methods it has: (file, class).
CLASSES = {
    "Session": ("SessionFace", [("sessions", "Entered"), ("sessions", "Session")]),
    "Granter": ("Face", [("sessions", "Entered"), ("granter", "Granter")]),
}

BY_HAND = {"close"}
"""In `sync/base.py`: it has nothing to wait for, and needs one more turn of the loop."""

CHILD = '''

class Child(Session):
    """A child session, which is entered already. Anyone who has its secret can enter it."""

    def __init__(self, child: AsyncChild) -> None:
        super().__init__(enter(child))
        self._child = child

    def __repr__(self) -> str:
        return f"<hob.sync.Child {self.id}>"

    @property
    def id(self) -> str:
        """The id of the session, for a granter."""
        return self._child.id

    @property
    def secret(self) -> str:
        """The secret of the session, until it is rotated."""
        return self._child.secret

    def enter(self) -> Session:
        """Enters the session once more. The new connection takes the place of this one."""
        return Session(enter(self._child))
'''


def methods(file: str, name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse((SOURCE / f"{file}.py").read_text())
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return [
        node
        for node in found.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_")
    ]


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)


def passed(args: ast.arguments) -> str:
    """Returns the arguments that hand the parameters on."""
    given = [arg.arg for arg in [*args.posonlyargs, *args.args][1:]]
    if args.vararg is not None:
        given.append(f"*{args.vararg.arg}")
    given += [f"{arg.arg}={arg.arg}" for arg in args.kwonlyargs]
    if args.kwarg is not None:
        given.append(f"**{args.kwarg.arg}")
    return "".join(f", {each}" for each in given)


def written(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    returns = "None" if node.returns is None else ast.unparse(node.returns)
    returns = {"Promise": "Cap", "Ref": "Cap"}.get(returns, returns)
    call = f'self._call("{node.name}"{passed(node.args)})'
    if is_property(node):
        head = f"    @property\n    def {node.name}(self) -> {returns}:\n"
        call = f'self._read("{node.name}")'
    else:
        head = f"    def {node.name}({ast.unparse(node.args)}) -> {returns}:\n"
    doc = ast.get_docstring(node, clean=False)
    text = head + (f'        """{doc}"""\n' if doc else "")
    if returns == "None":
        return text + f"        {call}\n"
    if returns == "Child":
        return text + f"        return Child({call})\n"
    return text + f"        result: {returns} = {call}\n        return result\n"


def generated() -> str:
    text = HEAD
    for name, (base, sources) in CLASSES.items():
        found = {node.name: node for file, of in sources for node in methods(file, of) if node.name not in BY_HAND}
        text += f'\n\nclass {name}({base}):\n    """`hob.{name}`, with methods that wait."""\n\n'
        text += f"    _async: Async{name}\n\n"
        text += "\n".join(written(node) for node in found.values())
        if name == "Session":
            text += CHILD
    return text


def main(arguments: list[str]) -> int:
    text = generated()
    if "--check" not in arguments:
        TARGET.write_text(text)
        return 0
    return 0 if TARGET.exists() and TARGET.read_text() == text else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
