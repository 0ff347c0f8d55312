"""A peer for the scenarios of `packages/vat`: many connections over stdin and stdout, a line of JSON for each
frame.

    {"c": 1, "open": "host", "world": 1}     offers the fixture of that world
    {"c": 2, "open": "puppet"}               offers what enters other hosts, and sends what it is told to
    {"c": 1, "text": …} {"c": 1, "bytes": BASE64} {"c": 1, "close": [CODE, REASON]}
    {"ask": "quiet" | "stats", "id": 7}      is answered with {"id": 7, "value": …}
"""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import sys
from typing import Any

import hob
from hob import E
from hob.captp.connection import Connection
from hob.captp.dialect import Frame


def write(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Pipe:
    def __init__(self, number: int) -> None:
        self.number = number

    def send(self, frame: Frame) -> None:
        if isinstance(frame, str):
            write({"c": self.number, "text": frame})
        else:
            write({"c": self.number, "bytes": base64.b64encode(frame).decode()})

    def buffered(self) -> int:
        return 0

    def close(self, code: int, reason: str) -> None:
        write({"c": self.number, "close": [code, reason]})


connections: dict[int, Connection] = {}
fixtures: dict[int, Fixture] = {}


class Log(hob.Far):
    def __init__(self) -> None:
        self._lines: list[Any] = []

    def add(self, line: Any) -> int:
        self._lines.append(line)
        return len(self._lines)

    def lines(self) -> list[Any]:
        return self._lines


class Vault:
    def reveal(self) -> str:
        return "secret"


class Fixture(hob.Far):
    """The fixture of packages/vat/test/scenario-sides.ts."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}
        self._promises: dict[str, tuple[hob.Promise, Any]] = {}

    def echo(self, x: Any) -> Any:
        return x

    def list(self, *xs: Any) -> Any:
        return list(xs)

    def fail(self, code: str) -> None:
        raise hob.errors.of_code(code, "as asked")

    async def never(self) -> None:
        await asyncio.Event().wait()

    def log(self) -> Log:
        return Log()

    def tell(self, target: Any, method: str, args: Any) -> Any:
        return E(target)[method](*args)

    def tellOnly(self, target: Any, method: str, args: Any) -> Any:
        E.send_only(target)[method](*args)
        return hob.undefined

    def keep(self, name: str, boxed: Any) -> Any:
        self._kept[name] = boxed[0]
        return hob.undefined

    def kept(self, name: str) -> Any:
        return [self._kept.get(name, hob.undefined)]

    def promise(self, name: str) -> Any:
        self._promises[name] = hob.promise()
        return [self._promises[name][0]]

    def resolve(self, name: str, x: Any) -> Any:
        self._promises[name][1].fulfil(x)
        return hob.undefined

    def resolveWith(self, name: str, boxed: Any) -> Any:
        return self.resolve(name, boxed[0])

    def _break(self, name: str, code: str) -> Any:
        self._promises[name][1].break_(hob.errors.of_code(code, "as asked"))
        return hob.undefined

    async def outcome(self, boxed: Any) -> Any:
        try:
            x = boxed[0]
            return ["ok", await x if isinstance(x, hob.Promise) else x]
        except hob.CapError as error:
            return ["broken", error.code]

    def same(self, x: Any, y: Any) -> bool:
        return x is y

    def impassable(self) -> Any:
        return Vault()


# Keywords of Python, and names of its object.
setattr(Fixture, "self", lambda self: self)
setattr(Fixture, "break", Fixture._break)


class Side(hob.Far):
    """A client that has entered a host."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def fixture(self) -> Any:
        return self._connection.bootstrap

    def send(self, to: Any, method: str, args: Any) -> Any:
        return E(to)[method](*args)

    def sendOnly(self, to: Any, method: str, args: Any) -> Any:
        E.send_only(to)[method](*args)
        return hob.undefined

    def release(self, ref: Any) -> Any:
        self._connection.release(ref)
        return hob.undefined


class Puppet(hob.Far):
    def enter(self, number: int) -> Side:
        connections[number] = Connection(Pipe(number))
        return Side(connections[number])


async def told(line: dict[str, Any]) -> None:
    number = line.get("c", 0)
    if "open" in line:
        if line["open"] == "puppet":
            offered: hob.Far = Puppet()
        else:
            offered = fixtures.setdefault(line["world"], Fixture())
        connections[number] = Connection(Pipe(number), bootstrap=offered)
    elif "text" in line:
        connections[number].receive(line["text"])
    elif "bytes" in line:
        connections[number].receive(base64.b64decode(line["bytes"]))
    elif "close" in line:
        connections.pop(number).lost(*line["close"])
    elif line["ask"] == "stats":
        gc.collect()
        stats = [vars_of(connections[c].stats()) for c in line["of"] if c in connections]
        write({"id": line["id"], "value": stats})
    elif line["ask"] == "quiet":
        asyncio.get_running_loop().create_task(quiet(line["id"]))


def vars_of(stats: hob.Stats) -> dict[str, int]:
    return {name: getattr(stats, name) for name in stats.__slots__}


async def quiet(number: int) -> None:
    for _ in range(12):
        await asyncio.sleep(0)
    write({"id": number, "value": None})


async def main() -> None:
    reader = asyncio.StreamReader(limit=1 << 26)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    write({"id": 0, "value": "ready"})
    while line := await reader.readline():
        await told(json.loads(line))
        # Each frame is received in a turn of its own.
        await asyncio.sleep(0)


asyncio.run(main())
