"""Each example of `examples/python` as a program, with the real release of its framework, a real host, and a model
on loopback that says what the test tells it. The model is the attacker: it calls what it does not hold."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hob
import pytest
from adapters_env import adapters
from hermes_env import SRC
from host_process import LONG, ROOT, HostProcess, needs_node
from scripted_model import Call, ScriptedModel, Turn

pytestmark = needs_node

HERE = ROOT / "examples" / "python"
EXAMPLES = ["openai_loop", "anthropic_loop", "openai_agents", "langgraph_agent", "pydantic_ai_agent", "smolagents_agent", "mcp_client"]
LOOPS = [name for name in EXAMPLES if name != "mcp_client"]
OURS = ["read", "entries", "search", "write", "edit", "mkdir", "request"]
MORE = {"smolagents_agent": ["final_answer"]}
"""What a framework offers besides. It only ends the work."""
OVER_MCP = ["caps", "read", "write", "edit", "list", "search", "run", "job", "call", "request_cap", "wait_for"]
OTHER = {"mcp_client": {"entries": "list", "request": "request_cap"}}
"""The verbs of `hob mcp` have names of their own."""


@dataclass
class Ran:
    said: str
    model: ScriptedModel
    results: list[str] = field(default_factory=list)


@dataclass
class Scene:
    host: HostProcess
    granter: hob.sync.Granter
    folder: Path
    session: str
    secret: str

    def grant(self, petname: str, **terms: Any) -> Any:
        return self.granter.grant(self.session, petname, "directory", **{"uses": 50, **terms})

    @property
    def file(self) -> Path:
        return self.folder / "secret"

    def run(self, example: str, script: list[Turn], program: Path | None = None) -> Ran:
        """Runs an example to its end. The last turn is the text that ends the work."""
        *turns, end = script
        names = OTHER.get(example, {})
        turns = [Call(names.get(turn.name, turn.name), turn.arguments) if isinstance(turn, Call) else turn for turn in turns]
        if example == "smolagents_agent":
            assert isinstance(end, str)
            end = Call("final_answer", {"answer": end})
        model = ScriptedModel([*turns, end])
        self.file.touch(0o600)
        self.file.write_text(self.secret)
        try:
            done = subprocess.run(
                [adapters(), "-W", "error::DeprecationWarning:__main__", str(program or HERE / f"{example}.py")],
                env={
                    "PATH": f"{self.folder}:{os.environ['PATH']}", "HOME": str(self.folder), "PYTHONPATH": f"{SRC}:{HERE}", "PYTHONDONTWRITEBYTECODE": "1",
                    "HOB_URL": self.host.url, "HOB_SECRET_FILE": str(self.file), **model.environment,
                },
                capture_output=True, text=True, timeout=LONG, cwd=self.folder,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            ran = Ran(done.stdout.strip(), model, model.results())
        finally:
            model.close()
        self.check(example, ran)
        return ran

    def check(self, example: str, ran: Ran) -> None:
        """What holds for every run: the tools are Hob's and no others, no secret and no path of the host is in a
        request, and nobody but the model is told anything."""
        assert ran.model.strays == []
        for names in ran.model.offered():
            assert names == (OVER_MCP if example == "mcp_client" else OURS + MORE.get(example, [])), names
        for request in ran.model.raw:
            for secret in (self.secret, self.host.granter_secret, str(self.host.folder)):
                assert secret not in request
        # `hob mcp` reads the file each time that it is started.
        assert self.file.exists() == (example == "mcp_client")


@pytest.fixture
def at(host: HostProcess, tmp_path: Path) -> Iterator[Scene]:
    adapters()
    session, secret = host.session()
    command = tmp_path / "hob"
    command.write_text(f'#!/bin/sh\nexec node "{ROOT}/packages/cli/src/main.ts" "$@"\n')
    command.chmod(0o755)
    with hob.sync.connect_granter(host.url, host.granter_secret) as granter:
        yield Scene(host, granter, tmp_path, session, secret)


@contextlib.contextmanager
def answering(at: Scene, answer: Callable[[dict[str, Any]], None]) -> Iterator[list[dict[str, Any]]]:
    """A person in a thread of their own, who answers the first request."""
    seen: list[dict[str, Any]] = []
    over = threading.Event()

    def person() -> None:
        while not over.is_set():
            for request in at.granter.inbox():
                if request["session"] == at.session:
                    seen.append(request)
                    answer(request)
                    return
            time.sleep(0.02)

    thread = threading.Thread(target=person)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


ASK = Call("request", {"cap": "directory", "why": "to read"})
READ = Call("read", {"cap": "directory", "path": "notes.txt"})


SOME = {"at once": ["openai_loop", "langgraph_agent"], "no json": ["openai_agents", "smolagents_agent"], "gated": ["anthropic_loop", "pydantic_ai_agent", "mcp_client"]}
"""Some tests depend more on Hob than on a framework. They run with a few frameworks, because each starts a Python process, which takes seconds."""


def each(names: list[str] = EXAMPLES) -> Any:
    return pytest.mark.parametrize("example", names)


@each()
def test_the_model_reads_and_writes_with_what_the_session_holds(at: Scene, example: str) -> None:
    at.grant("work")
    ran = at.run(
        example,
        [
            Call("read", {"cap": "work", "path": "notes.txt"}),
            Call("write", {"cap": "work", "path": f"{example}.txt", "text": "food"}),
            Call("entries", {"cap": "work", "path": "src"}),
            "Food to buy.",
        ],
    )
    assert ran.said == "Food to buy."
    assert ran.results[0].startswith("notes") and "version" in ran.results[1] and "a.txt" in ran.results[2]
    assert (at.host.root / f"{example}.txt").read_text() == "food"


@each()
def test_what_is_not_held_is_refused_in_words_and_the_work_goes_on(at: Scene, example: str) -> None:
    at.grant("work")
    gone = at.grant("gone")
    before = sorted(at.host.root.rglob("*"))

    def revoked(_model: ScriptedModel) -> Call:
        at.granter.revoke(gone.id)
        return Call("read", {"cap": "gone", "path": "notes.txt"})

    ran = at.run(
        example,
        [
            Call("read", {"cap": "secrets", "path": "notes.txt"}),
            revoked,
            Call("read", {"cap": "work", "path": "../../etc/passwd"}),
            Call("delete", {"cap": "work", "path": "notes.txt"}),
            # Some loops repair names by likeness.
            Call("wrote", {"cap": "work", "path": "made.txt", "text": "x"}),
            Call("write", {"cap": "work", "path": "made.txt"}),
            Call("write", {"cap": "work", "path": "made.txt", "text": 5}),
            Call("write", {"cap": "work", "path": "made.txt", "text": "x", "mode": "0777", "self": "x"}),
            Call("read", {"cap": "work", "path": "notes.txt"}),
            "I cannot.",
        ],
    )
    assert ran.said == "I cannot."
    missing, ended, escapes, unknown, alike, lacks, wrong, extra, read = ran.results
    asks = 'request_cap {"cap":"%s"' if example == "mcp_client" else 'request {"cap": "%s"'
    assert "no-such-object" in missing and asks % "secrets" in missing
    assert "revoked" in ended and asks % "gone" in ended
    assert "PATH_ESCAPES" in escapes and str(at.host.root) not in escapes
    ours = "there is no such tool: there are read, "
    assert ours in unknown or "delete" in unknown
    assert ours in alike or "wrote" in alike
    assert "text" in lacks and "text" in wrong and ("mode" in extra or "self" in extra)
    assert read.startswith("notes")
    assert sorted(at.host.root.rglob("*")) == before


@each(SOME["at once"])
def test_of_several_calls_at_once_each_gets_its_own_answer(at: Scene, example: str) -> None:
    at.grant("work")
    other = {"cap": "secrets", "path": "notes.txt"}
    with answering(at, lambda request: at.granter.approve(request, uses=1)) as seen:
        ran = at.run(example, [[Call("read", {"cap": "work", "path": "notes.txt"}), Call("read", other), ASK], READ, "Done."])
    assert ran.said == "Done." and len(seen) == 1
    said = "\n".join(ran.results)
    # smolagents puts the results of one turn into one text, and the SDK of agents may answer in another order.
    assert said.count("notes\n") + said.endswith("notes") >= 2 and 'request {"cap": "secrets"' in said and "granted" in said


NO_JSON = Call("write", '{"cap": "work", "path":')


@each(SOME["no json"])
def test_arguments_that_are_no_json_do_not_end_the_work(at: Scene, example: str) -> None:
    at.grant("work")
    ran = at.run(example, [NO_JSON, Call("read", {"cap": "work", "path": "notes.txt"}), "Done."])
    assert ran.said == "Done."
    assert len(ran.results) == 2 and ran.results[1].startswith("notes")


def test_langgraph_ends_its_run_at_arguments_that_are_no_json(at: Scene) -> None:
    at.grant("work")
    ran = at.run("langgraph_agent", [NO_JSON, "Done."])
    assert ran.said == "" and len(ran.model.bodies) == 1


@each(SOME["gated"])
def test_a_gated_call_waits_for_the_person_of_hob(at: Scene, example: str) -> None:
    at.grant("work", gated=["write"])
    made = at.host.root / f"gated-{example}.txt"

    def yes(request: dict[str, Any]) -> None:
        assert not made.exists()
        at.granter.approve(request)

    with answering(at, yes) as seen:
        ran = at.run(example, [Call("write", {"cap": "work", "path": made.name, "text": "food"}), "Written."])
    assert ran.said == "Written." and len(seen) == 1
    assert made.read_text() == "food"


@each(LOOPS)
def test_a_request_of_the_model_gets_what_the_person_says(at: Scene, example: str) -> None:
    at.grant("work")
    with answering(at, lambda request: at.granter.refuse(request, "not today")) as seen:
        refused = at.run(example, [ASK, READ, "No."])
    assert refused.said == "No." and len(seen) == 1
    assert "not today" in refused.results[0] and "no-such-object" in refused.results[1]
    with answering(at, lambda request: at.granter.approve(request, uses=1)) as seen:
        granted = at.run(example, [ASK, READ, READ, "Yes."])
    assert granted.said == "Yes." and len(seen) == 1
    assert "granted" in granted.results[0] and granted.results[1].startswith("notes") and "exhausted" in granted.results[2]


def test_over_mcp_a_request_returns_at_once_and_the_model_waits_for_its_answer(at: Scene) -> None:
    def waits(model: ScriptedModel) -> Call:
        return Call("wait_for", json.loads(model.results()[0].partition("call wait_for ")[2]))

    with answering(at, lambda request: at.granter.approve(request, uses=1)) as seen:
        ran = at.run("mcp_client", [ASK, waits, READ, READ, "Yes."])
    assert ran.said == "Yes." and len(seen) == 1
    assert ran.results[2].startswith("notes") and "exhausted" in ran.results[3]


OVERRULING = """
import asyncio
import hob
from agents import Runner
from hob import tools
from openai_agents import CONFIG, agent_for

