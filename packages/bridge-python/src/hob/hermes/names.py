"""The names of our tools, and how to recognize them in a request.

Promise: names are exact. No typo of one letter turns a tool of ours into another one, or into one of
`HARMLESS`, although Hermes accepts names that are nearly right. (So the tool is called `entries` and not
`list`, which is as near to `elit` as `edit` is.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..tools import EDIT, ENTRIES, MKDIR, READ, REQUEST, RUN, SEARCH, WRITE, Verb

VERBS: Final[tuple[Verb, ...]] = (READ, ENTRIES, SEARCH, WRITE, EDIT, MKDIR, RUN)
NAMES: Final = frozenset({*(verb.name for verb in VERBS), REQUEST})
TOOLSET: Final = "hob"
ACP_TOOLSET: Final = "hermes-acp"
"""The only toolset that Hermes offers to an editor (ACP). No configuration controls it."""

HARMLESS: Final = frozenset({"delegate_task", "todo", "clarify"})
"""Tools that an operator may allow besides ours. They reach nothing of the machine. A child gets the tools of
its parent, and an empty session."""

# The prefix that Hermes writes before a name for some logins of Anthropic. No foreign tool has it, because no
# server of tools has the empty name.
_PREFIX: Final = "mcp__"


def name_of(tool: object) -> str:
    """Returns the name of a tool in a request, in any provider's form; empty if it has none."""
    if not isinstance(tool, Mapping):
        return ""
    for inner in (tool, tool.get("function"), tool.get("toolSpec")):
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            return str(inner["name"]).removeprefix(_PREFIX)
    return ""


def tools_in(request: Mapping[str, Any]) -> list[object]:
    """Returns all tools of a request, wherever a provider expects them."""
    found: list[object] = []
    for holder in (request, request.get("toolConfig"), request.get("extra_body")):
        for key in ("tools", "functions"):
            tools = holder.get(key) if isinstance(holder, Mapping) else None
            if tools is not None and not isinstance(tools, (list, tuple)):
                raise TypeError("the tools of a request are a list")
            found += tools or []
    return found


def foreign_in(request: Mapping[str, Any], ours: frozenset[str]) -> list[str]:
    """Returns the foreign tools. A tool without a name (a provider's own) is foreign, and so is a second tool
    of the same name."""
    seen: set[str] = set()
    foreign: list[str] = []
    for tool in tools_in(request):
        name = name_of(tool)
        if name not in ours or name in seen:
            foreign.append(name or "a tool without a name")
        seen.add(name)
    return foreign
