"""Approval sessions of the real Hermes: scopes, modes, YOLO, cron, the gateway's queue, and the guardian,
scripted."""

from __future__ import annotations

from typing import Any

from shim import Shim, both

shim = both()

RM = "rm -rf ./x"
RESET = "git reset --hard"


def guard(shim: Shim, *steps: Any, **fields: Any) -> list[Any]:
    said = shim.ask("guard", steps=list(steps), **fields)
    assert "steps" in said, said
    return list(said["steps"])


def outcome(steps: list[Any]) -> list[Any]:
    """`True`/`False` for approved, with a `?` if somebody was asked."""
    return [f"{step['approved']}{'?' if step['asked'] else ''}" for step in steps]


def test_once_is_for_one_command_and_session_for_every_command_of_its_kind(shim: Shim) -> None:
    said = guard(shim, {"command": RM, "answer": "once"}, {"command": RM}, {"command": RM, "answer": "session"}, {"command": "rm -r /etc/x ./other"}, {"command": RESET})
    assert outcome(said)[:3] == ["True?", "False?", "True?"] and outcome(said)[4:] == ["False?"]
    # Seed 000: approvals leak. The key is the kind, so another target of the same kind passes without a
    # question.
    assert outcome(guard(shim, {"command": RM, "answer": "session"}, {"command": "rm -rf ./everything/else"})) == ["True?", "True"]
    assert outcome(guard(shim, {"command": RM, "answer": "session"}, {"command": RM, "session": "s2"})) == ["True?", "False?"]


def test_always_is_stored_by_kind_and_gone_with_the_line(shim: Shim) -> None:
    said = shim.ask("guard", steps=[{"command": RM, "answer": "always"}, {"command": RM, "session": "another"}])
    assert outcome(said["steps"]) == ["True?", "True"] and said["allowlist"] == ["recursive delete"]
    assert "recursive delete" not in (shim.hermes_home / "config.yaml").read_text()
    assert shim.ask("guard", steps=[])["allowlist"] == []
    assert outcome(guard(shim, {"command": RM}, allowlist=["recursive delete"])) == ["True"]


def test_no_answer_counts_as_a_denial(shim: Shim) -> None:
    assert outcome(guard(shim, {"command": RM, "answer": "deny"}, {"command": RM, "answer": None})) == ["False?", "False?"]


def test_hardline_and_yolo_and_off(shim: Shim) -> None:
    rows = [{"command": RM}, {"command": "rm -rf /"}]
    assert outcome(guard(shim, *rows, yolo=True)) == ["True", "False"]
    assert outcome(guard(shim, *rows, mode="off")) == ["True", "False"]
    assert outcome(guard(shim, *rows)) == ["False?", "False"]
    toggled = guard(shim, {"act": "yolo"}, {"command": RM}, {"command": RM, "session": "s2"}, {"act": "no_yolo"}, {"command": RM})
    assert outcome([toggled[1], toggled[2], toggled[4]]) == ["True", "False?", "False?"]
    # A model that can write the configuration turns approvals off in the middle of a session.
    assert outcome(guard(shim, {"set": {"approvals": {"mode": "off"}}}, {"command": RM})[1:]) == ["True"]
    # Commands in a container are not checked at all, not even against the hardline.
    assert outcome(guard(shim, {"command": "rm -rf /", "env_type": "docker"})) == ["True"]


def test_without_a_person_commands_pass_unless_a_cron_job_runs_them(shim: Shim) -> None:
    rows = [{"command": RM}, {"command": "ls"}, {"command": "rm -rf /"}]
    assert outcome(guard(shim, *rows, surface="silent")) == ["True", "True", "False"]
    assert outcome(guard(shim, *rows, surface="cron")) == ["False", "True", "False"]
    assert outcome(guard(shim, *rows, surface="cron", cron_mode="approve")) == ["True", "True", "False"]


def test_the_guardian_is_the_script_and_its_approval_is_for_the_session(shim: Shim) -> None:
    said = shim.ask("guard", mode="smart", guardian=["APPROVE"], steps=[{"command": RM}, {"command": "rm -rf ./y"}])
    assert len(said["guardian"]) >= 1 and RM in said["guardian"][0]
    if shim.version == "0.17.0":  # a judge grants a kind of command
        assert outcome(said["steps"]) == ["True", "True"] and len(said["guardian"]) == 1
    assert outcome(said["steps"])[0] == "True"
    denied = guard(shim, {"command": RM, "answer": "once"}, mode="smart", guardian=["DENY"])
    # 0.17: nobody can overrule it. 0.19: a person may.
    assert outcome(denied) == (["False"] if shim.version == "0.17.0" else ["True?"])
    for unclear in ("APPROVE.", "approve this", "", None):
        assert outcome(guard(shim, {"command": RM}, mode="smart", guardian=[unclear])) == ["False?"], unclear


def test_a_gateways_queue_is_answered_oldest_first(shim: Shim) -> None:
    batch = {"batch": [{"command": RM}, {"command": RESET}], "answers": [{"choice": "once"}, {"choice": "deny"}, {"choice": "once"}]}
    (said,) = guard(shim, batch, surface="gateway")
    assert [each["command"] for each in said["notified"]] == [RM, RESET]
    assert outcome(said["results"]) == ["True", "False"] and said["resolved"] == [1, 1, 0]
    everything = {**batch, "answers": [{"choice": "once", "all": True}]}
    (said,) = guard(shim, everything, surface="ask")
    assert outcome(said["results"]) == ["True", "True"] and said["resolved"] == [2]


def test_a_gateway_that_nobody_answers_or_reaches(shim: Shim) -> None:
    (late,) = guard(shim, {"command": RM, "answer": None}, surface="gateway", config={"approvals": {"gateway_timeout": 1}})
    assert outcome([late]) == ["False?"] and "timed out" in late["result"]["message"]
    (unsent,) = guard(shim, {"command": RM, "answer": "once"}, surface="gateway", notify="raises")
    assert outcome([unsent]) == ["False"]
    (pending,) = guard(shim, {"command": RM, "answer": "once"}, surface="gateway", notify="none")
    assert pending["result"]["status"] == "pending_approval"


def test_code_is_asked_about_in_a_gateway_only(shim: Shim) -> None:
    assert outcome(guard(shim, {"code": "import shutil"})) == ["True"]
    assert outcome(guard(shim, {"code": "import shutil", "answer": "deny"}, surface="gateway")) == ["False?"]


def test_a_plugins_question_where_the_version_has_it(shim: Shim) -> None:
    step = {"tool": "cap_call", "reason": "why", "answer": "once"}
    if shim.version == "0.17.0":
        assert shim.error("guard", steps=[step]) == "not-in-this-version"
        return
    assert outcome(guard(shim, step)) == ["True?"]
    assert outcome(guard(shim, step, yolo=True)) == ["True"]


def test_wrong_steps_are_refused(shim: Shim) -> None:
    for fields in ({"steps": [1]}, {"steps": [{}]}, {"steps": [{"act": "rm"}]}, {"steps": [{"batch": []}]}, {"steps": [], "surface": "tv"}, {"steps": {}}):
        assert shim.error("guard", **fields) == "bad-input", fields