async def main():
    async with await hob.enter() as session:
        agent = agent_for(await tools.of(session), {})
        run = await Runner.run(agent, "Sum up notes.txt.", run_config=CONFIG)
        while run.interruptions:
            state = run.to_state()
            for item in run.interruptions:
                state.VERDICT
            run = await Runner.run(agent, state, run_config=CONFIG)
        print(run.final_output)

asyncio.run(main())
"""
"""A program that asks nobody, and decides in the SDK."""


def overruling(at: Scene, verdict: str) -> Path:
    program = at.folder / "overruling.py"
    program.write_text(OVERRULING.replace("VERDICT", verdict))
    return program


def test_an_approval_in_the_openai_agents_sdk_grants_nothing_the_person_of_hob_is_still_asked(at: Scene) -> None:
    at.grant("work")
    program = overruling(at, "approve(item, always_approve=True)")
    with answering(at, lambda request: at.granter.refuse(request, "not today")) as seen:
        ran = at.run("openai_agents", [ASK, READ, "Done."], program)
    assert len(seen) == 1 and "not today" in ran.results[0] and "no-such-object" in ran.results[1]
    # Approved for ever in the SDK: the second request asks the person of Hob as well.
    asked: list[str] = []

    def once(request: dict[str, Any]) -> None:
        asked.append(request["id"])
        at.granter.approve(request, uses=1)

    with answering(at, once):
        ran = at.run("openai_agents", [ASK, READ, READ, "Done."], program)
    assert len(asked) == 1 and ran.results[1].startswith("notes") and "exhausted" in ran.results[2]


def test_a_rejection_in_the_openai_agents_sdk_asks_nobody_and_grants_nothing(at: Scene) -> None:
    at.grant("work")
    ran = at.run("openai_agents", [ASK, READ, "Done."], overruling(at, "reject(item)"))
    assert "no-such-object" in ran.results[1]
    assert [request for request in at.granter.inbox() if request["session"] == at.session] == []


def test_each_example_is_short_and_has_no_word_for_a_secret_on_a_command_line() -> None:
    assert sorted(file.stem for file in HERE.glob("*.py")) == sorted(EXAMPLES)
    for file in HERE.glob("*.py"):
        code = file.read_text().split('"""', 2)[2]
        lines = [line for line in code.splitlines() if line.strip() and not line.startswith(("import ", "from ", "if __name__", "asyncio.run", "#"))]
        assert len(lines) <= 26, f"{file.name} has {len(lines)} lines"
        assert "argv" not in code and "HOB_SECRET\"" not in code
