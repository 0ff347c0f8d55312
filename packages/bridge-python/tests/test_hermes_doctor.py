"""The findings of the doctor for configurations. `test_hermes_start.py` shows that Hermes then does the same.
Also follows the README of the example."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest
from hermes_world import OURS, Home, World, call, doctors, says
from host_process import LONG, ROOT

EXAMPLE = ROOT / "examples" / "hermes"

GOOD: dict[str, Any] = {
    "plugins": {"enabled": ["hob"], "entries": {"hob": {"url": "ws://127.0.0.1:1", "secret": "s"}}},
    "platform_toolsets": {"cli": ["hob", "no_mcp"]},
    "agent": {"disabled_toolsets": ["kanban"]},
}
CLI = ["--platform", "cli"]


def job(**more: Any) -> str:
    return json.dumps({"jobs": [{"id": "j1", "name": "nightly", "prompt": "x", **more}]})


# Name: the difference from the good configuration, the arguments, the environment; the place of a finding and
# one of its tools.
CASES: dict[str, tuple[dict[str, Any], list[str], dict[str, str], str, str]] = {
    "good": ({}, CLI, {}, "", ""),
    "told in the environment": ({"plugins": {"enabled": ["hob"]}}, CLI, {"HOB_URL": "ws://127.0.0.1:1", "HOB_SECRET": "s"}, "", ""),
    "harmless ones are allowed": (
        {"plugins": {"enabled": ["hob"], "entries": {"hob": {"url": "u", "secret": "s", "allow": ["delegate_task", "todo", "clarify"]}}},
         "platform_toolsets": {"cli": ["hob", "delegation", "todo", "clarify", "no_mcp"]}}, CLI, {}, "", ""),
    "the same not allowed": ({"platform_toolsets": {"cli": ["hob", "delegation", "no_mcp"]}}, CLI, {}, "cli", "delegate_task"),
    "allowing what is not harmless": (
        {"plugins": {"enabled": ["hob"], "entries": {"hob": {"url": "u", "secret": "s", "allow": ["terminal"]}}}}, CLI, {}, "plugin", ""),
    "not enabled": ({"plugins": {"entries": GOOD["plugins"]["entries"]}}, CLI, {}, "plugin", ""),
    "disabled": ({"plugins": {**GOOD["plugins"], "disabled": ["hob"]}}, CLI, {}, "plugin", ""),
    "no secret": ({"plugins": {"enabled": ["hob"], "entries": {"hob": {"url": "u"}}}}, CLI, {}, "plugin", ""),
    "no list": ({"platform_toolsets": {}}, CLI, {}, "cli", "terminal"),
    "another platform has none": ({}, [], {}, "telegram", "terminal"),
    "cron has none": ({}, ["--platform", "cron"], {}, "cron", "terminal"),
    "kanban comes back": ({"agent": {}}, CLI, {}, "cli", "kanban_create"),
    "a kanban worker": ({"agent": {}}, CLI, {"HERMES_KANBAN_TASK": "t1"}, "HERMES_KANBAN_TASK", "kanban_complete"),
    "a server of tools": ({"mcp_servers": {"files": {"command": "true"}}, "platform_toolsets": {"cli": ["hob"]}}, CLI, {}, "cli", "all tools of the MCP server files"),
    "a server of tools and no_mcp": ({"mcp_servers": {"files": {"command": "true"}}}, CLI, {}, "", ""),
    "focus": ({"agent": {"coding_context": "focus"}}, CLI, {}, "agent.coding_context", "terminal"),
    "lean is focus": ({"agent": {"coding_context": "LEAN", "disabled_toolsets": ["kanban"]}}, CLI, {}, "agent.coding_context", "write_file"),
    "a job with a list": ({"cron/jobs.json": job(enabled_toolsets=["terminal"])}, CLI, {}, "cron job nightly", "terminal"),
    "a job without": ({"cron/jobs.json": job()}, CLI, {}, "", ""),
    "codex": ({"model": {"provider": "openai", "openai_runtime": "codex_app_server"}}, CLI, {}, "model", ""),
    "a model behind an agent": ({"model": {"provider": "copilot-acp"}}, CLI, {}, "model", ""),
    "a curator with everything": ({"curator": {"consolidate": True}}, CLI, {}, "curator", ""),
    "a context engine": ({"context": {"engine": "other"}}, CLI, {}, "cli", "the tools of the context engine"),
    "toolsets on the command line": ({}, ["-t", "hob,web,terminal"], {}, "-t hob,web,terminal", "terminal"),
    "ours on the command line": ({}, ["-t", "hob"], {}, "", ""),
    # Last, because Hermes reads it once.
    "the configuration is ignored": ({}, [*CLI, "--ignore-user-config"], {}, "cli", "terminal"),
}  # fmt: skip


@pytest.fixture(scope="module")
def found(world: World) -> dict[str, Any]:
    asked = {}
    for name, (differs, args, environment, _, _) in CASES.items():
        files = {key: value for key, value in differs.items() if key.endswith(".json")}
        config = {**GOOD, **{key: value for key, value in differs.items() if key not in files}}
        asked[name] = ({"config.yaml": json.dumps(config), **files}, args, environment)
    return doctors(world, asked)


@pytest.mark.parametrize("name", CASES)
def test_the_doctor_names_the_exposed_tools_and_what_to_write(found: dict[str, Any], name: str) -> None:
    _, _, _, where, tool = CASES[name]
    code, findings = found[name]
    if not where:
        assert (code, findings) == (0, [])
        return
    (finding,) = [each for each in findings if each["where"] == where]
    assert code == 1 and finding["why"]
    assert not tool or tool in finding["tools"] + finding["dormant"]
    assert finding["remedy"] and not {*OURS, "hob"}.intersection(finding["tools"])


def test_without_hermes_the_doctor_says_so() -> None:
    import sys

    done = subprocess.run([sys.executable, "-m", "hob.hermes.doctor", "doctor"], capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 2 and "install it where hermes-agent is" in done.stderr


def test_the_readme_of_the_example_can_be_followed(world: World) -> None:
    readme = (EXAMPLE / "README.md").read_text()
    commands = [line for block in re.findall(r"```sh\n(.*?)```", readme, re.S) for line in block.splitlines()]
    install, doctor, chat = commands
    # 2. This makes `world.site`, without a registry.
    assert install == "pip install packages/bridge-python"
    # 3.
    _, secret = world.session(workspace=("directory", {"uses": 100}), once=("directory", {"uses": 1}))
    text = (EXAMPLE / "config.yaml").read_text()
    assert text.count("ws://127.0.0.1:4711") == 1 and text.count("~/.hermes/hob.secret") == 1
    home = Following(world.folder / "following", world.site)
    file = world.folder / "hob.secret"
    file.write_text(f"{secret}\n")
    file.chmod(0o600)
    text = text.replace("ws://127.0.0.1:4711", world.host.url).replace("~/.hermes/hob.secret", str(file))
    model = {each: value for each, value in world.home().config.items() if each in ("model", "security")}
    home.text = "\n".join(f"{each}: {json.dumps(value)}" for each, value in model.items()) + "\n" + text
    # 4.
    assert doctor == "hob-hermes doctor"
    done = home.python(str(world.site / "bin" / "hob-hermes"), *doctor.split()[1:])
    assert done.returncode == 0 and "nothing but Hob's tools, on every platform that was looked at" in done.stdout, done.stdout
    assert "nothing but Hob's tools, on every platform that was looked at" in readme
    # 5.
    prompt = re.fullmatch(r'hermes chat -q "(.*)"', chat)
    assert prompt is not None
    world.model.script(prompt[1], call("entries", cap="workspace"), call("read", cap="workspace", path="notes.txt"), says("It says: notes"))
    done = home.hermes("chat", "-q", prompt[1])
    assert done.returncode == 0 and "It says: notes" in done.stdout, done.stderr
    # Besides the turns there is a request for a title, without tools.
    assert {tuple(names) for names in world.model.offered(prompt[1])} - {()} == {tuple(OURS)}
    assert all(f"`{name}`" in readme for name in OURS)
    # 1 and 6 concern the host: `packages/host/src/programs/serve-workspace.test.ts`, and whole turns in
    # `test_hermes.py`.


class Following(Home):
    """Returns a home whose configuration is a text."""

    text = ""

    def environment(self) -> dict[str, str]:
        environment = super().environment()
        (self.folder / "hermes" / "config.yaml").write_text(self.text)
        return environment
