"""The second guard: a call of a foreign tool is refused here.

Promise: a call goes on only if its name is ours *and* Hermes has our function under that name. If this cannot
be determined, the call is refused. The check runs twice, before the call and around it, because a loop of
Hermes may skip the first.
"""

# Hermes' own modules are there only where Hermes is.
# pyright: reportMissingImports=false

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from . import names

_INSTEAD: Final = {
    "read_file": "read", "search_files": "search", "write_file": "write", "patch": "edit", "terminal": "run", "execute_code": "run", "process": "run",
}  # fmt: skip


def register(context: Any) -> None:
    """Registers both checks with Hermes: a hook before a call, and a middleware around it."""
    context.register_hook("pre_tool_call", before_call)
    context.register_middleware("tool_execution", around_call)


def before_call(tool_name: object = "", **_about: Any) -> dict[str, str] | None:
    """Returns None if the call may go on, and otherwise the block with its text for the model."""
    try:
        if allowed(tool_name):
            return None
        return {"action": "block", "message": refusal(tool_name)}
    except BaseException:
        return {"action": "block", "message": "not done: Hob could not tell whose tool this is"}


def around_call(tool_name: object = "", args: Any = None, next_call: Callable[..., Any] | None = None, **_about: Any) -> Any:
    """Returns the result of `next_call` if the call may go on, and otherwise the refusal as JSON, `{"error": text}`."""
    try:
        message = None if allowed(tool_name) else refusal(tool_name)
    except BaseException:
        message = "not done: Hob could not tell whose tool this is"
    if message is not None or next_call is None:
        return json.dumps({"error": message})
    return next_call(args)


def allowed(name: object) -> bool:
    """True if the operator allows this tool, or if it is ours and Hermes has our function for it. May raise: the
    caller then refuses the call."""
    from . import plugin

    return isinstance(name, str) and (_is_our_function(name) if name in names.NAMES else name in plugin.allowed_besides())


def _is_our_function(name: str) -> bool:
    """True if Hermes' registry has our function there, and not another plugin's of the same name."""
    from tools.registry import registry

    from . import plugin

    entry = registry.get_entry(name)
    return entry is not None and entry.handler is plugin.handlers.get(name)


def refusal(name: object) -> str:
    """Returns the text for the model: which tool of ours does the same, if one does, and how to ask for a cap."""
    instead = _INSTEAD.get(name if isinstance(name, str) else "", "")
    use = f'use "{instead}" with one of your caps; ' if instead else ""
    return (
        f'refused (denied): there is no {json.dumps(str(name)[:80])} here, only what caps allow: {use}for a cap that you do not hold ask a person: request {{"cap": "…", "why": "…"}}'
    )
