"""Whole turns of the real Hermes: a model uses the caps it holds and is refused others, while a person grants
and revokes."""

from __future__ import annotations

import json
import re
import time
from itertools import groupby
from typing import Any

from hermes_world import AMBIENT, OURS, TRIES, Meanwhile, World, call, grant_of, person, says
from host_process import LONG

FOLDER: Any = ("directory", {"uses": 100})


def test_a_model_reads_edits_runs_asks_and_loses_what_a_person_takes_and_has_nothing_else(world: World) -> None:
    host = world.host
    host.do("shell")
    id_, secret = world.session(workspace=FOLDER, sh=("shell", {"uses": 5}))
    home = world.home(secret)
    meanwhile = Meanwhile(host)

    def a_person_stops_it() -> None:
        end = time.monotonic() + LONG
        while not (host.root / "started").exists():
            assert time.monotonic() < end, "it was not started"
            time.sleep(0.05)
        # The grant of the session of Hermes, not of its parent.
        person(host, "revoke", grant_of(host, "sh"))

    def runs_on() -> dict[str, Any]:
        meanwhile.does(a_person_stops_it)
        return call("run", cap="sh", command="touch /ws/started; sleep 200")

    world.model.script(
        "do the work",
        call("entries", cap="workspace"),
        call("read", cap="workspace", path="notes.txt"),
        call("write", cap="workspace", path="new.txt", text="one two\n"),
        call("edit", cap="workspace", path="new.txt", old="two", new="three"),
        call("search", cap="workspace", text="three"),
        call("run", cap="sh", command="wc -c < /ws/new.txt"),
        call("read", cap="workspace", path="../state/host.json"),
        call("read", cap="workspace", path="/etc/passwd"),
        call("read", cap="deploy-key", path="a"),
        meanwhile.says_yes(call("request", cap="directory", why="to look once more", uses=5)),
        call("read", cap="directory", path="notes.txt"),
        meanwhile.revokes(lambda: grant_of(host, "directory"), call("read", cap="directory", path="notes.txt")),
        runs_on,
        TRIES,
        says("all done"),
    )
    done = home.chat("do the work")
    meanwhile.is_over()
    assert done.returncode == 0 and "all done" in done.stdout, done.stderr
    assert {tuple(names) for names in world.model.offered("do the work")} == {tuple(OURS)}
    results = world.model.results("do the work")
    names, text, written, edited, found, ran, above, absolute, missing, granted, again, revoked, stopped, *ambient = results
    assert names["result"].split("\n") == ["big.bin", "notes.txt", "src"] and text == {"result": "notes\n"}
    assert "version" in written["result"] and "+one three" in edited["result"] and "new.txt" in found["result"]
    assert json.loads(ran["result"])["stdout"] == "10\n"
    assert "PATH_ESCAPES" in above["error"] and "PATH_ABSOLUTE" in absolute["error"] and "request {" in above["error"]
    assert "no-such-object" in str(missing) and 'request {\\"cap\\": \\"deploy-key\\"' in str(missing)
    assert "You hold: directory, sh, workspace" in granted["result"] and again == {"result": "notes\n"}
    assert "refused (revoked)" in revoked["error"] and "request {" in revoked["error"]
    assert "refused (revoked)" in str(stopped)
    assert len(ambient) == len(AMBIENT) and all("does not exist" in str(each) for each in ambient)
    # The effects are on the disk and in the ledger.
    assert (host.root / "new.txt").read_text() == "one three\n" and home.is_untouched()
    assert host.do("verify")["ok"] is True
    lines = host.do("ledger")
    (session,) = {line["session"] for line in lines if line["k"] == "session" and line.get("parent") == id_}
    grants = {line["grant"]: line["petname"] for line in lines if line["k"] == "grant" and line["session"] == session}
    assert session.startswith("hermes-") and set(grants.values()) == {"workspace", "sh", "directory"}
    trail = [
        (line["k"], grants.get(line.get("grant"), ""), line.get("method", line.get("asks", "")), line.get("code", ""))
        for line in lines
        if line.get("grant") in grants or line["k"] == "request"
    ]
    # A program that is stopped has two lines: one of the job, one of the call.
    assert [each for each, _ in groupby(each for each in trail if each[0] != "grant")] == [
        ("call", "workspace", "list", ""),
        ("call", "workspace", "readText", ""),
        ("call", "workspace", "write", ""),
        ("call", "workspace", "edit", ""),
        ("call", "workspace", "search", ""),
        ("call", "sh", "run", ""),
        ("result", "sh", "run", "exit"),
        ("call", "workspace", "readText", ""),
        ("result", "workspace", "readText", "PATH_ESCAPES"),
        ("call", "workspace", "readText", ""),
        ("result", "workspace", "readText", "PATH_ABSOLUTE"),
        ("request", "", "directory", ""),
        ("approve", "directory", "", ""),
        ("call", "directory", "readText", ""),
        ("revoke", "directory", "", ""),
        ("refuse", "directory", "readText", "revoked"),
        ("call", "sh", "run", ""),
        ("revoke", "sh", "", ""),
        ("result", "sh", "run", "revoked"),
    ]
