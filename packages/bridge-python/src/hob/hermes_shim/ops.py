"""The table of the operations: the fields of each, where it runs, and the function that asks Hermes.

- HERE: in this process, within a time limit.
- APART: in a process forked for this line. Its state is gone afterwards.
- WORLD: in the one process that keeps its state from line to line.
- END: ends that process.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HERE, APART, WORLD, END = "here", "apart", "world", "end"

Fields = dict[str, Any]


class Refusal(Exception):
    """An error verdict: the line is wrong, or this version of Hermes lacks the operation."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Op:
    """One operation. `fields` and `answers` describe its line and its verdict in words. `where` is HERE, APART,
    WORLD or END."""

    name: str
    where: str
    fields: dict[str, str]
    answers: str
    ask: Callable[[Fields], Any]
    # The modules that it imports. Lines that set no variable share one import; the others import again.
    modules: tuple[str, ...] = ()


OPS: dict[str, Op] = {}

# Any operation may have these fields; then it runs apart.
COMMON = {
    "env?": "variables of Hermes to set for this line: HERMES_*, TERMINAL_*, SUDO_PASSWORD",
    "config?": "what to put over the configuration for this line",
    "seconds?": "the longest that it may take",
}


def op(name: str, fields: dict[str, str], answers: str, where: str = HERE, modules: tuple[str, ...] = ()) -> Callable[[Callable[[Fields], Any]], Callable[[Fields], Any]]:
    """Returns a decorator that adds a function to `OPS` under this name, and leaves the function as it is."""

    def enter(ask: Callable[[Fields], Any]) -> Callable[[Fields], Any]:
        OPS[name] = Op(name, where, fields, answers, ask, modules)
        return ask

    return enter


def hermes(module: str) -> Any:
    """Returns a module of the installed Hermes. A module that cannot be imported is reported as missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Refusal("missing", f"{module} of hermes-agent cannot be imported here ({error})") from error


def attribute(module: str, name: str) -> Any:
    """Returns an attribute of a module that only some versions have."""
    found = getattr(hermes(module), name, None)
    if found is None:
        raise Refusal("not-in-this-version", f"this hermes-agent has no {module}.{name}")
    return found


def text(fields: Fields, name: str, default: str | None = None) -> str:
    """Returns a field that is a string. Raises `Refusal` if it is none, or is missing and has no default."""
    value = fields.get(name, default)
    if not isinstance(value, str):
        raise Refusal("bad-input", f'field "{name}" must be a string')
    return value


def typed_field(fields: Fields, name: str, kind: type, default: Any = None) -> Any:
    """Returns a field that is a dict, a list or a bool."""
    value = fields.get(name, default)
    if not isinstance(value, kind):
        raise Refusal("bad-input", f'field "{name}" must be {"an object" if kind is dict else "a list" if kind is list else "true or false"}')
    return value
