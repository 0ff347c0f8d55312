"""Runs a line: in this process, in a fork of its own, or in the process that keeps the state of the world.

Promise: an operation that hangs, dies or changes Hermes' state affects only its own line. (The world of
`tool` lines keeps its state. If its process dies, the line that killed it reports this, and the next line
starts a new process in the same directories.)
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import world as worlds
from .ops import APART, END, OPS, WORLD, Fields, Op, Refusal, hermes, typed_field
from .world import World

SECONDS = 100.0
SETTABLE = ("HERMES_", "TERMINAL_")


class Server:
    """Runs the lines of one world. `keeper` is the process that keeps its state, once a `tool` line has started it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.keeper: Child | None = None

    def ask(self, fields: Fields) -> Any:
        """Returns the verdict on a line. Raises `Refusal` if the line is wrong, if it takes longer than its `seconds`
        (100 by default, 600 at most), or if its process dies."""
        found = OPS.get(fields.get("op", "")) if isinstance(fields.get("op", ""), str) else None
        if found is None:
            raise Refusal("unknown-op", f"there are {', '.join(OPS)}")
        seconds = fields.get("seconds", SECONDS)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 600:
            raise Refusal("bad-input", 'field "seconds" must be a number up to 600')
        if found.where == END:
            self.close()
            return found.ask(fields)
        if found.where == WORLD:
            return self._in_world(found, fields, seconds)
        if found.where == APART or "env" in fields or "config" in fields:
            return self._apart(found, fields, seconds)
        return _verdict(_within(seconds, lambda: _asked(found, fields)))

    def _apart(self, found: Op, fields: Fields, seconds: float) -> Any:
        env = _env(fields)
        before = _read(self.world)
        self.world.configure(typed_field(fields, "config", dict, {}))
        anew = bool(env) or fields.get("yolo") is True
        if not anew:
            _import(found.modules)
        child = Child(lambda line: _anew(found, line, env) if anew else _asked(found, line))
        try:
            return _verdict(child.ask(fields, seconds))
        finally:
            child.close()
            _write(self.world, before)

    def _in_world(self, found: Op, fields: Fields, seconds: float) -> Any:
        if "env" in fields or "config" in fields:
            raise Refusal("bad-input", "the world of tools is set up once: start a shim with --hermes-home for another configuration")
        if self.keeper is None:
            _import(found.modules)
            self.keeper = Child(lambda line: _asked(OPS[line["op"]], line))
        try:
            return _verdict(self.keeper.ask(fields, seconds))
        except Refusal as refusal:
            if refusal.code in ("died", "timeout") and self.keeper is not None:
                self.keeper.kill()
                self.keeper = None
            raise

    def close(self) -> None:
        """Ends the process that keeps the state. The next `tool` line starts another."""
        if self.keeper is not None:
            self.keeper.close()
        self.keeper = None


class Child:
    """A fork that returns `{"verdict"}` or `{"refused": [code, message]}` for each line."""

    def __init__(self, ask: Callable[[Fields], Any]) -> None:
        theirs, self._to = os.pipe()
        self._from, answers = os.pipe()
        sys.stdout.flush()
        self._pid = os.fork()
        if self._pid == 0:
            _live(ask, theirs, answers, (self._to, self._from))
        os.close(theirs)
        os.close(answers)
        self._text = b""

    def ask(self, fields: Fields, seconds: float) -> Any:
        """Sends a line and returns the reply. Raises `Refusal`: `timeout` after `seconds`, `died` if the process has
        ended."""
        try:
            _send(self._to, fields)
        except BrokenPipeError:
            raise Refusal("died", "the process of the world is gone; the next line starts another") from None
        until = time.monotonic() + seconds
        while b"\n" not in self._text:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._from], [], [], left)[0]:
                raise Refusal("timeout", f"no answer within {seconds:g} s")
            more = os.read(self._from, 1 << 16)
            if not more:
                raise Refusal("died", "Hermes' process ended before it answered")
            self._text += more
        line, _, self._text = self._text.partition(b"\n")
        return json.loads(line)

    def close(self) -> None:
        """Closes its input, so that it can clean up. Then ends the programs that it started, and the process
        itself if it does not leave."""
        below = _below(self._pid)
        until = time.monotonic() + 5
        self._let_go()
        while time.monotonic() < until:
            if os.waitpid(self._pid, os.WNOHANG)[0] != 0:
                _kill(below)
                return
            time.sleep(0.002)
        self._end()

    def kill(self) -> None:
        """Ends it with all programs below it."""
        self._let_go()
        self._end()

    def _let_go(self) -> None:
        for descriptor in (self._to, self._from):
            os.close(descriptor)

    def _end(self) -> None:
        _kill([*_below(self._pid), self._pid])
        os.waitpid(self._pid, 0)


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _below(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                found += [*_below(int(child)), int(child)]
    return found


def _import(modules: tuple[str, ...]) -> None:
    """Imports modules once, in this process, which does nothing else with them. So a fork is a Hermes that
    has just started."""
    for module in modules:
        with contextlib.suppress(Refusal):
            hermes(module)


def _live(ask: Callable[[Fields], Any], lines: int, answers: int, others: tuple[int, ...]) -> None:
    code = 1
    try:
        for descriptor in others:
            os.close(descriptor)
        with os.fdopen(lines, "rb") as stream:
            for line in stream:
                _send(answers, _enclosed(ask, json.loads(line)))
        leave = sys.modules.get("tools.terminal_tool")
        if leave is not None:
            leave.cleanup_all_environments()
        code = 0
    except BaseException:
        pass
    finally:
        os._exit(code)


def _send(descriptor: int, value: Any) -> None:
    data = json.dumps(value, default=str).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]


def _anew(found: Op, fields: Fields, env: dict[str, str]) -> Any:
    worlds.anew()
    os.environ.update(env)
    return _asked(found, fields)


def _asked(found: Op, fields: Fields) -> Any:
    """An exception of Hermes is its verdict."""
    try:
        return found.ask(fields)
    except Refusal:
        raise
    except (Exception, SystemExit) as error:
        return {"raised": type(error).__name__, "message": str(error)}


def _enclosed(ask: Callable[[Fields], Any], fields: Fields) -> Any:
    try:
        return {"verdict": ask(fields)}
    except Refusal as refusal:
        return {"refused": [refusal.code, str(refusal)]}


def _verdict(answer: Any) -> Any:
    if "refused" in answer:
        raise Refusal(*answer["refused"])
    return answer["verdict"]


class TooLong(BaseException):
    """Not an `Exception`, because Hermes catches those."""


def _within(seconds: float, ask: Callable[[], Any]) -> Any:
    def ring(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, ring)
    try:
        # Two levels, because the alarm may also come in the first lines of `finally`.
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            return {"verdict": ask()}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TooLong:
        raise Refusal("timeout", f"no answer within {seconds:g} s") from None


def _env(fields: Fields) -> dict[str, str]:
    env = typed_field(fields, "env", dict, {})
    for name, value in env.items():
        if not (name.startswith(SETTABLE) or name == "SUDO_PASSWORD") or not isinstance(value, str):
            raise Refusal("bad-input", f'field "env" may set texts of HERMES_*, TERMINAL_* and SUDO_PASSWORD, not {name}')
    return dict(env)


def _read(world: World) -> str:
    return (world.hermes_home / "config.yaml").read_text()


def _write(world: World, text: str) -> None:
    (world.hermes_home / "config.yaml").write_text(text)
