"""A connection counts about the memory that a peer makes it keep, whatever the peer sends (docs/wire.md,
"Limits").

`python3 tests/test_memory.py [MIB]` prints, for each shape of arguments, how much is kept for one MiB that is
counted.
"""

from __future__ import annotations

import asyncio
import gc
import random
import string
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import hob
import pytest
from hob.captp.limits import Account, Limits
from wire import ByHand, quiet


class Thing(hob.Far):
    def __init__(self) -> None:
        self.open: list[asyncio.Future[None]] = []

    def echo(self, *values: Any) -> Any:
        return list(values)

    async def wait(self, *_: Any) -> None:
        self.open.append(asyncio.get_running_loop().create_future())
        await self.open[-1]

    def big(self) -> str:
        return "x" * 300_000


def times(count: int, one: Callable[[int], str]) -> str:
    return f"[{','.join(map(one, range(count)))}]"


def shuffled(n: int, keys: int) -> str:
    """Records, each with other letters for its keys, or in another order."""
    chance = random.Random(n)
    return times(
        500, lambda _: "{" + ",".join(f'"{key}":1' for key in chance.sample(string.ascii_lowercase, keys)) + "}"
    )


SHAPES: dict[str, Callable[[int], str]] = {
    "records with new keys": lambda n: times(1000, lambda i: f'{{"k{n}-{i}":{i}}}'),
    "one record of new keys": lambda n: "{" + ",".join(f'"k{n}-{i}":{i}' for i in range(1000)) + "}",
    "records with the same keys": lambda _: times(5000, lambda i: f'{{"a":{i},"b":1}}'),
    "records with 6 long new keys": lambda n: times(
        500, lambda i: "{" + ",".join(f'"{n:08}{i:08}{k:08}":1' for k in range(6)) + "}"
    ),
    "records with 8 known keys in new orders": lambda n: shuffled(n, 8),
    "records with 20 known keys in new orders": lambda n: shuffled(n, 20),
    "records with keys that begin with @": lambda n: times(1000, lambda i: f'{{"@@k{n}-{i}":{i}}}'),
    "empty records": lambda _: times(20_000, lambda _: "{}"),
    "empty lists": lambda _: times(20_000, lambda _: "[]"),
    "lists of one": lambda _: times(20_000, lambda i: f"[{i}]"),
    "numbers": lambda _: times(50_000, str),
    "fractions": lambda _: times(50_000, lambda i: f"{i}.5"),
    "short strings": lambda n: times(30_000, lambda i: f'"{n * 30_000 + i:x}"'),
    "strings of 20 letters": lambda n: times(20_000, lambda i: f'"{n * 20_000 + i:020}"'),
    "short strings beyond ASCII": lambda n: times(20_000, lambda i: f'"é{n * 20_000 + i:x}"'),
    "short strings beyond Latin-1": lambda n: times(20_000, lambda i: f'"х{n * 20_000 + i:x}"'),
    "long strings": lambda n: f'"{n}{"x" * 500_000}"',
    "long strings beyond Latin-1": lambda n: f'"{n}{"х" * 250_000}"',
    "long strings with one letter beyond the basic plane": lambda n: f'"{n}{"x" * 250_000}😀"',
    "nested lists": lambda _: times(300, lambda _: "[" * 60 + "]" * 60),
    "nested records": lambda _: times(300, lambda _: '{"a":' * 60 + "1" + "}" * 60),
    "small bigints": lambda _: times(10_000, lambda i: f'{{"@":"bigint","v":"{i}"}}'),
    "long bigints": lambda _: times(7, lambda _: f'{{"@":"bigint","v":"{"7" * 16_000}"}}'),
    "symbols with new names": lambda n: times(5000, lambda i: f'{{"@":"symbol","v":"s{n}-{i}"}}'),
    "errors": lambda _: times(900, lambda _: '{"@":"error","code":"denied","message":"no"}'),
    "undefined": lambda _: times(20_000, lambda _: '{"@":"undefined"}'),
    "bytes, one at a time": lambda _: times(2000, lambda i: f'{{"@":"bytes","at":{i},"n":1}}'),
    "promises": lambda n: times(1000, lambda i: f'{{"@":"promise","n":{n * 1000 + i + 1}}}'),
    "objects": lambda n: times(1000, lambda i: f'{{"@":"object","n":{n * 1000 + i + 1}}}'),
}


@dataclass(frozen=True, slots=True)
class Weighed:
    kept: int
    counted: int


