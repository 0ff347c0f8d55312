"""The names of our tools, and how they are recognized in a request.

Promise: names are exact. No typo of one letter turns a tool of ours into another one, or into one of `HARMLESS`: Hermes takes names that are nearly
right for the right ones (that is why it is `entries` and not `list`, which is as near to `elit` as `edit` is).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..tools import EDIT, ENTRIES, READ, REQUEST, RUN, SEARCH, WRITE, Verb

VERBS: Final[tuple[Verb, ...]] = (READ, ENTRIES, SEARCH, WRITE, EDIT, RUN)
NAMES: Final = frozenset({*(verb.name for verb in VERBS), REQUEST})
TOOLSET: Final = "hob"
ACP_TOOLSET: Final = "hermes-acp"
"""The only toolset that Hermes offers to an editor (ACP): there is no list of it to configure."""

HARMLESS: Final = frozenset({"delegate_task", "todo", "clarify"})
"""What an operator may let a model have besides: these reach nothing of the machine. A child gets the tools of its parent, and an empty session."""

# What Hermes writes before a name for some logins of Anthropic's. No server of tools has the empty name, so no foreign tool is called so.
_PREFIX: Final = "mcp__"


def name_of(tool: object) -> str:
    """The name in a tool of a request, of any provider's shape; empty where it has none."""
    if not isinstance(tool, Mapping):
        return ""
    for inner in (tool, tool.get("function"), tool.get("toolSpec")):
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            return str(inner["name"]).removeprefix(_PREFIX)
    return ""


def tools_in(request: Mapping[str, Any]) -> list[object]:
    """All tools that a request offers, wherever a provider wants them."""
    found: list[object] = []
    for holder in (request, request.get("toolConfig"), request.get("extra_body")):
        for key in ("tools", "functions"):
            tools = holder.get(key) if isinstance(holder, Mapping) else None
            if tools is not None and not isinstance(tools, (list, tuple)):
                raise TypeError("the tools of a request are a list")
            found += tools or []
    return found


def foreign_in(request: Mapping[str, Any], ours: frozenset[str]) -> list[str]:
    """Those that are not ours. One without a name (a provider's own) is foreign, and so is a second one of the same name."""
    seen: set[str] = set()
    foreign: list[str] = []
    for tool in tools_in(request):
        name = name_of(tool)
        if name not in ours or name in seen:
            foreign.append(name or "a tool without a name")
        seen.add(name)
    return foreign
