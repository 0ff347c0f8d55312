"""Hermes' guard against loops: its verdict before and after each call of a sequence."""

from __future__ import annotations

from typing import Any

from .ops import Fields, Refusal, hermes, op, text, typed_field


@op(
    "guardrail",
    {
        "calls": "a list of {tool, args, result?, failed?}, or {turn: true} where the user speaks; result is the text that the tool answered",
        "settings?": "the section tool_loop_guardrails of the configuration",
    },
    "{calls: [{before, executed, after?, content?}], halted}: before and after are {action, code, message, count, …}; content is what the model would get",
)
def guardrail(fields: Fields) -> Any:
    """Runs a sequence of calls past the guard. Returns `{calls, halted}`. Raises `Refusal` if a field or
    a call is wrong."""
    rails = hermes("agent.tool_guardrails")
    controller = rails.ToolCallGuardrailController(rails.ToolCallGuardrailConfig.from_mapping(fields.get("settings")))
    done = []
    for call in typed_field(fields, "calls", list):
        if not isinstance(call, dict):
            raise Refusal("bad-input", "a call is an object")
        done.append(_one(rails, controller, call))
    halted = controller.halt_decision
    return {"calls": done, "halted": halted.to_metadata() if halted else None}


def _one(rails: Any, controller: Any, call: Fields) -> Any:
    if call.get("turn"):
        controller.reset_for_turn()
        return {}
    tool, args, result = text(call, "tool"), call.get("args", {}), text(call, "result", "")
    before = controller.before_call(tool, args)
    if not before.allows_execution:
        return {"before": before.to_metadata(), "executed": False, "content": rails.toolguard_synthetic_result(before)}
    failed = typed_field(call, "failed", bool) if "failed" in call else None
    after = controller.after_call(tool, args, result, failed=failed)
    return {"before": before.to_metadata(), "executed": True, "after": after.to_metadata(), "content": rails.append_toolguard_guidance(result, after)}
