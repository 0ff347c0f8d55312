"""Finds the command `hob`, and starts a host as a child process.

Promise: the host ends when this process does, however that ends: it reads a pipe that only this process holds.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..errors import Unavailable

NODE: Final = 24
"""The host needs this version of Node, or a newer one."""
ENDING_S: Final = 20.0
INSTALL: Final = "npm install -g @hob/cli"


def command_of(given: Sequence[str] | None = None) -> list[str]:
    """Returns the words that run `hob`. Raises `Unavailable`, which says what is missing and the one command."""
    if given is not None:
        return list(given)
    checkout = _checkout(Path(__file__))
    if checkout is not None:
        return [*_node(checkout), str(checkout / "packages" / "cli" / "src" / "main.ts")]
    hob = shutil.which("hob")
    if hob is not None:
        return [hob]
    if shutil.which("npm") is None:
        raise Unavailable(f"hob.Host needs Node {NODE} or newer, and there is none: install it from nodejs.org, then run `{INSTALL}`")
    raise Unavailable(f"hob.Host needs the command hob, and there is none in PATH: run `{INSTALL}`, or install this package from a checkout of Hob with `pip install -e`")


def _checkout(here: Path) -> Path | None:
    """The repository, if this package runs from it."""
    for folder in here.parents:
        if (folder / "packages" / "cli" / "src" / "main.ts").is_file() and (folder / "node_modules").exists():
            return folder
    return None


def _node(checkout: Path) -> list[str]:
    own = sorted((checkout / ".toolchain" / "node_modules").glob("node-*/bin/node"))
    for node in [*map(str, own), *filter(None, [shutil.which("node")])]:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
        if said.startswith("v") and int(said[1:].split(".")[0]) >= NODE:
            return [node]
    raise Unavailable(f"hob.Host needs Node {NODE} or newer, and there is none: run `npm run -s lint` in the repository")


class HostProcess:
    """A host that this program started."""

    def __init__(self, process: asyncio.subprocess.Process, log: asyncio.Task[list[str]]) -> None:
        self._process = process
        self._log = log

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @classmethod
    async def start(cls, command: Sequence[str], state: Path, sentinel: Path | None) -> HostProcess | None:
        """Starts it, and waits until it serves. Returns None if another process serves this state. Raises
        `Unavailable`."""
        words = [*command, "host", "--state", str(state), "--json"]
        if sentinel is not None:
            words += ["--sentinel", str(sentinel)]
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            raise Unavailable(f"hob.Host could not start {words[0]}: {error.strerror}") from None
        made = cls(process, asyncio.ensure_future(_lines(process)))
        try:
            assert process.stdout is not None
            line = await process.stdout.readline()
        except BaseException:
            await made.end()
            raise
        if _is_ready(line):
            return made
        said = await made.end()
        if any("serves this state already" in each for each in said):
            return None
        why = said[-1] if said else "it printed nothing"
        raise Unavailable(f"hob.Host could not start its host: {why}. If the command is old: {INSTALL}")

    async def end(self) -> list[str]:
        """Ends it, and waits until the process is gone. Returns what it wrote for a person."""
        stdin = self._process.stdin
        if stdin is not None:
            stdin.close()
        try:
            async with asyncio.timeout(ENDING_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        return await self._log


def _is_ready(line: bytes) -> bool:
    try:
        said: Any = json.loads(line)
    except ValueError:
        return False
    return isinstance(said, dict) and "granter" in said


async def _lines(process: asyncio.subprocess.Process) -> list[str]:
    """Hands what the host writes for a person to the log. Returns the last lines."""
    assert process.stderr is not None
    last: list[str] = []
    async for line in process.stderr:
        text = line.decode(errors="replace").rstrip(os.linesep)
        logging.getLogger("hob").warning("host: %s", text)
        last = [*last[-9:], text]
    return last
