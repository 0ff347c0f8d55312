"""The other verdicts of the real Hermes: shell hooks, loops, edits under an editor, and the callers of the
path validator."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from shim import Shim, both

shim = both()


# ------------------------------------------------------------------------------------------------------------- hooks


def hooked(shim: Shim, script: str, **more: Any) -> Any:
    file = shim.root / "hook.sh"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    entry = {"command": str(file), "matcher": "terminal"}
    payload = {"tool_name": "terminal", "args": {"command": "kubectl delete pod my-pod"}, "session_id": "sess_abc123"}
    return shim.ask("hook", **{"hooks": {"pre_tool_call": [entry]}, "event": "pre_tool_call", "payload": payload, "accept": True, **more})


def test_a_hook_of_seed_003_blocks_with_its_message(shim: Shim) -> None:
    block = 'echo \'{"action": "block", "message": "kubectl delete is not allowed in this project"}\''
    assert hooked(shim, block)["blocked"] == "kubectl delete is not allowed in this project"
    assert hooked(shim, block, payload={"tool_name": "read_file", "args": {}})["blocked"] is None
    saw = json.loads(hooked(shim, 'cat > seen.json; echo "{}"') and (shim.work / "seen.json").read_text())
    assert (saw["hook_event_name"], saw["tool_input"]["command"], saw["session_id"]) == ("pre_tool_call", "kubectl delete pod my-pod", "sess_abc123")


def test_a_hook_that_fails_lets_the_call_go_on(shim: Shim) -> None:
    for script in ("exit 1", "kill -9 $$", "echo not json", 'echo \'{"action": "BLOCK", "message": "no"}\'', 'echo log; echo \'{"action": "block"}\''):
        assert hooked(shim, script)["blocked"] is None, script
    assert shim.ask("hook_answer", event="pre_tool_call", stdout='{"decision": "block", "reason": "no"}')["says"]["message"] == "no"


def test_the_form_of_the_seed_configures_nothing_and_nobody_there_is_no_consent(shim: Shim) -> None:
    nested = {"pre_tool_call": {"terminal": ["~/scripts/security-check.py"]}}
    assert shim.ask("hook", hooks=nested, accept=True) == {"configured": [], "registered": []}
    assert hooked(shim, "echo '{}'", accept=False)["registered"] == []


# ------------------------------------------------------------------------------------------------------------- loops


def rails(shim: Shim, *calls: Any, **settings: Any) -> list[str]:
    said = shim.ask("guardrail", calls=list(calls), **({"settings": settings} if settings else {}))
    return [(each.get("after") or each.get("before") or {"code": "turn"})["code"] for each in said["calls"]]


FAILS = {"tool": "terminal", "args": {"command": "x"}, "result": "no", "failed": True}
READS = {"tool": "read_file", "args": {"path": "a"}, "result": "same", "failed": False}


def test_seed_003_says_that_loops_are_stopped_and_hermes_only_warns(shim: Shim) -> None:
    warned = "repeated_exact_failure_warning"
    assert rails(shim, *[FAILS] * 9) == ["allow", *[warned] * 8]
    stopped = rails(shim, *[FAILS] * 7, hard_stop_enabled=True)
    assert stopped[:5] == ["allow", *[warned] * 4] and stopped[5:] == ["repeated_exact_failure_block"] * 2
    others = [{**FAILS, "args": {"command": str(index)}} for index in range(9)]
    assert rails(shim, *others)[2] == "same_tool_failure_warning"
    assert rails(shim, *others, hard_stop_enabled=True)[7] == "same_tool_failure_halt"


def test_reading_the_same_again_is_no_progress_until_the_user_speaks(shim: Shim) -> None:
    again = "idempotent_no_progress_warning"
    assert rails(shim, READS, READS, {"turn": True}, READS) == ["allow", again, "turn", "allow"]
    assert rails(shim, READS, {**READS, "result": "other"}, READS) == ["allow"] * 3
    blocked = shim.ask("guardrail", calls=[READS] * 6, settings={"hard_stop_enabled": True})
    assert blocked["calls"][5]["executed"] is False and blocked["halted"]["code"] == "idempotent_no_progress_block"
    assert "guardrail" in json.loads(blocked["calls"][5]["content"])


# ------------------------------------------------------------------------------------------------------------- edits


def test_an_editor_sees_the_change_and_decides(shim: Shim) -> None:
    (shim.work / "old.txt").write_text("one\n")
    args = {"path": str(shim.work / "old.txt"), "content": "two\n"}
    denied = shim.ask("acp_edit", tool="write_file", args=args)
    assert denied["proposal"] == {"path": args["path"], "old_text": "one\n", "new_text": "two\n"}
    assert denied["asked"] and "denied" in denied["refused"]
    assert shim.ask("acp_edit", tool="write_file", args=args, answer=True)["refused"] is None
    assert "denied" in shim.ask("acp_edit", tool="write_file", args=args, answer=None)["refused"]
    automatic = shim.ask("acp_edit", tool="write_file", args=args, policy="workspace_session", cwd=str(shim.work))
    assert automatic["automatic"] and not automatic["asked"] and automatic["refused"] is None
    assert (shim.work / "old.txt").read_text() == "one\n"


def test_what_an_editor_is_not_shown(shim: Shim) -> None:
    for tool in ("terminal", "execute_code", "skill_manage"):
        assert shim.ask("acp_edit", tool=tool, args={"command": "x"})["proposal"] is None
    whole = {"mode": "patch", "patch": "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch"}
    assert (shim.ask("acp_edit", tool="patch", args=whole)["proposal"] is None) is (shim.version == "0.17.0")
    # A link with a harmless name to a file that always needs a question.
    (shim.work / ".env").write_text("")
    if not (shim.work / "harmless").is_symlink():
        os.symlink(".env", shim.work / "harmless")
    for name, automatic in ((".env", False), ("harmless", True)):
        args = {"path": str(shim.work / name), "content": "x"}
        assert shim.ask("acp_edit", tool="write_file", args=args, policy="session")["automatic"] is automatic


# ----------------------------------------------------------------------------------------------------------- callers

# caller, where its paths start (below HERMES_HOME), a path that it takes
CALLERS = [
    ("skill_write", "skills/probe", "references/a.md"),
    ("skill_view", "skills/probe", "references/a.md"),
    ("cron_script", "scripts", "job.py"),
    ("credential_file", "", "token.json"),
    ("credential_config", "", "token.json"),
]


@pytest.mark.parametrize(("caller", "below", "good"), CALLERS, ids=[row[0] for row in CALLERS])
def test_the_five_callers_of_the_validator(shim: Shim, caller: str, below: str, good: str) -> None:
    root = shim.hermes_home / below
    shim.ask("caller", caller="skill_view", path="SKILL.md")  # makes the skill
    (root / good).parent.mkdir(parents=True, exist_ok=True)
    (root / good).write_text("mine")
    (shim.root / "outside.md").write_text("not yours")
    link = (root / good).parent / "link.md"
    if not link.is_symlink():
        os.symlink(shim.root / "outside.md", link)
    up = os.path.relpath(shim.root / "outside.md", root)

    def allowed(path: str) -> bool:
        return bool(shim.ask("caller", caller=caller, path=path)["allowed"])

    assert allowed(good)
    for path in (up, str(shim.root / "outside.md"), os.path.relpath(link, root)):
        assert not allowed(path), path
    assert (shim.root / "outside.md").read_text() == "not yours"
    assert shim.error("caller", caller="nobody", path="x") == "bad-input"
