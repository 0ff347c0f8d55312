"""Two ends of a wire in memory, and a peer that sends any frame that a test wants."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hob.captp.connection import Connection
from hob.captp.dialect import Frame
from hob.captp.limits import Account, Limits


class End:
    def __init__(self) -> None:
        self.other: End
        self.connection: Connection | None = None
        self.closed: tuple[int, str] | None = None
        self.frames: list[Frame] = []
        self.stuck = 0

    def send(self, frame: Frame) -> None:
        self.frames.append(frame)
        if self.closed is None:
            asyncio.get_running_loop().call_soon(self.other.arrive, frame)

    def arrive(self, frame: Frame) -> None:
        if self.connection is not None and self.closed is None:
            self.connection.receive(frame)

    def buffered(self) -> int:
        return self.stuck

    def close(self, code: int, reason: str) -> None:
        if self.closed is None:
            self.closed = self.other.closed = (code, reason)
            if self.other.connection is not None:
                asyncio.get_running_loop().call_soon(self.other.connection.lost, code, reason)


def pair(a: object = None, b: object = None, limits: Limits | None = None) -> tuple[Connection, Connection]:
    one, two = End(), End()
    one.other, two.other = two, one
    one.connection = Connection(one, bootstrap=a, limits=limits)
    two.connection = Connection(two, bootstrap=b, limits=limits)
    return one.connection, two.connection


class Stepped:
    """Two ends whose frames arrive when `step` is called."""

    def __init__(self, a: object = None, b: object = None) -> None:
        self.ends = End(), End()
        self.waiting: list[list[Frame]] = [[], []]
        for at, end in enumerate(self.ends):
            end.other = self.ends[1 - at]
            end.send = self.waiting[at].append  # type: ignore[method-assign]
        self.client = self.ends[0].connection = Connection(self.ends[0], bootstrap=a)
        self.host = self.ends[1].connection = Connection(self.ends[1], bootstrap=b)

    def step(self, at: int) -> bool:
        if not self.waiting[at]:
            return False
        self.ends[1 - at].arrive(self.waiting[at].pop(0))
        return True

    async def settle(self) -> int:
        """Delivers frames until none is under way. Returns the number of rounds, at most 50."""
        for rounds in range(50):
            await quiet()
            if not any([self.step(0), self.step(1)]):
                return rounds
        return 50


class ByHand:
    """Speaks `hob.1` by hand."""

    def __init__(
        self, bootstrap: object = None, limits: Limits | None = None, account: Account | None = None
    ) -> None:
        self.end = End()
        self.theirs = End()
        self.end.other, self.theirs.other = self.theirs, self.end
        self.faults: list[BaseException] = []
        self._said: list[Any] = []
        self._read = 0
        self.connection = self.theirs.connection = Connection(
            self.theirs,
            bootstrap=bootstrap,
            limits=limits,
            observe=lambda _id, error: self.faults.append(error),
            account=account,
        )

    def say(self, *operations: list[Any]) -> None:
        self.end.send(json.dumps(operations))

    def raw(self, frame: Frame) -> None:
        self.end.send(frame)

    async def said(self) -> list[Any]:
        """Returns all operations that were sent until nothing is under way."""
        await quiet()
        frames = self.theirs.frames
        while self._read < len(frames):
            frame = frames[self._read]
            self._read += 1
            if isinstance(frame, str):
                self._said += json.loads(frame)
        return self._said

    async def answer(self, number: int) -> Any:
        for name, id_, *rest in await self.said():
            if id_ == number and name in ("return", "fail"):
                return rest[0] if name == "return" else f"{rest[0]}: {rest[1]}"
        return None if self.theirs.closed is None else f"closed {self.theirs.closed[0]} {self.theirs.closed[1]}"


async def quiet(rounds: int = 25) -> None:
    for _ in range(rounds):
        await asyncio.sleep(0)
