"""The real terminal and file tools of Hermes. They execute the calls of a model in this world.

They run with the rights of this process. Outside a sandbox, run only commands that are harmless to this user.
A person at the prompt gives the answers of the script, and otherwise denies.
"""

from __future__ import annotations

import json
import os
from typing import Any

from .ops import END, WORLD, Fields, Refusal, hermes, op, text, typed_field

# The tools that need nothing but this machine. The others of Hermes are not used here.
EXECUTED = ("terminal", "process", "read_file", "write_file", "patch", "search_files", "execute_code")
SESSION = "shim"
MODULES = ("tools.terminal_tool", "tools.file_tools", "tools.code_execution_tool", "tools.approval")

_ready: set[str] = set()


@op(
    "tool",
    {
        "name": f"one of {', '.join(EXECUTED)}",
        "args": "its arguments, an object",
        "answer?": "what the person answers to each prompt of this line: once, session, always, deny (deny)",
        "task?": "the task, which has a working directory of its own (default)",
        "dedup?": "true: an unchanged file that was read before is not read again, as in a session of Hermes (false)",
    },
    "{result, asked: [{command, description, answer}]}: result is what the model would get, parsed; state (cwd, exports, session approvals) stays for the next line",
    where=WORLD,
    modules=MODULES,
)
def tool(fields: Fields) -> Any:
    """Executes a call of a model and returns `{result, asked}`. Raises `Refusal` if a field is wrong or the tool is not
    in `EXECUTED`."""
    name, args = text(fields, "name"), typed_field(fields, "args", dict)
    answer, task = text(fields, "answer", "deny"), text(fields, "task", "default")
    if name not in EXECUTED:
        raise Refusal("bad-input", f"the tools are {', '.join(EXECUTED)}")
    terminal = _set_up(task)
    asked: list[dict[str, Any]] = []

    def person(command: str, description: str, **_: Any) -> str:
        asked.append({"command": command, "description": description, "answer": answer})
        return answer

    terminal.set_approval_callback(person)
    if not typed_field(fields, "dedup", bool, False):
        hermes("tools.file_tools").reset_file_dedup(task)
    said = hermes("tools.registry").registry.dispatch(name, args, task_id=task, session_id=SESSION)
    try:
        result = json.loads(said)
    except (TypeError, ValueError):  # search_files appends a hint to its JSON
        result = said
    return {"result": result, "asked": asked}


@op("end", {}, "{ended}: the session ends: its shells, what it left running, what was approved; the next tool line begins a new one", where=END)
def end(_: Fields) -> Any:
    """Returns `{ended: True}`. The server has ended the process of the world before it calls this."""
    return {"ended": True}


def _set_up(task: str) -> Any:
    os.environ["HERMES_INTERACTIVE"] = "1"
    terminal = hermes("tools.terminal_tool")
    for module in MODULES:
        hermes(module)
    hermes("tools.approval").set_current_session_key(SESSION)
    if task not in _ready:
        terminal.register_task_env_overrides(task, {"cwd": os.environ["TERMINAL_CWD"]})
        _ready.add(task)
    return terminal
