"""Two event loops in one process, each in a thread of its own: neither does the work of the other."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import hob
import pytest
from hob import E
from wire import pair


class Echo(hob.Far):
    def echo(self, x: Any) -> Any:
        return x


def in_thread(work: Any) -> list[BaseException]:
    """Runs a coroutine function in a loop and a thread of its own. Returns what it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    return raised


async def test_a_settlement_is_told_in_the_thread_of_its_loop_also_while_another_loop_tells_one() -> None:
    told: list[tuple[str, int]] = []
    other: list[int] = []

    async def elsewhere() -> None:
        other.append(threading.get_ident())
        promise, resolver = hob.promise()
        promise._target.watch(lambda _: told.append(("other", threading.get_ident())), lambda _: None)
        resolver.fulfil(1)
        assert told == [("other", other[0])]
        assert await promise == 1

    promise, resolver = hob.promise()
    # This loop is in the middle of telling while the other one settles its promise.
    promise._target.watch(lambda _: told.extend([] if in_thread(elsewhere) == [] else [("failed", 0)]), lambda _: None)
    resolver.fulfil(0)
    assert told == [("other", other[0])] and other[0] != threading.get_ident()


async def test_two_loops_with_many_calls_at_once_end() -> None:
    async def calls() -> None:
        client, _ = pair(b=Echo())
        for _ in range(20):
            assert await asyncio.gather(*[E(client.bootstrap).echo(n) for n in range(20)]) == list(range(20))
        client.close()
        await asyncio.sleep(0)

    failed: list[BaseException] = []

    def run() -> None:
        failed.extend(in_thread(calls))

    threads = [threading.Thread(target=run, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join, 60)
        assert not thread.is_alive()
    assert failed == []


async def test_a_pending_promise_is_refused_in_another_thread_and_nothing_hangs() -> None:
    promise, resolver = hob.promise()

    async def awaits() -> None:
        await promise

    async def settles() -> None:
        resolver.fulfil(1)

    async def links() -> None:
        hob.promise()[1].fulfil(promise)

    for wrong in (awaits, settles, links):
        (error,) = in_thread(wrong)
        assert isinstance(error, RuntimeError) and "another thread" in str(error)
    resolver.fulfil(2)
    assert await promise == 2
    # A settled one can be read anywhere.
    assert in_thread(awaits) == []


async def test_a_watcher_that_raises_keeps_no_other_promise_from_being_told() -> None:
    told: list[str] = []

    def wrong(_: object) -> None:
        second[1].fulfil(2)
        raise ValueError("a fault of the watcher")

    first, second = hob.promise(), hob.promise()
    first[0]._target.watch(wrong, lambda _: None)
    second[0]._target.watch(lambda _: told.append("second"), lambda _: None)
    with pytest.raises(ValueError, match="fault"):
        first[1].fulfil(1)
    assert told == ["second"]
