"""The three guards against a Hermes that exposes everything: each alone, each left out, each with a fault of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hermes_world import AMBIENT, OURS, Home, World, said, says


PROGRAM = r"""
import json, sys
from pathlib import Path
from run_agent import AIAgent
from hermes_cli import plugins
from hob.hermes import block, plugin, refuse, strip

class Ended(BaseException):
    pass

def ended(reason):
    raise Ended(reason)

def fault(*_args, **_about):
    raise RuntimeError("a fault of the plugin's own")

# In the place of the end of the process: everything up to it is as it is.
refuse.stop = ended
OFF = {
    "refuse": (refuse, "_look", lambda why: None),
    "strip": (strip, "stripped", lambda request, ours: dict(request)),
    "block": (block, "allowed", lambda name: True),
    "refuse throws": (refuse, "_exposed", fault),
    "refuse throws late": (refuse, "_foreign", fault),
    "strip throws": (strip, "stripped", fault),
    "block throws": (block, "allowed", fault),
    "first look": (refuse, "_exposed", lambda request, about: None),
    "hooks throw": (plugin, "_sessions", fault),
    "another plugin": (None, "", None),
}

def put_back(original_request=None, **_about):
    return {"request": original_request}

said = {}
for name, left_out, everything in json.loads(sys.argv[2]):
    before = [(module, each, getattr(module, each)) for what in left_out for module, each, _ in [OFF[what]] if module]
    for what in left_out:
        module, each, instead = OFF[what]
        if module:
            setattr(module, each, instead)
        else:
            plugins.get_plugin_manager()._middleware["llm_request"].append(put_back)
    agent = AIAgent(base_url=sys.argv[1], api_key="none", provider="custom", model="scripted", quiet_mode=True, skip_context_files=True, skip_memory=True,
                    platform="cli", max_iterations=4, tool_delay=0, enabled_toolsets=None if everything else ["hob"])
    try:
        agent.run_conversation(name)
        said[name] = "went on"
    except Ended as end:
        said[name] = str(end)
    for module, each, was in before:
        setattr(module, each, was)
    plugins.get_plugin_manager()._middleware["llm_request"][:] = [each for each in plugins.get_plugin_manager()._middleware["llm_request"] if each is not put_back]
    Path("made-by", name.replace(" ", "-")).parent.mkdir(exist_ok=True)
    made = sorted(path.name for path in Path.cwd().iterdir() if path.name not in ("mine.txt", "made-by"))
    for path in made:
        Path(path).rename(Path("made-by") / (name.replace(" ", "-") + "-" + path))
    said[name] = [said[name], made]
