"""The Python side of `python.ts`: `hob` and bare `websockets` with JSON, each with a server of its own in one process.

python_client.py HOB_PORT BARE_PORT, then lines `{"what": "ours" | "bare", "how": "sequential" | "pipelined" | "hop" | "offered" |
"offered-pipelined" | "import" | "needs", "n": 1000}`,
each answered with nanoseconds an operation; of imports with milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import hob
import websockets.asyncio.client as ws
from hob import E

SHORT = "hello"


class Bare:
    """What one writes who needs no more than calls: a number, a future for it, and JSON."""

    def __init__(self, socket: ws.ClientConnection) -> None:
        self.socket = socket
        self.waiting: dict[int, asyncio.Future[Any]] = {}
        self.last = 0
        self.reader = asyncio.create_task(self.read())

    async def read(self) -> None:
        async for text in self.socket:
            said = json.loads(text)
            self.waiting.pop(said["id"]).set_result(said["value"])

    async def ping(self) -> Any:
        self.last += 1
        future = self.waiting[self.last] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": self.last, "method": "ping", "value": SHORT}))
        return await future


async def sequentially(ping: Callable[[], Awaitable[Any]], n: int) -> None:
    for _ in range(n):
        assert await ping() == SHORT


async def at_once(ping: Callable[[], Awaitable[Any]], n: int) -> None:
    """1,000 at a time."""
    for _ in range(n // 1000):
        for value in await asyncio.gather(*(ping() for _ in range(1000))):
            assert value == SHORT


class Echo:
    async def ping(self, text: str) -> str:
        """Returns its argument."""
        return text


@asynccontextmanager
async def offered() -> AsyncIterator[Callable[[], Awaitable[Any]]]:
    """An object of this process, called by an agent of this process: through a host with its state on disk, a grant,
    and a ledger."""
    with tempfile.TemporaryDirectory(prefix="hob-") as folder:
        async with hob.Host(state=f"{folder}/state", sentinel=f"{folder}/sentinel") as host:
            await host.granter.offer("echo", Echo(), reads=["ping"])
            session = await host.granter.open_session("agent")
            await host.granter.grant(session.id, "echo", "echo", scope="session")
            async with await session.enter() as agent:
                cap = agent["echo"]
                yield lambda: E(cap).ping(text=SHORT)


async def counted(root: Any, n: int) -> None:
    """1,000 calls at a time of an object that is not there yet."""
    for _ in range(n // 1000):
        counter = E(root).counter()
        calls = [E(counter).next() for _ in range(1000)]
        assert [await call for call in calls][-1] == 1000


def imported(what: str, how: str) -> float:
    """CPU time of a new process, less what it takes without: an import waits for nothing, and others must not count."""
    code = "import time; t = time.process_time_ns(); {}; print(time.process_time_ns() - t)"
    ours = "import hob" if how == "import" else "import hob; hob.connect"
    names = {"ours": ours, "bare": "import asyncio, json, websockets.asyncio.client"}
    done = subprocess.run([sys.executable, "-c", code.format(names[what])], capture_output=True, text=True, check=True)
    return float(done.stdout)


async def main() -> None:
    hob_port, bare_port = sys.argv[1:3]
    ours = await hob.open_websocket(f"ws://127.0.0.1:{hob_port}", "none")
    bare = Bare(await ws.connect(f"ws://127.0.0.1:{bare_port}", compression=None))
    root = ours.bootstrap
    pings: dict[str, Callable[[], Awaitable[Any]]] = {"ours": lambda: E(root).ping(SHORT), "bare": bare.ping}
    serving = offered()
    through_host = await serving.__aenter__()
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    print("ready", flush=True)
    while line := await reader.readline():
        said = json.loads(line)
        what, how, n = said["what"], said["how"], said["n"]
        began = time.perf_counter_ns()
        if how in ("import", "needs"):
            print(imported(what, how) / 1e6, flush=True)
            continue
        if what == "ours" and how == "offered":
            await sequentially(through_host, n)
        elif what == "ours" and how == "offered-pipelined":
            await at_once(through_host, n)
        elif how in ("sequential", "offered"):
            await sequentially(pings[what], n)
        elif how == "hop" and what == "ours":
            await counted(root, n)
        else:
            await at_once(pings[what], n)
        print((time.perf_counter_ns() - began) / n, flush=True)
    await serving.__aexit__(None, None, None)
    ours.close()
    bare.reader.cancel()
    await bare.socket.close()


asyncio.run(main())
