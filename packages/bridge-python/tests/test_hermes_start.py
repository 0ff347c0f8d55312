"""How Hermes starts: it ends if the doctor finds a foreign tool, and has no tools if Hob is broken or
missing."""

from __future__ import annotations

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hermes_world import FINDER, OURS, Meanwhile, World, call, configured, doctors, says
from host_process import HostProcess

EXPOSED = re.compile(r"exposed beside Hob's: (.*?)\. `hob-hermes")


def test_hermes_exposes_the_tools_that_the_doctor_names_and_ends(world: World) -> None:
    _, secret = world.session(workspace=("directory", {"uses": 100}))
    provider = {"CUSTOM_BASE_URL": world.model.url, "OPENAI_API_KEY": "none"}
    ignoring = ["--ignore-user-config", "--provider", "custom", "--model", "scripted"]
    # Name: the difference, the arguments of the doctor, the start of Hermes, and the place of the finding.
    cases: dict[str, tuple[dict[str, Any], list[str], list[str], str]] = {
        "no list": ({"platform_toolsets": {}}, ["--platform", "cli"], [], "cli"),
        "named on the command line": ({}, ["-t", "hob,file"], ["-t", "hob,file"], "-t hob,file"),
        "focus": ({"agent": {"coding_context": "focus"}}, ["--platform", "cli"], [], "agent.coding_context"),
        "the configuration is ignored": ({}, ["--ignore-user-config", "--platform", "cli"], ignoring, "cli"),
    }
    homes = {name: world.home(secret, **differs) for name, (differs, *_) in cases.items()}
    # In a directory with code.
    subprocess.run(["git", "init", "-q", str(homes["focus"].work)], check=True)
    (homes["focus"].work / "code.py").write_text("")
    for name, home in homes.items():
        home.more = provider
        world.model.script(name, call("terminal", command="touch made"), says("done"))
    asked = {name: ({"config.yaml": json.dumps(homes[name].config)}, args, {}) for name, (_, args, *_) in cases.items()}
    with ThreadPoolExecutor(2) as pool:
        found = pool.submit(doctors, world, asked)
        ends = dict(zip(cases, pool.map(lambda name: homes[name].chat(name, *cases[name][2]), cases), strict=True))
    for name, (*_, where) in cases.items():
        code, findings = found.result()[name]
        (finding,) = [each for each in findings if each["where"] == where]
        exposed = EXPOSED.search(ends[name].stderr)
        assert ends[name].returncode == 78 and exposed is not None, (name, ends[name].returncode, ends[name].stderr[-2000:])
        assert code == 1 and finding["tools"] == sorted(exposed[1].split(", ")), name
        assert world.model.of(name) == [], name


def test_a_plugin_that_breaks_leaves_a_model_with_no_tools(world: World) -> None:
    _, secret = world.session(workspace=("directory", {"uses": 100}))
    # One raises at its import, the other in `register`, after the guards.
    breaks = {module: FINDER.format(module=module) for module in ("hob.hermes", "hob.hermes.plugin")}

    def run(module: str) -> subprocess.CompletedProcess[str]:
        home = world.home(secret)
        home.patch = breaks[module]
        world.model.script(f"without {module};", call("terminal", command="touch made"), says("done"))
        done = home.chat(f"without {module};")
        assert home.is_untouched()
        return done

    with ThreadPoolExecutor(2) as pool:
        for module, done in zip(breaks, pool.map(run, breaks), strict=True):
            offered = world.model.offered(f"without {module};")
            assert done.returncode in (0, 78), (module, done.stderr)
            assert all(names == [] for names in offered), (module, offered)


def test_without_a_host_or_with_a_wrong_secret_there_are_no_tools_and_the_person_is_told_why(world: World) -> None:
    away, wrong = world.home("none"), world.home("A" * 52)
    away.config = configured(world.model, "ws://127.0.0.1:9", "none")
    homes = {"the host is away": away, "the secret is wrong": wrong}
    for name in homes:
        world.model.script(name, call("read", cap="workspace", path="notes.txt"), call("terminal", command="touch made"), says("done"))
    with ThreadPoolExecutor(2) as pool:
        for (name, home), done in zip(homes.items(), pool.map(lambda each: each[1].chat(each[0]), homes.items()), strict=True):
            assert done.returncode == 0 and "hob: no session" in done.stderr, done.stderr
            assert all(names == [] for names in world.model.offered(name)) and home.is_untouched()
            assert "refused (" in str(world.model.results(name)[0]) and "notes" not in str(world.model.results(name)[0])


def test_a_host_that_is_killed_in_the_middle_of_a_call_leaves_a_model_with_no_tools(world: World) -> None:
    host = HostProcess()
    try:
        import hob

        id_, secret = host.session()
        with hob.sync.connect_granter(host.url, host.granter_secret) as granter:
            granter.grant(id_, "workspace", "directory", uses=5)
            granter.grant(id_, "op", "lazy", uses=5)
        home = world.home()
        home.config = configured(world.model, host.url, secret)

        world.model.script(
            "then it is killed",
            call("read", cap="workspace", path="notes.txt"),
            Meanwhile(host).kills_the_host(call("request", cap="directory", why="to be killed while it waits")),
            call("terminal", command="touch made"),
            says("done"),
        )
        done = home.chat("then it is killed")
        assert done.returncode == 0, done.stderr
        before, at, *after = world.model.offered("then it is killed")
        assert len(before) == len(at) == len(OURS) and after and all(names == [] for names in after)
        read, asked, *_ = world.model.results("then it is killed")
        assert read == {"result": "notes\n"} and "refused (disconnected)" in str(asked) and home.is_untouched()
    finally:
        host.close()
