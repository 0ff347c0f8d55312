"""Promises that wait for each other through two ends, and promises that become one of the peer's
(docs/wire.md)."""

from __future__ import annotations

import asyncio
from typing import Any

import hob
import pytest
from hob import E
from wire import ByHand, Stepped, quiet


class Ring(hob.Far):
    """Has a promise of its own, and can resolve it to a promise of the caller."""

    def __init__(self) -> None:
        self.promise, self.resolver = hob.promise()

    def give(self) -> Any:
        return {"p": self.promise}

    def join(self, given: Any) -> None:
        self.resolver.fulfil(given["p"])

    def call(self, of: Any) -> None:
        """Resolves its promise to the answer of `of`, which gets the promise."""
        self.resolver.fulfil(E(of).back({"p": self.promise}))


class Back(hob.Far):
    def back(self, given: Any) -> Any:
        return given["p"]


async def how(asked: Any) -> Any:
    try:
        return await asked
    except hob.CapError as error:
        return error.code


def watch(*asked: Any) -> list[asyncio.Task[Any]]:
    return [asyncio.ensure_future(how(each)) for each in asked]


@pytest.mark.parametrize("crossing", [False, True], ids=["one after the other", "at once"])
@pytest.mark.parametrize("busy", [False, True], ids=["alone", "with calls on their way"])
async def test_a_ring_through_two_ends_breaks_with_cycle_and_nothing_goes_round_in_it(crossing: bool, busy: bool) -> None:
    theirs = Ring()
    wire = Stepped(b=theirs)
    there = theirs.promise
    here, becomes = hob.promise()
    given = E(wire.client.bootstrap).give()
    await wire.settle()
    p = (await given)["p"]
    seen = watch(there, here, p)
    if busy:
        seen += watch(E(p).m(), E(here).m())
    E.send_only(wire.client.bootstrap).join({"p": here})
    if not crossing:
        await wire.settle()
    if busy:
        seen += watch(E(p).m(), E(there).m())
    becomes.fulfil(p)
    E.send_only(here).m()
    if busy:
        seen += watch(E(p).m(), E(here).m(), E(there).m())
    assert await wire.settle() < 50
    assert all(each.done() for each in seen), [each.done() for each in seen]
    assert {each.result() for each in seen} == {"cycle"}
    late = watch(E(p).m(), E(here).m(), E(there).m())
    await wire.settle()
    assert [each.result() for each in late] == ["cycle"] * 3
    for end in (wire.host, wire.client):
        assert end.stats().questions == end.stats().promises == 0
    wire.client.close()
    await quiet()


async def test_a_promise_that_becomes_the_answer_which_waits_for_it_breaks_with_cycle() -> None:
    theirs = Ring()
    wire = Stepped(b=theirs)
    (seen,) = watch(theirs.promise)
    E.send_only(wire.client.bootstrap).call(Back())
    assert await wire.settle() < 50
    assert seen.done() and seen.result() == "cycle"
    wire.client.close()
    await quiet()


@pytest.mark.parametrize("settled_first", [False, True])
async def test_a_promise_that_becomes_one_of_the_peers_is_what_that_becomes_and_calls_on_it_keep_their_order(
    settled_first: bool,
) -> None:
    heard: list[int] = []
    ear = hob.far({"hear": heard.append})
    theirs = Ring()
    wire = Stepped(b=theirs)
    here, becomes = hob.promise()
    given = E(wire.client.bootstrap).give()
    await wire.settle()
    p = (await given)["p"]
    E.send_only(p).hear(1)
    E.send_only(wire.client.bootstrap).join({"p": here})
    E.send_only(p).hear(2)
    if settled_first:
        await wire.settle()
    E.send_only(p).hear(3)
    becomes.fulfil(ear)
    E.send_only(p).hear(4)
    await wire.settle()
    E.send_only(p).hear(5)
    E.send_only(theirs.promise).hear(6)
    await wire.settle()
    assert heard == [1, 2, 3, 4, 5, 6]
    assert await p is ear
    wire.client.close()
    await quiet()


