"""The real Hermes (0.19.0) in processes of its own, with Hob's plugin installed as a user installs it, a
scripted model on loopback and a real host.

A run gets an empty environment, a home and a working directory of its own. Effects that must not happen are
checked there and in the requests to the model.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
from hermes_env import BRIDGE, hermes
from host_process import LONG, ROOT, HostProcess, node_is_missing, skips_without_node

VERSION: Final = "0.19.0"
OURS: Final = ["edit", "entries", "mkdir", "read", "request", "run", "search", "write"]
AMBIENT: Final = [
    "clarify", "delegate_task", "execute_code", "memory", "patch", "process", "read_file", "search_files", "session_search", "skill_manage", "skill_view",
    "skills_list", "terminal", "text_to_speech", "todo", "vision_analyze", "write_file",
]  # fmt: skip

TRIES: Final[dict[str, Any]] = {
    "calls": [(name, {"command": "touch made", "path": "made", "content": "x", "code": "open('made','w')", "goal": "x"}) for name in AMBIENT]
}
"""A turn that calls every tool of Hermes itself."""

FINDER: Final = "import sys\nclass Broken:\n def find_spec(self, name, *_):\n  if name == {module!r}: raise RuntimeError('broken')\nsys.meta_path.insert(0, Broken())\n"
"""Returns a `Home.patch` that makes the import of a module fail."""

Turn = dict[str, Any] | Callable[[], dict[str, Any]]


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"calls": [(name, arguments)]}


def says(text: str) -> dict[str, Any]:
    return {"text": text}


class Model:
    """Answers from a script. The messages identify the turn, so a repeated request gets the same answer."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._scripts: list[tuple[str, list[Turn]]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_args: Any) -> None:
                pass

            def _send(self, status: int, kind: str, data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self) -> None:
                models = [{"id": "scripted", "object": "model", "owned_by": "test", "context_length": 200_000}]
                self._send(200, "application/json", json.dumps({"object": "list", "data": models}).encode())

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
                if not self.path.endswith("/chat/completions"):
                    return self._send(404, "text/plain", b"")
                said = model._answer(body)
                if body.get("stream"):
                    return self._send(200, "text/event-stream", _streamed(said))
                self._send(200, "application/json", json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "scripted", "usage": _USAGE, "choices": [{"index": 0, "message": said, "finish_reason": _end(said)}]}).encode())

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def script(self, prompt: str, *turns: Turn) -> str:
        """Adds answers for the conversation whose first message of a person contains `prompt`."""
        self._scripts.insert(0, (prompt, list(turns)))
        return prompt

    def of(self, prompt: str) -> list[dict[str, Any]]:
        """Returns the requests of that conversation."""
        return [body for body in self.requests if prompt in _first(body)]

    def offered(self, prompt: str) -> list[list[str]]:
        """Returns the names of the tools in each of its requests."""
        return [sorted(tool["function"]["name"] for tool in body.get("tools") or []) for body in self.of(prompt)]

    def results(self, prompt: str) -> list[Any]:
        """Returns the results of its calls, in order."""
        *_, last = self.of(prompt)
        return [_parsed(_text(message)) for message in last["messages"] if message["role"] == "tool"]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(body)
        turns = next((turns for prompt, turns in self._scripts if prompt in _first(body)), [])
        number = sum(message["role"] == "assistant" for message in body["messages"])
        turn = turns[number] if number < len(turns) else says("nothing more to say")
        turn = turn() if callable(turn) else turn
        said: dict[str, Any] = {"role": "assistant", "content": turn.get("text")}
        if turn.get("calls"):
            said["tool_calls"] = [
                {"index": at, "id": f"call_{number}_{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
                for at, (name, args) in enumerate(turn["calls"])
            ]
        return said


_USAGE: Final = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _end(said: dict[str, Any]) -> str:
    return "tool_calls" if "tool_calls" in said else "stop"


def _streamed(said: dict[str, Any]) -> bytes:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": said, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": _end(said)}]},
        {"choices": [], "usage": _USAGE},
    ]
    return b"".join(b"data: " + json.dumps({**base, **chunk}).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content if isinstance(part, dict))