async def weigh(shape: str, method: str, most: int) -> Weighed:
    """Calls `method` with arguments of this shape until `most` bytes are counted."""
    thing = Thing()
    peer = ByHand(thing, Limits(memory_bytes=1 << 30, exports=1 << 30))
    peer.say(["deliver", 0, method, [], 1])
    await quiet()
    gc.collect()
    tracemalloc.start()
    try:
        zero, before = peer.connection.stats().bytes, tracemalloc.get_traced_memory()[0]
        number = 2
        while peer.connection.stats().bytes - zero < most and number < 30_000:
            if shape.startswith("bytes"):
                peer.connection.receive(bytes(2000))
            peer.connection.receive(f'[["deliver",0,"{method}",[{SHAPES[shape](number)}],{number}]]')
            number += 1
            await quiet(3)
            peer.theirs.frames.clear()
        await quiet()
        peer.theirs.frames.clear()
        gc.collect()
        counted = peer.connection.stats().bytes - zero
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert peer.theirs.closed is None and peer.faults == []
    peer.connection.close()
    for each in thing.open:
        each.cancel()
    await quiet()
    return Weighed(kept, counted)


DEAR = (
    "one record of new keys",
    "records with new keys",
    "records with keys that begin with @",
    "short strings",
    "short strings beyond ASCII",
    "long strings with one letter beyond the basic plane",
    "long bigints",
    "symbols with new names",
    "errors",
)
"""Shapes that take much more memory than text."""


@pytest.mark.parametrize("method", ["wait", "echo"], ids=["calls under way", "answers that are not done"])
@pytest.mark.parametrize("shape", DEAR)
async def test_the_count_is_at_most_a_fifth_less_than_the_memory_in_use(shape: str, method: str) -> None:
    weighed = await weigh(shape, method, 1 << 20)
    assert weighed.kept < 1.2 * weighed.counted, weighed


async def test_bytes_that_wait_in_the_socket_count_and_go_on_to_be_counted_while_one_frame_is_answered() -> None:
    peer = ByHand(Thing(), Limits(memory_bytes=4 << 20))
    frames = peer.theirs.frames
    # Nobody reads what is sent.
    peer.theirs.buffered = lambda: (1 << 20) + sum(map(len, frames))  # type: ignore[method-assign]
    assert peer.connection.stats().bytes >= 1 << 20
    # 100 answers of 300,000 letters, asked for in one frame. The limit allows fewer than ten of them.
    peer.connection.receive("[" + ",".join(f'["deliver",0,"big",[],{n}]' for n in range(1, 101)) + "]")
    await quiet(300)
    assert peer.theirs.closed is not None and "keeps more than it may" in peer.theirs.closed[1]
    assert sum(map(len, frames)) < 4 << 20
    assert peer.connection.stats().bytes == 0


async def test_a_call_that_still_runs_goes_on_counting_for_its_session_when_its_connection_ends() -> None:
    thing = Thing()
    account, other = Account(), Account()
    limits = Limits(memory_bytes=2_500_000)

    async def enter(calls: int, of: Account = account) -> str | None:
        """Leaves calls unanswered that want no answer, so nothing cancels them. Returns how the connection
        ended."""
        peer = ByHand(thing, limits, of)
        for _ in range(calls):
            peer.say(["deliver", 0, "wait", ["x" * 100_000]])
        await quiet(100)
        closed = peer.theirs.closed
        peer.connection.close()
        await quiet()
        return None if closed is None else closed[1]

    assert await enter(8) is None
    assert len(thing.open) == 8 and account.outliving > 800_000
    # One connection may keep twenty of them. By reconnecting, the session could keep any number.
    why = [await enter(8) for _ in range(10)]
    assert why[-1] is not None and why[-1].startswith("calls of earlier connections still run")
    assert len(thing.open) < 30
    assert await enter(8, other) is None
    for each in thing.open:
        each.set_result(None)
    await quiet(100)
    assert (account.outliving, other.outliving) == (0, 0)
    assert await enter(8) is None
    for each in thing.open:
        each.cancel()
    await quiet(100)


async def test_a_call_that_is_cancelled_with_its_connection_counts_no_longer() -> None:
    thing, account = Thing(), Account()
    peer = ByHand(thing, None, account)
    # The second call is still in the queue when the connection ends.
    peer.say(["deliver", 0, "wait", ["x" * 100_000], 1])
    await quiet()
    peer.connection.receive('[["deliver",0,"wait",["later"],2]]')
    peer.connection.close()
    assert account.outliving > 100_000
    await quiet()
    assert account.outliving == 0 and len(thing.open) == 1


async def main(most: int) -> None:
    for method in ("wait", "echo"):
        for shape in SHAPES:
            weighed = await weigh(shape, method, most)
            print(f"{weighed.kept / weighed.counted:6.2f}  {method}  {shape}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1] if len(sys.argv) > 1 else 8) << 20))
