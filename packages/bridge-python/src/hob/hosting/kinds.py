"""The methods of a class as tools: their names, parameters, types and texts."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from ..errors import Invalid
from ..reference import E
from ..tools.verbs import Verb
from .values import Reading, Unfit, read_fields, reading_of


@dataclass(frozen=True, slots=True)
class Tool:
    """One method. Its arguments are named: a call has one record of them, or nothing."""

    name: str
    text: str
    fields: Mapping[str, tuple[Reading, bool]]
    is_async: bool

    def arguments(self, args: list[Any]) -> dict[str, Any]:
        """Returns the arguments of a call. Raises `Invalid`."""
        if len(args) > 1 or (args and not isinstance(args[0], dict)):
            names = ", ".join(f"{name}=…" for name in self.fields)
            raise Invalid(f"name the arguments: {self.name}({names}), as one record")
        try:
            return read_fields(args[0] if args else {}, self.fields)
        except Unfit as error:
            raise Invalid(f'"{self.name}" takes {error}') from None


def tools_of(kind: type) -> dict[str, Tool]:
    """Returns the methods of a class: those without `_` at the beginning, also of its bases. Raises `Invalid`."""
    found: dict[str, Tool] = {}
    for base in reversed(kind.__mro__):
        if base is object:
            continue
        for name, value in vars(base).items():
            if name.startswith("_"):
                continue
            # An attribute that is no function hides a method of a base.
            found.pop(name, None)
            if isinstance(value, FunctionType):
                found[name] = _tool(name, value)
    if not found:
        raise Invalid(f"{kind.__name__} has no methods to offer: their names do not begin with _")
    return found


def _tool(name: str, function: FunctionType) -> Tool:
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise Invalid(f"a type of {name} is not known where it is defined: {error}") from None
    fields: dict[str, tuple[Reading, bool]] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise Invalid(f"{name}: each parameter has a name, so that terms can name it. {parameter} has none")
        reading = reading_of(hints.get(parameter.name, Any))
        fields[parameter.name] = (reading, parameter.default is parameter.empty)
    text = inspect.getdoc(function) or f"Calls {name}."
    is_async = inspect.iscoroutinefunction(inspect.unwrap(function)) or inspect.iscoroutinefunction(function)
    return Tool(name, text, fields, is_async)


@functools.cache
def verbs_of(kind: type) -> tuple[Verb, ...]:
    """Returns the methods of a class as verbs for `hob.tools`: a model calls them by name, with these types."""
    return tuple(_verb(tool) for tool in tools_of(kind).values())


def _verb(tool: Tool) -> Verb:
    optional = frozenset(name for name, (_, required) in tool.fields.items() if not required)
    schemas = {name: reading.schema for name, (reading, _) in tool.fields.items()}
    return Verb(tool.name, tool.text, schemas, lambda cap, args: E(cap)[tool.name](args), optional)