def _first(body: dict[str, Any]) -> str:
    return next((_text(message) for message in body.get("messages", []) if message["role"] == "user"), "")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@dataclass
class Home:
    """A home of Hermes, and a working directory with a file that no model may touch."""

    folder: Path
    site: Path
    config: dict[str, Any] = field(default_factory=dict)
    patch: str = ""
    """Python code that runs in Hermes' process before anything of Hermes."""
    more: dict[str, str] = field(default_factory=dict)
    """More of an environment."""

    def __post_init__(self) -> None:
        for name in ("hermes", "work", "patch"):
            (self.folder / name).mkdir(parents=True)
        (self.work / "mine.txt").write_text("the person's\n")

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def environment(self) -> dict[str, str]:
        (self.folder / "hermes" / "config.yaml").write_text(json.dumps(self.config))
        path = [str(self.site)]
        if self.patch:
            (self.folder / "patch" / "sitecustomize.py").write_text(self.patch)
            path.insert(0, str(self.folder / "patch"))
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "HERMES_HOME": str(self.folder / "hermes"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            # Otherwise a call makes Hermes install missing packages into the environment that all tests
            # share.
            "HERMES_DISABLE_LAZY_INSTALLS": "1",
            "PIP_NO_INDEX": "1",
            "TMPDIR": str(self.folder),
            **self.more,
        }

    def hermes(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Runs `hermes …` until it ends."""
        return self.python("-m", "hermes_cli.main", *args)

    def chat(self, prompt: str, *args: str) -> subprocess.CompletedProcess[str]:
        return self.hermes("chat", "-Q", "-q", prompt, *args)

    def python(self, *args: str, input: str = "") -> subprocess.CompletedProcess[str]:
        command = [hermes(VERSION), *args]
        return subprocess.run(command, cwd=self.work, env=self.environment(), input=input, capture_output=True, text=True, timeout=LONG)

    def is_untouched(self) -> bool:
        """Checks that nothing was written except by Hermes for itself, and that the person's file is
        unchanged."""
        return [path.name for path in self.work.iterdir()] == ["mine.txt"] and (self.work / "mine.txt").read_text() == "the person's\n"


def configured(model: Model, url: str, secret: str, **more: Any) -> dict[str, Any]:
    """The configuration of `examples/hermes/config.yaml`."""
    return {
        "model": {"default": "scripted", "provider": "custom", "base_url": model.url, "api_key": "none", "context_length": 200_000},
        "security": {"tirith_enabled": False, "allow_lazy_installs": False},
        "plugins": {"enabled": ["hob"], "entries": {"hob": {"url": url, "secret": secret, "wait": 200}}},
        "platform_toolsets": {"cli": ["hob", "no_mcp"]},
        "tools": {"tool_search": {"enabled": "off"}},
        **more,
    }


def person(host: HostProcess, *args: str) -> str:
    """Runs a granter's command in a process of its own, with the granter's secret."""
    cli = ["node", str(ROOT / "packages/cli/src/main.ts"), *args, "--state", str(host.folder / "state")]
    env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "")}
    done = subprocess.run(cli, input=f"{host.granter_secret}\n", capture_output=True, text=True, timeout=LONG, env=env)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def requests(lines: list[dict[str, Any]]) -> int:
    """Counts the requests in the ledger."""
    return sum(line["k"] == "request" for line in lines)


class Meanwhile:
    """The actions of a person while a model works, each in a thread of its own."""

    def __init__(self, host: HostProcess) -> None:
        self._host = host
        self._threads: list[threading.Thread] = []

    def does(self, what: Callable[[], None]) -> None:
        self._threads.append(threading.Thread(target=what))
        self._threads[-1].start()

    def says_yes(self, asked: dict[str, Any]) -> Turn:
        """A turn in which a model asks for a directory; a person sees that, and says yes."""

        def approve(before: int) -> None:
            self._host.until(lambda lines: requests(lines) > before)
            waiting = json.loads(person(self._host, "inbox", "--json"))
            [found] = [one for one in waiting if "directory" in one["effect"]]
            person(self._host, "grant", found["id"], found["digest"])

        def turn() -> dict[str, Any]:
            before = requests(self._host.do("ledger"))
            self.does(lambda: approve(before))
            return asked

        return turn

    def revokes(self, grant: Callable[[], str], then: dict[str, Any]) -> Turn:
        """A turn before which a grant is taken back."""

        def turn() -> dict[str, Any]:
            person(self._host, "revoke", grant())
            return then

        return turn

    def kills_the_host(self, asked: dict[str, Any]) -> Turn:
        """A turn in which a model asks for something; the host dies while it waits."""

        def kill() -> None:
            self._host.until(lambda lines: requests(lines) > 0)
            self._host.kill()

        def turn() -> dict[str, Any]:
            self.does(kill)
            return asked

        return turn

    def is_over(self) -> None:
        for thread in self._threads:
            thread.join()


def grant_of(host: HostProcess, cap: str) -> str:
    """Returns the id of the newest live grant of that name, as a person sees it."""
    *_, newest = [grant for grant in json.loads(person(host, "list", "--json")) if grant["cap"] == cap]
    return str(newest["id"])


def installed(into: Path) -> Path:
    """The package as `pip install` installs it: with its entry points."""
    command = [hermes(VERSION), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", str(into), str(BRIDGE)], check=True, capture_output=True, timeout=LONG)
    return into


def pyproject() -> dict[str, Any]:
    return tomllib.loads((BRIDGE / "pyproject.toml").read_text())


class World:
    """Everything that the tests of the plugin share."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hob-hermes-")
        self.folder = Path(self._folder.name)
        self.site = installed(self.folder / "site")
        self.model = Model()
        self.host = HostProcess()
        self._homes = 0

    def session(self, **grants: Any) -> tuple[str, str]:
        """Makes a session of Hob with these grants. Returns its id and secret."""
        import hob

        id_, secret = self.host.session()
        with hob.sync.connect_granter(self.host.url, self.host.granter_secret) as granter:
            for petname, (offered, terms) in grants.items():
                granter.grant(id_, petname, offered, **terms)
        return id_, secret

    def home(self, secret: str = "none", **config: Any) -> Home:
        self._homes += 1
        return Home(self.folder / f"home-{self._homes}", self.site, configured(self.model, self.host.url, secret, **config))

    def close(self) -> None:
        self.model.close()
        self.host.close()
        self._folder.cleanup()


