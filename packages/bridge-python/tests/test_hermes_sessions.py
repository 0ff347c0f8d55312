"""One session of Hob for each session of Hermes: no other session has its grants, and a delegated child
begins with nothing."""

from __future__ import annotations

import json
from typing import Any

import hob
from hermes_world import OURS, World, call, said, says

FOLDER: Any = ("directory", {"uses": 100})

PROGRAM = r"""
import json, sys
from run_agent import AIAgent
import hermes_cli.plugins as plugins

def agent(session, **more):
    return AIAgent(base_url=sys.argv[1], api_key="none", provider="custom", model="scripted", quiet_mode=True, skip_context_files=True, skip_memory=True,
                   enabled_toolsets=["hob"], platform="cli", session_id=session, max_iterations=6, tool_delay=0, **more)

a, b = agent("session-A"), agent("session-B")
a.run_conversation("A begins")
b.run_conversation("B begins")
a.run_conversation("A again", task_id="task-A")
# A long conversation that Hermes shortens goes on under another id, in the same turn.
plugins.invoke_middleware("llm_request", request={}, original_request={}, session_id="session-A2", task_id="task-A", platform="cli")
# A child that was never announced, and what says it is one.
orphan = agent("orphan")
orphan.platform = "subagent"
orphan.run_conversation("an orphan")
plugins.invoke_hook("on_session_finalize", session_id="session-B", platform="cli")
from tools.registry import registry
print("SAID " + json.dumps([registry.dispatch("entries", {"cap": "workspace"}, session_id=each) for each in ("session-B", "never", "", "session-A")]
              + [registry.dispatch("read", {"cap": "extra", "path": "notes.txt"}, session_id="session-A2")]))
"""

MANY = r"""
import json, random
from concurrent.futures import ThreadPoolExecutor
import run_agent
import hermes_cli.plugins as plugins
from tools.registry import registry

names = [f"many-{number}" for number in range(20)]
for name in names:
    plugins.invoke_middleware("llm_request", request={}, original_request={}, session_id=name, task_id=f"task-{name}", platform="cli")
calls = names * 3
random.Random(3).shuffle(calls)
with ThreadPoolExecutor(8) as pool:
    results = list(pool.map(lambda name: registry.dispatch("read", {"cap": "workspace", "path": "notes.txt"}, session_id=name), calls))
print("SAID " + json.dumps(results))
"""


def test_a_grant_of_one_session_is_not_held_by_another(world: World) -> None:
    id_, secret = world.session(workspace=FOLDER, once=("directory", {"scope": "once"}))
    home = world.home(secret)
    with hob.sync.connect_granter(world.host.url, world.host.granter_secret) as granter:

        def grant() -> dict[str, Any]:
            (own,) = [each["id"] for each in granter.sessions() if each["id"].startswith("hermes-session-a-")]
            granter.grant(own, "extra", "directory", uses=5)
            return call("read", cap="extra", path="notes.txt")

        world.model.script("A begins", grant, call("read", cap="once", path="notes.txt"), says("done"))
        world.model.script("B begins", call("read", cap="extra", path="notes.txt"), call("read", cap="once", path="notes.txt"), call("read", cap="workspace", path="notes.txt"), says("done"))
        world.model.script("A again", call("read", cap="extra", path="notes.txt"), says("done"))
        world.model.script("an orphan", call("read", cap="workspace", path="notes.txt"), says("done"))
        results = said(home.python("-c", PROGRAM, world.model.url))
        assert world.model.results("A begins") == [{"result": "notes\n"}] * 2
        extra, once, workspace = world.model.results("B begins")
        assert "no-such-object" in extra["error"] and "You hold: workspace" in extra["error"] and workspace == {"result": "notes\n"}
        # The other session has spent the single use, and a cap that has ended is not delegated.
        assert "no-such-object" in once["error"]
        assert world.model.results("A again") == [{"result": "notes\n"}]
        assert all(names == [] for names in world.model.offered("an orphan")) and "refused (unavailable)" in str(world.model.results("an orphan"))
        left, never, nameless, first, later = (json.loads(each) for each in results)
        assert all("refused (unavailable)" in each["error"] for each in (left, never, nameless)) and "notes.txt" in first["result"]
        assert later == {"result": "notes\n"}
        # Under the configured session, with its caps and nothing of a granter.
        names = [each["id"] for each in granter.sessions()]
        assert sum(name.startswith("hermes-session-") for name in names) == 2 and id_ in names


def test_a_delegated_child_begins_with_nothing(world: World) -> None:
    id_, secret = world.session(workspace=FOLDER)
    home = world.home(secret, platform_toolsets={"cli": ["hob", "delegation", "no_mcp"]})
    home.config["plugins"]["entries"]["hob"]["allow"] = ["delegate_task"]
    world.model.script("hand it on", call("read", cap="workspace", path="notes.txt"), call("delegate_task", goal="look around for me"), says("all done"))
    world.model.script(
        "look around for me",
        call("read", cap="workspace", path="notes.txt"),
        call("entries", cap="workspace"),
        call("run", cap="sh", command="id"),
        call("terminal", command="touch made"),
        call("delegate_task", goal="and you for me"),
        says("it had nothing"),
    )
    done = home.hermes("-z", "hand it on")
    assert "all done" in done.stdout, done.stderr
    assert world.model.offered("hand it on") == [sorted([*OURS, "delegate_task"])] * 3
    assert {tuple(names) for names in world.model.offered("look around for me")} == {tuple(OURS)}
    read, entries, ran, *foreign = world.model.results("look around for me")
    assert all("no-such-object" in str(each) and "You hold: nothing" in str(each) for each in (read, entries, ran))
    assert all("does not exist" in str(each) for each in foreign) and home.is_untouched()
    lines = world.host.do("ledger")
    (child,) = [line for line in lines if line["k"] == "session" and line["what"] == "open" and line["session"].startswith("child-") and id_ in line["chain"]]
    assert child["parent"].startswith("hermes-") and child["chain"].count(">") == 2
    assert not [line for line in lines if line["k"] == "grant" and line["session"] == child["session"]]


def test_twenty_sessions_of_one_hermes_do_their_calls_and_nothing_is_left_of_them_after_it(world: World) -> None:
    id_, secret = world.session(workspace=FOLDER)
    results = said(world.home(secret).python("-c", MANY))
    assert [json.loads(each) for each in results] == [{"result": "notes\n"}] * 60

    def of(lines: list[dict[str, Any]], what: str) -> set[str]:
        return {line["session"] for line in lines if line["k"] == "session" and line["what"] == what}

    lines = world.host.do("ledger")
    family = {line["session"] for line in lines if line["k"] == "session" and line.get("parent") == id_}
    assert len(family) == 20
    whose = {line["grant"]: line["session"] for line in lines if line["k"] == "grant"}
    called = [whose[line["grant"]] for line in lines if line["k"] == "call" and "grant" in line]
    assert {each: called.count(each) for each in family} == dict.fromkeys(family, 3)
    # The process has ended: no connection is left, and after the grace time no session.
    world.host.until(lambda _lines: not [each for each in world.host.do("connections") if each["session"] in {*family, id_}])
    world.host.do("sleep", 601)
    world.host.until(lambda lines: {*family, id_} <= of(lines, "end"))
