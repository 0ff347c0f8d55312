"""The first guard: a request leaves with our tools and no others.

Promise: if the content of a request cannot be determined, or it has no session of Hob, the request leaves
with no tools at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from . import names

# Where providers look for tools, and options that need tools.
_TOOLS: Final = ("tools", "functions", "toolConfig")
_CHOICE: Final = ("tool_choice", "function_call", "parallel_tool_calls")


def register(context: Any) -> None:
    """Registers the guard with Hermes, as a middleware of requests to models."""
    context.register_middleware("llm_request", on_request)


def on_request(request: Any = None, **about: Any) -> dict[str, Any]:
    """Returns the request with our tools and no others, as `{"request", "source"}`. If anything fails,
    it has no tools."""
    try:
        return {"request": stripped(request, _offered(about)), "source": "hob"}
    except BaseException:
        return {"request": bare(request), "source": "hob"}


def _offered(about: Mapping[str, Any]) -> frozenset[str]:
    """Returns the names to offer to the model of this request. None if there is no session."""
    from . import plugin

    return plugin.offered(about)


def stripped(request: Mapping[str, Any], ours: frozenset[str]) -> dict[str, Any]:
    """Returns the request with those of its tools that `ours` names. If there are none, the options of tools and
    `extra_body` are removed too."""
    kept = {key: value for key, value in request.items() if key not in _TOOLS}
    if isinstance(request.get("extra_body"), Mapping):
        kept["extra_body"] = {key: value for key, value in request["extra_body"].items() if key not in _TOOLS}
    tools = _ours(request.get("tools"), ours)
    config = request.get("toolConfig")
    configured = _ours(config.get("tools"), ours) if isinstance(config, Mapping) else []
    if tools:
        kept["tools"] = tools
    if isinstance(config, Mapping) and configured:
        kept["toolConfig"] = {**config, "tools": configured}
    return kept if tools or configured else bare(kept)


def _ours(tools: object, ours: frozenset[str]) -> list[object]:
    """Returns each of our tools once."""
    kept: dict[str, object] = {}
    for tool in tools if isinstance(tools, (list, tuple)) else ():
        name = names.name_of(tool)
        if name in ours:
            kept.setdefault(name, tool)
    return list(kept.values())


def bare(request: object) -> dict[str, Any]:
    """Returns the request without tools."""
    if not isinstance(request, Mapping):
        return {}
    return {key: value for key, value in request.items() if key not in (*_TOOLS, *_CHOICE, "extra_body")}
