"""Every example of the README runs as it is written, from the wheel, in an empty environment, against a real host."""

from __future__ import annotations

import json
import re
import subprocess
import textwrap
from pathlib import Path

import hob
import pytest
from host_process import LONG, HostProcess, needs_node
from wheel import HERE, installed_in_an_empty_environment, needs_hatchling

pytestmark = [needs_node, needs_hatchling]

EXAMPLES = re.findall(r"^```python\n(.*?)^```", (HERE / "README.md").read_text(), flags=re.DOTALL | re.MULTILINE)

ENTERED = """
import hob
with hob.sync.connect("ws://127.0.0.1:4711", "THE-SECRET") as session:
    names = ["notes.txt", "notes.txt"]
{body}
    print(text, one, two)
"""
GRANTER = """
import hob
session_id = "THE-SESSION"
with (
    hob.sync.connect_granter("ws://127.0.0.1:4711", "THE-GRANTER") as granter,
    hob.sync.connect("ws://127.0.0.1:4711", "THE-SECRET") as session,
):
{body}
        print(cap.invoke("it"), session.caps())
"""
ASYNC = """
import asyncio, hob
from hob import E
from types import SimpleNamespace as Record

class Thing(hob.Far):
    def read(self) -> str:
        return "of the thing"

async def main() -> None:
    async with await hob.connect("ws://127.0.0.1:4711", "THE-SECRET") as session:
{before}
{body}
{after}

asyncio.run(main())
"""
CLIENT = """
def create(model, messages, tools):
    assert {tool["function"]["name"] for tool in tools} >= {"invoke"}, tools
    arguments = '{"cap": "deploy", "target": "here"}'
    call = {"id": "c1", "type": "function", "function": {"name": "invoke", "arguments": arguments}}
    # As in the SDK, a call is no record: it has a method that returns one.
    return Record(choices=[Record(message=Record(tool_calls=[Record(model_dump=lambda: call)]))])

client = Record(chat=Record(completions=Record(create=create)))
messages = []
"""


def around(before: str = "", after: str = "") -> str:
    inside = [textwrap.indent(part.strip("\n"), " " * 8) for part in (before, after)]
    return ASYNC.replace("{before}", inside[0]).replace("{after}", inside[1])


OFFERED = {"workspace": "directory", "once": "dangerous-op", "deploy": "dangerous-op", "watcher": "watcher"}

# A text of the example, the program that it is a part of, the depth of its lines in that, the caps that the session
# holds, and what the program prints.
PROGRAMS = {
    "asyncio.run(main())": ("{body}", 0, "once workspace", r"\['once', 'workspace'\]\nhello\n$"),
    "print(session[\"workspace\"].readText": ("{body}", 0, "workspace", r"notes\n\n$"),
    "from hob.sync import E, wait": (ENTERED, 4, "workspace", r"text of a\n notes\n notes\n"),
    "with hob.approving": (GRANTER, 4, "", r"^ok \["),
    "tools.of(session": (around(CLIENT, "print(messages[-1])"), 8, "deploy", r"'role': 'tool'.*'c1'.*ok"),
    "class Counter(hob.Far)": (around('cap, thing = session["watcher"], Thing()'), 8, "watcher", r"^$"),
}

# These start a host of their own: `test_hosting.py` runs the example as it is written.
WITH_A_HOST = {"hob.Host("}


def test_each_example_has_a_program() -> None:
    assert len(EXAMPLES) >= 7
    for example in EXAMPLES:
        assert len([has for has in [*PROGRAMS, *WITH_A_HOST] if has in example]) == 1, example


def test_every_example_runs_as_written_from_the_wheel_in_an_empty_environment(host: HostProcess, tmp_path: Path) -> None:
    python, _ = installed_in_an_empty_environment(tmp_path)
    (host.root / "src" / "hello.txt").write_text("hello")
    for has, (whole, depth, caps, prints) in PROGRAMS.items():
        (example,) = (each for each in EXAMPLES if has in each)
        session, secret = host.session()
        with hob.sync.connect_granter(host.url, host.granter_secret) as granter:
            for name in caps.split():
                granter.grant(session, name, OFFERED[name])
        program = whole.replace("{body}", textwrap.indent(example, " " * depth))
        for written, real in {"ws://127.0.0.1:4711": host.url, "THE-SECRET": secret, "THE-GRANTER": host.granter_secret, "THE-SESSION": session}.items():
            program = program.replace(written, real)
        file = tmp_path / "example.py"
        file.write_text(program)
        done = subprocess.run([python, "-I", str(file)], capture_output=True, text=True, timeout=LONG, cwd=tmp_path)
        assert done.returncode == 0, f"{has}\n{done.stderr}\n{program}"
        assert re.search(prints, done.stdout, flags=re.DOTALL), f"{has}: {done.stdout}"
        assert done.stderr == "", has
