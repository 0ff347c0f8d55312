"""Each example of `examples/python` as a program, with the real release of its framework, a real host, and a model
on loopback that says what the test tells it. The model is the attacker: it calls what it does not hold."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
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
OURS = ["read", "entries", "search", "write", "edit", "mkdir", "request"]
MORE = {"smolagents_agent": ["final_answer"]}
"""What a framework offers besides. It only ends the work."""


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
        """What holds for every run: the tools are Hob's and no others, and no secret and no path of the host is in
        a request."""
        for names in ran.model.offered():
            assert names == OURS + MORE.get(example, []) or sorted(names) == sorted(OURS), names
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
    assert ran.results[0].startswith("notes") and "version" in ran.results[1] and ran.results[2].startswith("a.txt")
    assert (at.host.root / f"{example}.txt").read_text() == "food"


@each()
def test_what_is_not_held_is_refused_in_words_and_the_work_goes_on(at: Scene, example: str) -> None:
    at.grant("work")
    gone = at.grant("gone")
    before = sorted(at.host.root.rglob("*"))

    def revoked() -> Call:
        at.granter.revoke(gone)
        return Call("read", {"cap": "gone", "path": "notes.txt"})

    ran = at.run(
        example,
        [
            Call("read", {"cap": "secrets", "path": "notes.txt"}),
            revoked,
            Call("read", {"cap": "work", "path": "../../etc/passwd"}),
            Call("delete", {"cap": "work", "path": "notes.txt"}),
            Call("write", {"cap": "work", "path": "made.txt"}),
            Call("write", {"cap": "work", "path": "made.txt", "text": 5}),
            Call("write", {"cap": "work", "path": "made.txt", "text": "x", "mode": "0777", "self": "x"}),
            Call("read", {"cap": "work", "path": "notes.txt"}),
            "I cannot.",
        ],
    )
    assert ran.said == "I cannot."
    missing, ended, escapes, unknown, lacks, wrong, extra, read = ran.results
    assert 'request {"cap": "secrets", "why": "…"}' in missing and "work" in missing
    assert "revoked" in ended and 'request {"cap": "gone"' in ended
    assert "PATH_ESCAPES" in escapes and str(at.host.root) not in escapes
    assert "delete" in unknown or "no such tool" in unknown
    assert "text" in lacks and "text" in wrong and ("mode" in extra or "self" in extra)
    assert read.startswith("notes")
    assert sorted(at.host.root.rglob("*")) == before


@each([name for name in EXAMPLES if name != "anthropic_loop"])
def test_arguments_that_are_no_json_do_not_end_the_work(at: Scene, example: str) -> None:
    at.grant("work")
    ran = at.run(example, [Call("write", '{"cap": "work", "path":'), Call("read", {"cap": "work", "path": "notes.txt"}), "Done."])
    assert ran.said == "Done."
    assert any(result.startswith("notes") for result in ran.results)


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


@each()
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


@each()
def test_a_request_of_the_model_gets_what_the_person_says(at: Scene, example: str) -> None:
    at.grant("work")
    ask = Call("request", {"cap": "directory", "why": "to read more"})
    read = Call("read", {"cap": "directory", "path": "notes.txt"})
    with answering(at, lambda request: at.granter.refuse(request, "not today")) as seen:
        refused = at.run(example, [ask, read, "No."])
    assert refused.said == "No." and len(seen) == 1
    assert "not today" in refused.results[0] and "no-such-object" in refused.results[1]
    with answering(at, lambda request: at.granter.approve(request, uses=1)) as seen:
        granted = at.run(example, [ask, read, read, "Yes."])
    assert granted.said == "Yes." and len(seen) == 1
    assert "granted" in granted.results[0] and granted.results[1].startswith("notes") and "exhausted" in granted.results[2]