def made() -> Iterator[World]:
    """Skips where Hermes or Node is missing."""
    if skips_without_node():
        pytest.skip(node_is_missing())
    hermes(VERSION)
    world = World()
    yield world
    world.close()


# All in one process: the doctor only asks Hermes and changes nothing.
_DOCTORS: Final = r"""
import contextlib, io, json, os, sys
from pathlib import Path
from hob.hermes import doctor

said = {}
for name, (files, args, environment) in json.loads(sys.stdin.read()).items():
    home = Path.cwd() / name.replace(" ", "-")
    home.mkdir()
    for file, text in files.items():
        (home / file).parent.mkdir(exist_ok=True)
        (home / file).write_text(text)
    os.environ.update(environment)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = doctor.main(["doctor", "--json", "--home", str(home), *args])
    for key in environment:
        del os.environ[key]
    said[name] = [code, json.loads(out.getvalue().splitlines()[-1]) if code < 2 else None]
print("SAID " + json.dumps(said))
"""


def doctors(world: World, asked: dict[str, tuple[dict[str, str], list[str], dict[str, str]]]) -> dict[str, Any]:
    """Runs the doctor for homes with these files, arguments and environments. Returns the codes and the
    findings."""
    found: dict[str, Any] = said(world.home().python("-c", _DOCTORS, input=json.dumps(asked)))
    return found


def said(done: subprocess.CompletedProcess[str]) -> Any:
    """Runs a program of ours in Hermes' process and returns its output."""
    line = next((line for line in done.stdout.splitlines() if line.startswith("SAID ")), None)
    assert line is not None, done.stderr[-3000:]
    return json.loads(line.removeprefix("SAID "))
