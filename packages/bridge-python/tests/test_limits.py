"""The work and memory that a hostile host can cause are bounded. Frames that we send keep the same bounds
(docs/wire.md, "Limits")."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import Any

import hob
import pytest
from hob import E
from hob.captp.limits import FREE_KEYS, PROMISES
from wire import ByHand, pair, quiet


class Thing(hob.Far):
    def __init__(self) -> None:
        self.kept: Any = None

    def echo(self, *values: Any) -> Any:
        return list(values)

    def size(self, *values: Any) -> int:
        return len(json.dumps(values))

    def keep(self, value: Any) -> None:
        self.kept = value

    def through(self, value: Any) -> Any:
        return E(value).call()

    async def never(self, *_: Any) -> None:
        await asyncio.Event().wait()


def keyed(keys: int) -> str:
    return "{" + ",".join(f'"k{n}":1' for n in range(keys)) + "}"


async def test_new_keys_count_as_more_tokens_and_repeated_keys_do_not() -> None:
    # 4,096 keys are free. Each further key counts as 40 and a comma.
    for keys, passes in ((FREE_KEYS + 4600, True), (FREE_KEYS + 4800, False)):
        peer = ByHand(Thing())
        peer.raw(f'[["deliver",0,"size",[{keyed(keys)}],1]]')
        answer = await peer.answer(1)
        assert isinstance(answer, int) if passes else answer.startswith("closed 4400 a frame may have 200000 tokens")
        peer.connection.close()
    peer = ByHand(Thing())
    peer.say(["deliver", 0, "echo", [[{"x": 1, "y": ":"}] * 20_000], 1])
    assert len((await peer.answer(1))[0]) == 20_000
    # A peer is not sent a frame on which it would close.
    with pytest.raises(hob.Limit):
        await E(peer.connection.bootstrap).take({f"k{n}": 1 for n in range(12_000)})
    asked = E(peer.connection.bootstrap).take([{"x": 1}] * 20_000)
    await quiet()
    peer.say(["return", 1, "taken"])
    assert await asked == "taken"
    peer.connection.close()


async def test_a_frame_may_bring_at_most_4096_new_promises() -> None:
    peer = ByHand(Thing())
    many = [{"@": "promise", "n": n} for n in range(1, PROMISES + 2)]
    peer.say(["deliver", 0, "size", [many[0]], 1], ["deliver", 0, "keep", [many], 2])
    assert str(await peer.answer(2)).startswith("limit: a frame may bring")
    peer.say(["deliver", 0, "keep", [[{"@": "promise", "n": PROMISES + 1}]], 3])
    assert await peer.answer(3) is None
    assert ["return", 3, None] in await peer.said()
    peer.connection.close()


async def test_the_copies_of_answers_in_one_frame_are_limited() -> None:
    peer = ByHand(Thing())
    peer.say(["deliver", 0, "echo", [[[]] * 10_000], 1])
    await quiet()
    tracemalloc.start()
    try:
        # 60 calls with ten copies of almost a megabyte each.
        named = [{"@": "answer", "n": 1}] * 10
        peer.say(*(["deliver", 0, "never", named, n] for n in range(2, 62)))
        await quiet(5)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
    answers = [str(each[2:]) for each in await peer.said() if each[0] == "fail"]
    assert peer.theirs.closed is not None or any("too much of answers" in answer for answer in answers)
    peer.connection.close()


async def test_answers_that_are_strings_are_not_copied() -> None:
    peer = ByHand(Thing())
    peer.say(["deliver", 0, "echo", ["x" * 500_000], 1], ["deliver", 0, "self", [], 2])
    peer.say(["deliver", 0, "size", [], 3])
    await quiet()
    assert await peer.answer(3) == 2
    peer.connection.close()


@pytest.mark.parametrize("shape", ["[]", "{}", '"x"', '{"a":1}', '"\\u20ac"', "[1]"])
async def test_the_count_of_answers_is_at_least_half_of_their_memory(shape: str) -> None:
    """Checks answers without `done`: `stats` counts at least half of the memory that the process keeps for
    them."""
    peer = ByHand(Thing())
    peer.say(["deliver", 0, "echo", [], 1])
    await peer.said()
    tracemalloc.start()
    try:
        before = peer.connection.stats().bytes, tracemalloc.get_traced_memory()[0]
        for n in range(2, 12):
            peer.raw(f'[["deliver",0,"echo",[[{",".join([shape] * 2000)}]],{n}]]')
            await quiet(5)
        peer.theirs.frames.clear()
        peer._read = 0
        counted = peer.connection.stats().bytes - before[0]
        takes = tracemalloc.get_traced_memory()[0] - before[1]
    finally:
        tracemalloc.stop()
    assert counted * 2 > takes, (counted, takes)
    peer.connection.close()


async def test_at_the_end_everything_that_waits_breaks_in_portions() -> None:
    peer = ByHand()
    broken: list[BaseException] = []
    for n in range(20):
        for _ in range(500):
            E(peer.connection.bootstrap).x()._target.watch(lambda _: None, broken.append)
        if n % 5 == 4:
            await quiet(2)
    assert peer.connection.stats().questions == 10_000
    peer.connection.lost(1006, "")
    assert len(broken) == 4096
    assert peer.connection.stats() == hob.Stats(0, 0, 0, 0, 0, 0)
    await quiet(5)
    assert len(broken) == 10_000
    assert all(isinstance(each, hob.Disconnected) for each in broken)


async def test_a_forwarded_call_without_a_question_asks_no_question() -> None:
    far = ByHand()
    peer = ByHand(Thing())

    class Forwards(hob.Far):
        def __init__(self, to: Any) -> None:
            self._to = to

        def get(self) -> Any:
            return self._to

    through = ByHand(Forwards(far.connection.bootstrap))
    through.say(["deliver", 0, "get", [], 1], ["deliver", [1], "go", [1]], ["deliver", [1], "go", [2], 2])
    await quiet()
    assert await far.said() == [["deliver", 0, "go", [1]], ["deliver", 0, "go", [2], 1]]
    assert through.connection._answers.unanswered == 1
    for each in (far, peer, through):
        each.connection.close()


async def test_a_call_without_a_question_goes_on_when_its_caller_is_gone() -> None:
    done: list[str] = []

    class Worker(hob.Far):
        async def work(self) -> None:
            await asyncio.sleep(0.01)
            done.append("done")

    client, _ = pair(b=Worker())
    E.send_only(client.bootstrap).work()
    await quiet(5)
    client.close()
    async with asyncio.timeout(100):
        while not done:
            await asyncio.sleep(0.01)


async def test_no_frame_is_larger_than_its_receiver_takes() -> None:
    client, host = pair(b=Thing())
    for spare in range(6):
        # Drops and dones go with the next frame, which may be full.
        await E(client.bootstrap).echo(1)
        text = "x" * ((1 << 20) - len('[["deliver",0,"size",[""],10]]') - 2 + spare)
        try:
            assert await E(client.bootstrap).size(text) > 1 << 19
        except hob.Limit:
            assert spare > 1
    assert host.closed is None
    assert max(len(frame) for frame in client._outbound.link.frames) <= 1 << 20  # type: ignore[attr-defined]
    client.close()
