"""Hermes for an editor (ACP), with Hob in it: whole turns of the real one, and its remaining tools if Hob is
broken."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest
from acp_editor import Editor
from hermes_env import hermes
from hermes_world import AMBIENT, FINDER, OURS, TRIES, VERSION, Home, Meanwhile, World, call, configured, grant_of, says
from host_process import LONG, HostProcess

FOLDER: Any = ("directory", {"uses": 100})
SERVER = """
from mcp.server.fastmcp import FastMCP
server = FastMCP("extra")
@server.tool()
def touch(path: str) -> str:
    open(path, "w").close()
    return "made"
server.run()
"""


def results(world: World, prompt: str) -> list[Any]:
    """Returns the results of its calls. The last request may be one for a title."""
    *_, last = sorted(world.model.of(prompt), key=lambda body: len(body["messages"]))
    return [parsed(message["content"]) for message in last["messages"] if message["role"] == "tool"]


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def test_an_editors_model_reads_edits_asks_and_loses_what_a_person_takes_and_has_nothing_else(world: World) -> None:
    host = world.host
    id_, secret = world.session(workspace=FOLDER)
    home = world.home(secret)
    meanwhile = Meanwhile(host)

    world.model.script(
        "in the editor",
        call("entries", cap="workspace"),
        call("read", cap="workspace", path="notes.txt"),
        call("write", cap="workspace", path="acp.txt", text="one two\n"),
        call("edit", cap="workspace", path="acp.txt", old="two", new="three"),
        call("read", cap="workspace", path="../state/host.json"),
        call("read", cap="workspace", path="/etc/passwd"),
        meanwhile.says_yes(call("request", cap="directory", why="to look once more", uses=5)),
        call("read", cap="directory", path="notes.txt"),
        meanwhile.revokes(lambda: grant_of(host, "directory"), call("read", cap="directory", path="notes.txt")),
        TRIES,
        says("all done"),
    )
    editor = Editor(home)
    session = editor.session(str(home.work))
    assert editor.prompt(session, "in the editor")["stopReason"] == "end_turn"
    meanwhile.is_over()
    # A second session brings a server of tools and has caps of its own.
    world.model.script("with a server", call("mcp__extra__touch", path=str(home.work / "made")), call("read", cap="workspace", path="acp.txt"), TRIES, says("done"))
    script = home.folder / "server.py"
    script.write_text(SERVER)
    second = editor.session(str(home.work), {"name": "extra", "command": hermes(VERSION), "args": [str(script)], "env": []})
    assert editor.prompt(second, "with a server")["stopReason"] == "end_turn"
    code, said = editor.end()
    assert code == 0, said

    for prompt in ("in the editor", "with a server"):
        # After a turn Hermes asks for a title, without tools.
        assert {tuple(offered) for offered in world.model.offered(prompt)} - {()} == {tuple(OURS)}, said
    names, text, written, edited, above, absolute, granted, again, revoked, *ambient = results(world, "in the editor")
    assert {"big.bin", "notes.txt", "src"} <= set(names["result"].split("\n")) and text == {"result": "notes\n"}
    assert "version" in written["result"] and "+one three" in edited["result"]
    assert "PATH_ESCAPES" in above["error"] and "PATH_ABSOLUTE" in absolute["error"]
    assert "You hold: directory, workspace" in granted["result"] and again == {"result": "notes\n"}
    assert "refused (revoked)" in revoked["error"]
    touched, read, *more = results(world, "with a server")
    assert read == {"result": "one three\n"}
    for refused in (touched, *ambient, *more):
        assert re.search(r"does not exist|refused \(denied\)", str(refused)), refused
    assert len(ambient) == len(more) == len(AMBIENT)
    assert editor.asked == [] and home.is_untouched()
    assert (host.root / "acp.txt").read_text() == "one three\n"
    # Each session of the editor has one of Hob, under the configured one.
    lines = host.do("ledger")
    sessions = [line["session"] for line in lines if line["k"] == "session" and line.get("parent") == id_]
    assert len(sessions) == 2 and all(each.startswith("hermes-") for each in sessions)
    grants = {line["grant"]: line["petname"] for line in lines if line["k"] == "grant" and line["session"] in sessions}
    trail = [(line["k"], grants[line["grant"]], line.get("method", "")) for line in lines if line.get("grant") in grants and line["k"] != "grant"]
    assert [each for each in trail if each[0] in ("call", "refuse", "revoke")] == [
        ("call", "workspace", "list"),
        ("call", "workspace", "readText"),
        ("call", "workspace", "write"),
        ("call", "workspace", "edit"),
        ("call", "workspace", "readText"),
        ("call", "workspace", "readText"),
        ("call", "directory", "readText"),
        ("revoke", "directory", ""),
        ("refuse", "directory", "readText"),
        ("call", "workspace", "readText"),
    ]
    assert host.do("verify")["ok"] is True


def tried(world: World, home: Home, prompt: str, command: tuple[str, ...] = ("-m", "hob.hermes.doctor", "acp")) -> tuple[int, str]:
    """Runs a turn until it ends or fails."""
    world.model.script(prompt, TRIES, call("read", cap="workspace", path="notes.txt"), says("done"))
    editor = Editor(home, command)
    try:
        editor.prompt(editor.session(str(home.work)), prompt)
    except EOFError:
        pass
    ended = editor.end()
    assert home.is_untouched(), ended
    assert all(offered == [] for offered in world.model.offered(prompt)), ended
    assert "notes" not in str(results(world, prompt) if world.model.of(prompt) else ""), ended
    return ended


@pytest.mark.parametrize(
    ("module", "code"),
    [("hob.hermes", 1), ("hob.hermes.block", 1), ("hob.hermes.sessions", 1), ("hermes_cli.plugins", 2)],
)
def test_an_editor_gets_no_hermes_if_hob_is_broken(world: World, module: str, code: int) -> None:
    _, secret = world.session(workspace=FOLDER)
    home = world.home(secret)
    home.patch = FINDER.format(module=module)
    ended, said = tried(world, home, f"an editor without {module};")
    assert ended not in (0, None) and "broken" in said, said


def test_hermes_does_not_start_if_the_plugin_is_not_enabled_or_another_one_offers_tools(world: World) -> None:
    _, secret = world.session(workspace=FOLDER)
    home = world.home(secret, plugins={"enabled": []})
    code, said = tried(world, home, "not enabled")
    assert code == 78 and "not enabled" in said
    home = world.home(secret)
    home.config["plugins"]["enabled"] = ["hob", "other"]
    other = home.folder / "hermes" / "plugins" / "other"
    other.mkdir(parents=True)
    (other / "plugin.yaml").write_text("name: other\nversion: '1'\ndescription: another\n")
    (other / "__init__.py").write_text(
        "def register(ctx):\n ctx.register_tool(name='shell_out', toolset='hermes-acp', schema={'name': 'shell_out', 'description': 'x', 'parameters': {'type': 'object', 'properties': {}}}, handler=lambda args, **kw: 'done', description='x')\n"
    )
    code, said = tried(world, home, "another one")
    assert code == 78 and "shell_out" in said


def test_a_host_that_is_away_or_dies_leaves_an_editors_model_with_no_tools(world: World) -> None:
    away = world.home("none")
    away.config = configured(world.model, "ws://127.0.0.1:9", "none")
    code, said = tried(world, away, "no host for an editor")
    assert code == 0 and world.model.of("no host for an editor") != [] and "hob: no session" in said

    import hob

    host = HostProcess()
    try:
        id_, secret = host.session()
        with hob.sync.connect_granter(host.url, host.granter_secret) as granter:
            granter.grant(id_, "workspace", "directory", uses=5)
        home = world.home()
        home.config = configured(world.model, host.url, secret)

        world.model.script(
            "killed under an editor",
            call("read", cap="workspace", path="notes.txt"),
            Meanwhile(host).kills_the_host(call("request", cap="directory", why="to be killed while it waits")),
            TRIES,
            says("done"),
        )
        editor = Editor(home)
        assert editor.prompt(editor.session(str(home.work)), "killed under an editor")["stopReason"] == "end_turn"
        _, said = editor.end()
        before, at, *after = world.model.offered("killed under an editor")
        assert len(before) == len(at) == len(OURS) and after and all(offered == [] for offered in after), said
        assert home.is_untouched()
    finally:
        host.close()


def test_a_child_that_an_editors_model_delegates_to_begins_with_nothing(world: World) -> None:
    _, secret = world.session(workspace=FOLDER)
    home = world.home(secret)
    home.config["plugins"]["entries"]["hob"]["allow"] = ["delegate_task"]
    goal = "look around for an editor"
    ended = threading.Event()

    def end() -> dict[str, Any]:
        ended.set()
        return says("it had nothing")

    world.model.script("an editor hands it on", call("read", cap="workspace", path="notes.txt"), call("delegate_task", goal=goal), says("all done"))
    world.model.script(
        goal, call("read", cap="workspace", path="notes.txt"), call("entries", cap="workspace"), call("delegate_task", goal="and you for me"), TRIES, end
    )
    editor = Editor(home)
    assert editor.prompt(editor.session(str(home.work)), "an editor hands it on")["stopReason"] == "end_turn"
    # It continues when its parent's turn is over.
    assert ended.wait(100), world.model.offered(goal)
    _, said = editor.end()
    assert {tuple(offered) for offered in world.model.offered("an editor hands it on")} - {()} == {tuple(sorted([*OURS, "delegate_task"]))}, said
    assert {tuple(offered) for offered in world.model.offered(goal)} - {()} == {tuple(OURS)}
    read, entries, *foreign = results(world, goal)
    assert all("no-such-object" in str(each) and "You hold: nothing" in str(each) for each in (read, entries)), (read, entries)
    assert len(foreign) == 1 + len(AMBIENT) and all(re.search(r"does not exist|refused \(denied\)", str(each)) for each in foreign), foreign
    assert editor.asked == [] and home.is_untouched()
    lines = world.host.do("ledger")
    child = [line for line in lines if line["k"] == "session" and line["what"] == "open" and line["session"].startswith("child-")][-1]
    assert child["parent"].startswith("hermes-") and not [line for line in lines if line["k"] == "grant" and line["session"] == child["session"]]


def test_hermes_acp_itself_has_the_guards_too(world: World) -> None:
    _, secret = world.session(workspace=FOLDER)
    home = world.home(secret)
    world.model.script("started by hermes acp", TRIES, call("read", cap="workspace", path="notes.txt"), says("done"))
    editor = Editor(home, ("-m", "hermes_cli.main", "acp"))
    assert editor.prompt(editor.session(str(home.work)), "started by hermes acp")["stopReason"] == "end_turn"
    _, said = editor.end()
    assert {tuple(offered) for offered in world.model.offered("started by hermes acp")} - {()} == {tuple(OURS)}, said
    *ambient, read = results(world, "started by hermes acp")
    assert len(ambient) == len(AMBIENT) and all(re.search(r"does not exist|refused \(denied\)", str(each)) for each in ambient), ambient
    assert read == {"result": "notes\n"} and editor.asked == [] and home.is_untouched()


def test_plain_hermes_acp_ends_if_the_plugin_has_a_fault(world: World) -> None:
    """A plugin whose first module cannot be imported can refuse nothing. The doctor finds that, too."""
    _, secret = world.session(workspace=FOLDER)
    for module in ("hob.hermes.plugin", "hob.hermes.block", "websockets"):
        home = world.home(secret)
        home.patch = FINDER.format(module=module)
        code, said = tried(world, home, f"plain without {module};", ("-m", "hermes_cli.main", "acp"))
        assert code == 78 and "the plugin of Hob has a fault" in said, (module, code, said)


def test_the_doctor_finds_a_plugin_that_leaves_an_editor_all_tools(world: World) -> None:
    _, secret = world.session(workspace=FOLDER)
    for module in ("hob.hermes.plugin", "hob.hermes.strip"):
        home = world.home(secret)
        home.patch = FINDER.format(module=module)
        done = home.python("-m", "hob.hermes.doctor", "doctor", "--platform", "cli", "--json")
        assert done.returncode == 1, (done.stdout, done.stderr)
        (finding,) = [each for each in json.loads(done.stdout.splitlines()[-1]) if each["where"] == "hermes acp"]
        assert {"terminal", "write_file", "execute_code"} <= {*finding["tools"], *finding["dormant"]} and finding["remedy"]
        assert not {*OURS}.intersection(finding["tools"])