print("SAID " + json.dumps(said))
"""

ATTACK = {"command": "touch by-terminal", "path": "by-file", "content": "x", "code": "open('by-code', 'w')", "action": "add", "target": "memory", "goal": "x", "name": "x"}  # fmt: skip
# Name, the guard that is left out or has a fault, and whether Hermes exposes everything.
CASES: list[tuple[str, list[str], bool]] = [
    ("all are there", [], True),
    ("refuse is alone", ["strip", "block"], True),
    ("refuse is out", ["refuse"], True),
    ("block is alone", ["refuse", "strip"], True),
    ("strip is alone", ["refuse", "block"], True),
    ("strip has a fault", ["refuse", "strip throws"], True),
    ("block has a fault", ["refuse", "block throws"], True),
    ("block has a fault with our tools", ["block throws"], False),
    ("refuse has a fault", ["refuse throws"], False),
    ("refuse has a fault late", ["refuse throws late"], False),
    ("the first look is out and strip too", ["first look", "strip"], True),
    ("another plugin puts them back", ["first look", "another plugin"], True),
    ("no hook works", ["hooks throw"], False),
]


class Said:
    def __init__(self, world: World, homes: list[Home], said: dict[str, Any]) -> None:
        self._world = world
        self.homes = homes
        self._said = said

    def end(self, name: str) -> str:
        return str(self._said[name][0])

    def made(self, name: str) -> list[str]:
        return list(self._said[name][1])

    def offered(self, name: str) -> list[list[str]]:
        return self._world.model.offered(name)

    def results(self, name: str) -> list[Any]:
        return self._world.model.results(name)


@pytest.fixture(scope="module")
def ran(world: World) -> Said:
    """All cases, one after another in two processes of Hermes: each begins with the guards as they are shipped.

    Each case opens a session of Hermes, and one session of Hob with its children has 8 connections.
    """
    ambient, ours = [(name, ATTACK) for name in AMBIENT], ("entries", {"cap": "workspace"})
    for name, _, _ in CASES:
        # If the calls really run, only those whose effects stay in the directory.
        done = [each for each in ambient if each[0] in ("terminal", "write_file")] if name == "strip is alone" else ambient
        world.model.script(name, {"calls": [*done, ours]}, says("done"))
    heard: dict[str, Any] = {}
    homes: list[Home] = []
    for cases in (CASES[:7], CASES[7:]):
        _, secret = world.session(workspace=("directory", {"uses": 100}))
        homes.append(home := world.home(secret))
        heard |= said(home.python("-c", PROGRAM, world.model.url, json.dumps(cases)))
    return Said(world, homes, heard)


def test_hermes_ends_before_anything_is_sent_while_a_foreign_tool_is_exposed(ran: Said) -> None:
    for name in ("all are there", "refuse is alone"):
        assert "exposed beside Hob's" in ran.end(name) and "terminal" in ran.end(name) and "read," not in ran.end(name)
        assert ran.offered(name) == [] and ran.made(name) == []


def test_a_guard_with_a_fault_ends_hermes_too(ran: Said) -> None:
    for name in ("refuse has a fault", "refuse has a fault late"):
        assert "could not tell" in ran.end(name) and ran.offered(name) == []


def test_a_request_is_checked_after_all_other_middleware(ran: Said) -> None:
    for name in ("the first look is out and strip too", "another plugin puts them back"):
        assert "exposed beside Hob's" in ran.end(name) and ran.offered(name) == []


def test_a_request_leaves_with_our_tools_and_no_others(ran: Said) -> None:
    for name in ("refuse is out", "strip is alone"):
        # A slow machine makes Hermes ask its model again.
        assert ran.end(name) == "went on" and len(ran.offered(name)) >= 2
        assert all(names == OURS for names in ran.offered(name))
    # Without this guard it would not end.
    assert all({"terminal", "write_file"} <= set(names) for names in ran.offered("block is alone"))


def test_a_request_that_cannot_be_read_leaves_with_none(ran: Said) -> None:
    for name in ("strip has a fault", "no hook works"):
        assert ran.end(name) == "went on" and len(ran.offered(name)) >= 2
        assert all(names == [] for names in ran.offered(name))


def test_a_call_of_each_ambient_name_is_refused_and_does_not_run(ran: Said) -> None:
    for name in ("refuse is out", "block is alone"):
        *ambient, ours = ran.results(name)
        assert len(ambient) == len(AMBIENT)
        assert all("refused (denied)" in str(each) or "does not exist" in str(each) for each in ambient)
        blocked = [each for each in ambient if "refused (denied)" in str(each)]
        assert all(any(f'no "{tool}" here' in str(each).replace("\\", "") for each in blocked) for tool in ("terminal", "write_file", "execute_code", "memory"))
        assert "notes.txt" in str(ours)
        assert ran.made(name) == []
    # Without this guard the calls run: with its own loop, Hermes runs tools that the model was not offered.
    assert {"by-terminal", "by-file"} <= set(ran.made("strip is alone"))


def test_a_call_that_cannot_be_identified_does_not_run(ran: Said) -> None:
    for name in ("block has a fault", "block has a fault with our tools"):
        results = ran.results(name)
        assert "could not tell" in str(results[-1]) and ran.made(name) == []


def test_a_refusal_says_which_cap_to_ask_for(ran: Said) -> None:
    (refusal,) = [text for text in map(str, ran.results("refuse is out")) if 'no "read_file" here' in text.replace("\\", "")]
    assert 'use "read"' in refusal.replace("\\", "") and "request {" in refusal.replace("\\", "")


def test_nothing_of_hermes_own_was_written_either(ran: Said) -> None:
    for home in ran.homes:
        hermes = home.folder / "hermes"
        assert not list(hermes.glob("memories/*.md")) and not (hermes / "skills" / "x").exists()
