"""The tools of a suite as one Python object, which a host offers.

AgentDojo's environment never leaves this object. It notes every call that reaches it, so that the run can compare what
really happened with the ledger and with the reference model.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping
from typing import Any

import hob
from agentdojo.functions_runtime import Function, FunctionsRuntime


class Desk:
    """The tools of one suite on one environment. `sit` puts another environment under it, between two sessions."""

    _runtime: FunctionsRuntime

    def __init__(self) -> None:
        self._environment: Any = None
        self._seen: list[tuple[str, dict[str, Any]]] = []

    def _sit(self, environment: Any) -> None:
        self._environment = environment
        self._seen = []

    def _call(self, method: str, given: Mapping[str, Any]) -> Any:
        plain = {name: each.value if isinstance(each, enum.Enum) else each for name, each in given.items()}
        self._seen.append((method, plain))
        result, error = self._runtime.run_function(self._environment, method, plain)
        if error is not None:
            raise hob.CapError(error[:2_000], "tool-failed")
        return result


def desk_of(suite: Any) -> Desk:
    """Returns a desk with one method for each tool of the suite."""
    body: dict[str, Any] = {each.name: _method(each) for each in suite.tools}
    body["_runtime"] = FunctionsRuntime(suite.tools)
    body["__doc__"] = f"The tools of AgentDojo's suite {suite.name}."
    made = type(f"{suite.name.title()}Desk", (Desk,), body)
    desk: Desk = made()
    return desk


def _method(tool: Function[Any, Any]) -> Any:
    """A method with the names, types and defaults of the tool: the host checks calls by them."""

    async def method(self: Desk, **given: Any) -> Any:
        return self._call(tool.name, given)

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, field in tool.parameters.model_fields.items():
        default = inspect.Parameter.empty if field.is_required() else field.default
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.annotation)
        )
    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = tool.description
    method.__annotations__ = {each.name: each.annotation for each in parameters[1:]}
    method.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return method
