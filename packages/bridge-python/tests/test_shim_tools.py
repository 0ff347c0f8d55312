"""The real terminal and file tools of Hermes, on harmless commands in a directory of the test."""

from __future__ import annotations

import os
import time
from typing import Any

from shim import Shim, both

shim = both()


def tool(shim: Shim, name: str, /, answer: str = "deny", **args: Any) -> Any:
    return shim.ask("tool", name=name, args=args, answer=answer)


def test_files_are_written_read_edited_and_found(shim: Shim) -> None:
    wrote = tool(shim, "write_file", path="sub/a.txt", content="one\ntwo\n")["result"]
    assert wrote["bytes_written"] == 8 and (shim.work / "sub/a.txt").read_text() == "one\ntwo\n"
    read = tool(shim, "read_file", path=str(shim.work / "sub/a.txt"))["result"]
    assert read["content"].startswith("1|one\n2|two")
    # Without the switch, a second read has the content too.
    assert tool(shim, "read_file", path=str(shim.work / "sub/a.txt"))["result"] == read
    again = shim.ask("tool", name="read_file", args={"path": str(shim.work / "sub/a.txt")}, dedup=True)
    assert again["result"]["status"] == "unchanged"
    assert tool(shim, "patch", mode="replace", path="sub/a.txt", old_string="one", new_string="ONE")["result"]["success"]
    assert (shim.work / "sub/a.txt").read_text() == "ONE\ntwo\n"
    assert "ONE" in str(tool(shim, "search_files", pattern="ONE", path=str(shim.work))["result"])


def test_commands_run_and_the_world_keeps_its_state(shim: Shim) -> None:
    assert tool(shim, "terminal", command="exit 3")["result"]["exit_code"] == 3
    tool(shim, "terminal", command="mkdir -p deep && cd deep && export WORD=kept")
    assert tool(shim, "terminal", command="echo $WORD; pwd")["result"]["output"].split() == ["kept", str(shim.work / "deep")]
    tool(shim, "terminal", command=f"cd {shim.work}")


def test_after_the_end_a_command_begins_where_the_first_did(shim: Shim) -> None:
    tool(shim, "terminal", command="mkdir -p away && cd away && export WORD=kept")
    assert shim.ask("end") == {"ended": True}
    assert tool(shim, "terminal", command="echo [$WORD]; pwd")["result"]["output"].split() == ["[]", str(shim.work)]


def test_the_end_of_the_session_ends_its_shell_its_jobs_and_its_approvals(shim: Shim) -> None:
    (shim.work / "again").mkdir(exist_ok=True)
    tool(shim, "terminal", answer="session", command="cd again; export WORD=kept; rm -rf ./none")
    job = tool(shim, "terminal", command="sleep 300", background=True)["result"]["pid"]
    assert tool(shim, "terminal", command="echo $WORD; rm -rf ./none")["asked"] == [] and runs(job)
    assert shim.ask("end") == {"ended": True}
    after = tool(shim, "terminal", command="echo =$WORD; pwd")
    assert after["result"]["output"].split() == ["=", str(shim.work)]
    assert tool(shim, "terminal", command="rm -rf ./none")["result"]["status"] == "blocked"
    until = time.monotonic() + 120
    while runs(job) and time.monotonic() < until:
        time.sleep(0.01)
    assert not runs(job)


def runs(pid: int) -> bool:
    """True if the process lives and is not a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_hermes_asks_and_follows_the_answer(shim: Shim) -> None:
    (shim.work / "gone").mkdir(exist_ok=True)
    denied = tool(shim, "terminal", command="rm -rf ./gone")
    assert denied["asked"] == [{"command": "rm -rf ./gone", "description": "recursive delete", "answer": "deny"}]
    assert denied["result"]["status"] == "blocked" and (shim.work / "gone").is_dir()
    allowed = tool(shim, "terminal", answer="once", command="rm -rf ./gone")
    assert allowed["result"]["exit_code"] == 0 and not (shim.work / "gone").exists()


def test_a_command_that_no_pattern_matches_runs_without_a_question(shim: Shim) -> None:
    # The indirect way of seed 000, and an interpreter: no pattern matches these words together.
    for name, command in [("xargs", "echo ./xargs | xargs -n1 rmdir"), ("variable", "R=rm; $R -r ./variable"), ("unlink", "find . -name unlink -exec rmdir {} +")]:
        (shim.work / name).mkdir(exist_ok=True)
        done = tool(shim, "terminal", command=command)
        assert done["asked"] == [] and not (shim.work / name).exists(), (command, done)


def test_a_protected_file_is_not_written_and_the_user_who_may_read_a_file_reads_it(shim: Shim) -> None:
    denied = tool(shim, "write_file", path=str(shim.home / ".ssh/authorized_keys"), content="x")["result"]
    assert "denied" in denied["error"] and not (shim.home / ".ssh/authorized_keys").exists()
    outside = shim.root / "outside.txt"
    outside.write_text("not in the work directory\n")
    assert "not in the work" in tool(shim, "read_file", path=os.path.relpath(outside, shim.work))["result"]["content"]


def test_code_runs(shim: Shim) -> None:
    code = f"from hermes_tools import write_file\nwrite_file('{shim.work}/by-code.txt', 'x')\nprint('ran')"
    assert "ran" in str(tool(shim, "execute_code", code=code)["result"])
    assert (shim.work / "by-code.txt").exists()


def test_a_name_that_is_no_tool_here_is_refused(shim: Shim) -> None:
    for name in ("web_search", "delegate_task", "nosuch", "Terminal"):
        assert shim.error("tool", name=name, args={}) == "bad-input"
