"""Shell hooks: which hooks of a configuration Hermes accepts, which it may run, and what their answers lead
to."""

from __future__ import annotations

from typing import Any

from .ops import APART, Fields, Refusal, hermes, op, text, typed_field


@op(
    "hook",
    {
        "hooks": "the section hooks of a configuration",
        "event?": "fires it, with payload",
        "payload?": "the arguments of the event, an object (tool_name, args, session_id, …)",
        "accept?": "true: the user has agreed to the hooks beforehand (false: nobody is there to agree)",
    },
    "{configured: [{event, command, matcher, timeout}], registered: [command], says?: [answer], blocked?: message}: with a pre_tool_call, whether it is blocked. The programs do run",
    where=APART,
    modules=("agent.shell_hooks", "hermes_cli.plugins"),
)
def hook(fields: Fields) -> Any:
    """Returns the hooks that Hermes reads from the configuration, and those that it registers. With `event`, fires it
    and adds `blocked` or `says`. Raises `Refusal` if a field is wrong."""
    if "hooks" not in fields:
        raise Refusal("bad-input", 'field "hooks" is missing')
    shell = hermes("agent.shell_hooks")
    # A consent in an earlier line does not count here.
    shell.allowlist_path().unlink(missing_ok=True)
    config = {"hooks": fields["hooks"]}
    configured = shell.iter_configured_hooks(config)
    registered = shell.register_from_config(config, accept_hooks=typed_field(fields, "accept", bool, False))
    verdict: dict[str, Any] = {
        "configured": [{name: getattr(each, name) for name in ("event", "command", "matcher", "timeout")} for each in configured],
        "registered": [each.command for each in registered],
    }
    if "event" not in fields:
        return verdict
    event, payload = text(fields, "event"), typed_field(fields, "payload", dict, {})
    plugins = hermes("hermes_cli.plugins")
    if event == "pre_tool_call":
        told = {name: payload[name] for name in ("task_id", "session_id", "tool_call_id") if name in payload}
        return {**verdict, "blocked": plugins.get_pre_tool_call_block_message(text(payload, "tool_name"), payload.get("args"), **told)}
    return {**verdict, "says": plugins.get_plugin_manager().invoke_hook(event, **payload)}


@op("hook_answer", {"event": "the event", "stdout": "what the program printed"}, "{says}: what Hermes makes of it; null: nothing")
def hook_answer(fields: Fields) -> Any:
    """Returns what Hermes reads from the output of a hook's program, as `{says}`. Raises `Refusal`."""
    return {"says": hermes("agent.shell_hooks")._parse_response(text(fields, "event"), text(fields, "stdout"))}