async def test_a_promise_that_becomes_one_of_the_peer_is_told_at_once() -> None:
    peer = ByHand()
    mine, becomes = hob.promise()
    asked = E(peer.connection.bootstrap).take([mine])
    await quiet()
    becomes.fulfil(E(peer.connection.bootstrap).make())
    said = await peer.said()
    assert said[-2:] == [["deliver", 0, "make", [], 2], ["resolve", 1, {"@": "answer", "n": 2}]]
    # It is not told a second time when that is answered.
    peer.say(["return", 2, "made"], ["return", 1, [{"@": "promise", "n": 5}]])
    (theirs,) = await asked
    assert await mine == "made"
    assert sum(operation[0] in ("resolve", "break") for operation in await peer.said()) == 1
    other, becomes = hob.promise()
    E.send_only(peer.connection.bootstrap).take(other)
    becomes.fulfil(theirs)
    assert ["resolve", 2, {"@": "yours", "n": 5}] in await peer.said()
    peer.connection.close()


async def test_a_promise_that_is_dropped_before_it_is_told_and_mentioned_again_is_told() -> None:
    peer = ByHand()
    for n in range(50):
        mine, becomes = hob.promise()
        E.send_only(peer.connection.bootstrap).take([mine])
        await quiet(3)
        peer.say(["drop", n + 1, 1])
        await quiet(3)
        # Nobody here holds it any more, and another promise may have its place in memory.
        del mine, becomes
    mine, becomes = hob.promise()
    E.send_only(peer.connection.bootstrap).take([mine])
    await quiet()
    becomes.fulfil("told")
    assert ["resolve", 51, "told"] in await peer.said()
    peer.connection.close()


async def test_a_long_chain_of_promises_with_many_that_wait_costs_in_proportion() -> None:
    peer = ByHand()
    asked = E(peer.connection.bootstrap).many()
    await quiet()
    chain = 2000
    peer.say(["return", 1, [{"@": "promise", "n": n} for n in range(1, chain + 1)]])
    promises = await asked
    counted: list[object] = []
    for promise in promises:
        for _ in range(10):
            promise._target.watch(counted.append, counted.append)
    for n in range(1, chain):
        peer.say(["resolve", n, {"@": "promise", "n": n + 1}])
    await quiet(50)
    peer.say(["resolve", chain, "end"])
    await quiet()
    assert counted == ["end"] * (chain * 10)
    peer.connection.close()


async def test_two_peers_cannot_make_an_answer_and_a_promise_wait_for_each_other() -> None:
    b, c = ByHand(), ByHand()
    far_b, far_c = b.connection.bootstrap, c.connection.bootstrap

    async def heard(peer: ByHand, method: str) -> list[Any]:
        return next(said for said in await peer.said() if said[0] == "deliver" and said[2] == method)

    given = E(far_c).give()
    c.say(["return", (await heard(c, "give"))[4], {"p": {"@": "promise", "n": 1}}])
    p = (await given)["p"]
    answer = E(far_b).ask()
    (seen,) = watch(answer)
    # Both have calls under way, so both have to wait until those have arrived.
    E.send_only(p).m()
    E.send_only(answer).m()
    E.send_only(far_c).take(answer)
    E.send_only(far_b).take(p)
    c.say(["resolve", 1, {"@": "yours", "n": (await heard(c, "take"))[3][0]["n"]}])
    await quiet()
    b.say(["return", (await heard(b, "ask"))[4], {"@": "yours", "n": (await heard(b, "take"))[3][0]["n"]}])
    await quiet()
    assert seen.done() and seen.result() == "cycle"
    # A walk along what `p` waits for ends.
    other, becomes = hob.promise()
    becomes.fulfil(p)
    await quiet()
    for each in (b, c):
        each.connection.close()
    assert await how(other) == "disconnected"
