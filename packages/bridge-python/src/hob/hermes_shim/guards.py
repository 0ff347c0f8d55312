"""An approval session of Hermes: a script gives the commands and the answers of people and of a guardian
model. The real guard decides.

Each line runs in a process that has just started. An approval in one line is gone in the next, except for the
line's own allowlist.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .ops import APART, Fields, Refusal, attribute, hermes, op, text, typed_field
from .queue import Gateway
from .world import over

# The switches of Hermes for the surface that a command comes from.
SURFACES = {
    "cli": {"HERMES_INTERACTIVE": "1"},
    "gateway": {"HERMES_GATEWAY_SESSION": "1"},
    "ask": {"HERMES_EXEC_ASK": "1"},
    "cron": {"HERMES_CRON_SESSION": "1"},
    "silent": {},
}

STEPS = (
    "{command, answer?, session?, env_type?, host_access?}: the guard of the terminal. "
    "{code, answer?, session?}: the guard of execute_code. "
    "{tool, reason, rule_key?, answer?, session?}: a plugin's question (0.19). "
    "{batch: [{command, session?}], answers: [{choice, session?, all?}]}: a gateway's queue; all wait before the first is answered. "
    "{is_approved: key, session?}. {act: yolo | no_yolo | clear, session?}. {set: {what to put over the configuration}}"
)


@op(
    "guard",
    {
        "steps": f"a list. {STEPS}",
        "surface?": f"{', '.join(SURFACES)} (cli)",
        "mode?": "approvals.mode: manual, smart, off (manual)",
        "cron_mode?": "approvals.cron_mode",
        "yolo?": "true: HERMES_YOLO_MODE is set when Hermes starts",
        "allowlist?": "command_allowlist when Hermes starts",
        "guardian?": "what the guardian model answers in smart mode, in order (then ESCALATE); null: the call fails",
        "notify?": "gateway: none (nobody is connected), raises (the message cannot be sent)",
    },
    "{steps: [{approved, asked: [{command, description, answer}], result}], allowlist, guardian: [what it was asked]}; "
    "result is the guard's own answer. An answer null: nobody answers (in a terminal the prompt fails, in a gateway it times out)",
    where=APART,
    modules=("tools.approval", "hermes_cli.config"),
)
def guard(fields: Fields) -> Any:
    """Runs the steps of a line in order. Returns `{steps, allowlist, guardian}`. Raises `Refusal` if a field or a step
    is wrong."""
    steps = typed_field(fields, "steps", list)
    surface = text(fields, "surface", "cli")
    if surface not in SURFACES:
        raise Refusal("bad-input", f'field "surface" must be one of {", ".join(SURFACES)}')
    os.environ.update(SURFACES[surface])
    if typed_field(fields, "yolo", bool, False):
        os.environ["HERMES_YOLO_MODE"] = "1"
    approvals = {name: fields[field] for name, field in (("mode", "mode"), ("cron_mode", "cron_mode")) if field in fields}
    allowed = {"command_allowlist": typed_field(fields, "allowlist", list)} if "allowlist" in fields else {}
    _configure({"approvals": approvals, **allowed})
    # After the environment and the configuration, because Hermes reads some of both at import.
    asked_guardian = _guardian(typed_field(fields, "guardian", list, []))
    approval = hermes("tools.approval")
    if hasattr(approval, "load_permanent_allowlist"):
        approval.load_permanent_allowlist()
    session = Session(approval, surface in ("gateway", "ask"), text(fields, "notify", "sends"))
    done = [session.step(step) for step in steps]
    session.gateway.close()
    config = hermes("hermes_cli.config").load_config()
    return {"steps": done, "allowlist": sorted(config.get("command_allowlist") or []), "guardian": asked_guardian}


def _configure(more: dict[str, Any]) -> None:
    file = Path(os.environ["HERMES_HOME"]) / "config.yaml"
    hermes_yaml = hermes("yaml")
    file.write_text(json.dumps(over(hermes_yaml.safe_load(file.read_text()) or {}, more)))


def _guardian(answers: list[Any]) -> list[str]:
    """Replaces the module that would call a model by one that answers from the script. Returns the list of
    its questions."""
    asked: list[str] = []
    left = list(answers)

    def call_llm(*_: Any, messages: list[dict[str, Any]] | None = None, **__: Any) -> Any:
        asked.append("\n".join(str(each.get("content", "")) for each in messages or []))
        answer = left.pop(0) if left else "ESCALATE"
        if answer is None:
            raise RuntimeError("the guardian cannot be reached")
        message = types.SimpleNamespace(content=answer)
        return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message)])

    stub: Any = types.ModuleType("agent.auxiliary_client")
    stub.call_llm = call_llm
    sys.modules["agent.auxiliary_client"] = stub
    return asked


class Session:
    """The people of one line: one at a terminal, or several behind a gateway."""

    def __init__(self, approval: Any, queued: bool, notify: str) -> None:
        self.approval = approval
        self.queued = queued
        self.gateway = Gateway(approval, notify)

    def step(self, step: Any) -> Any:
        """Runs one step and returns its verdict. Raises `Refusal` if the step is wrong or this version of Hermes
        lacks it."""
        if not isinstance(step, dict):
            raise Refusal("bad-input", "a step is an object")
        name = text(step, "session", "s1")
        if "act" in step:
            return self._act(text(step, "act"), name)
        if "is_approved" in step:
            return {"approved": self.approval.is_approved(name, text(step, "is_approved"))}
        if "set" in step:
            _configure(typed_field(step, "set", dict))
            return {}
        if "batch" in step:
            return self._batch(step)
        asking = self._question(step)
        if not self.queued:
            return self._at_terminal(asking, name, step.get("answer", "deny"))
        answers = [{"choice": step["answer"]}] if step.get("answer") is not None else []
        said = self.gateway.run([(name, asking(None))], [{**each, "session": name} for each in answers])
        return _told(said["results"][0], [{**each, "answer": step.get("answer")} for each in said["notified"]])

    def _question(self, step: Fields) -> Callable[[Any], Callable[[], Any]]:
        """Passes the choice of the person to the call of the guard."""
        approval = self.approval
        if "tool" in step:
            request = attribute("tools.approval", "request_tool_approval")
            return lambda person: lambda: request(text(step, "tool"), text(step, "reason"), rule_key=text(step, "rule_key", ""), approval_callback=person)
        if "code" in step:
            return lambda person: lambda: approval.check_execute_code_guard(text(step, "code"), text(step, "env_type", "local"))
        more: dict[str, Any] = {}
        if "host_access" in step:
            if "has_host_access" not in inspect.signature(approval.check_all_command_guards).parameters:
                raise Refusal("not-in-this-version", "the guard of this hermes-agent knows no host access")
            more = {"has_host_access": typed_field(step, "host_access", bool)}
        command, env_type = text(step, "command"), text(step, "env_type", "local")
        return lambda person: lambda: approval.check_all_command_guards(command, env_type, approval_callback=person, **more)

    def _at_terminal(self, asking: Callable[[Any], Callable[[], Any]], name: str, answer: Any) -> Any:
        asked: list[dict[str, Any]] = []

        def person(command: str, description: str, *, allow_permanent: bool = True, **_: Any) -> Any:
            asked.append({"command": command, "description": description, "allow_permanent": allow_permanent, "answer": answer})
            if answer is None:
                raise TimeoutError("nobody answers")
            return answer

        token = self.approval.set_current_session_key(name)
        try:
            return _told(asking(person)(), asked)
        finally:
            self.approval.reset_current_session_key(token)

    def _batch(self, step: Fields) -> Any:
        if not self.queued:
            raise Refusal("bad-input", "a batch waits in a gateway's queue: surface gateway or ask")
        calls = []
        for each in typed_field(step, "batch", list):
            if not isinstance(each, dict):
                raise Refusal("bad-input", "what is in a batch is a step")
            calls.append((text(each, "session", "s1"), self._question(each)(None)))
        said = self.gateway.run(calls, typed_field(step, "answers", list, []))
        return {"results": [_told(each, []) for each in said["results"]], "notified": said["notified"], "resolved": said["resolved"]}

    def _act(self, act: str, name: str) -> Any:
        acts = {"yolo": "enable_session_yolo", "no_yolo": "disable_session_yolo", "clear": "clear_session"}
        if act not in acts:
            raise Refusal("bad-input", f"an act is one of {', '.join(acts)}")
        attribute("tools.approval", acts[act])(name)
        return {}


def _told(result: Any, asked: list[dict[str, Any]]) -> dict[str, Any]:
    approved = result.get("approved") if isinstance(result, dict) else None
    return {"approved": approved, "asked": asked, "result": result}
