"""Objects that a program without a loop offers: each is itself, whatever it is equal to; the threads in which
they run; the order of their calls."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import hob
import pytest
from hob.far import own_of
from hob.sync import Cap, E, _loop, wait
from hob.sync.threads import Pool
from wire import pair


class Directory(hob.Far):
    """The peer: it keeps what it is given, and calls it."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def keep(self, what: Any) -> int:
        self.kept.append(what)
        return len(self.kept) - 1

    def forget(self) -> None:
        self.kept.clear()

    def give(self, number: int) -> Any:
        return self.kept[number]

    def call(self, number: int, method: str, *args: Any) -> Any:
        return hob.E(self.kept[number])[method](*args)

    def echo(self, x: Any) -> Any:
        return x


class Met:
    def __init__(self) -> None:
        self.directory = Directory()

        async def open_() -> Any:
            return pair(b=self.directory)

        self.client, self.host = _loop.run(open_())
        self.cap = Cap(self.client.bootstrap)

    def close(self) -> None:
        async def close() -> None:
            self.client.close()
            await asyncio.sleep(0)

        _loop.run(close())


@pytest.fixture
def met() -> Iterator[Met]:
    made = Met()
    yield made
    made.close()


@dataclass(frozen=True)
class Account(hob.Far):
    """Equal to each account with the same name, whoever may use it."""

    name: str
    owner: str = field(compare=False)

    def who(self) -> str:
        return self.owner


class Everything(hob.Far):
    """Equal to everything. It cannot be hashed."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def __eq__(self, other: object) -> bool:
        return True

    def who(self) -> str:
        return self.owner


@pytest.mark.parametrize("make", [lambda owner: Account("a", owner), Everything])
def test_equal_objects_are_different_objects_for_a_peer(met: Met, make: Any) -> None:
    mine, hers = make("me"), make("her")
    assert mine == hers
    numbers = [met.cap.keep(each) for each in (mine, hers, mine)]
    assert [met.cap.call(number, "who") for number in numbers] == ["me", "her", "me"]
    # The same object is the same for the peer, too, and comes back as itself.
    kept = met.directory.kept
    assert kept[0] is kept[2] and kept[0] is not kept[1]
    assert met.cap.give(0) is mine and met.cap.give(1) is hers
    assert wait(E(met.cap).echo({"deep": [hers]}))["deep"][0] is hers


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda far: pickle.loads(pickle.dumps(far))])
def test_a_copy_is_another_object(met: Met, copied: Any) -> None:
    mine = Everything("me")
    first = met.cap.keep(mine)
    other = copied(mine)
    other.owner = "another"
    second = met.cap.keep(other)
    assert [met.cap.call(number, "who") for number in (first, second)] == ["me", "another"]
    assert met.cap.give(second) is other


async def test_a_copy_is_another_object_with_asyncio_too() -> None:
    directory = Directory()
    client, _ = pair(b=directory)
    for copied in (copy.copy, copy.deepcopy):
        mine = Everything("me")
        first = await hob.E(client.bootstrap).keep(mine)
        other = copied(mine)
        other.owner = "another"
        second = await hob.E(client.bootstrap).keep(other)
        assert [await hob.E(client.bootstrap).call(number, "who") for number in (first, second)] == ["me", "another"]
    client.close()
    await asyncio.sleep(0)


def test_calls_of_one_object_run_one_at_a_time_in_order_and_others_meanwhile(met: Met) -> None:
    class Slow(hob.Far):
        def __init__(self) -> None:
            self.begun: list[int] = []
            self.go = threading.Event()
            self.inside = 0

        def work(self, n: int) -> None:
            assert self.inside == 0
            self.inside += 1
            self.begun.append(n)
            assert self.go.wait(60)
            self.inside -= 1

    slow, other = Slow(), Everything("other")
    at, beside = met.cap.keep(slow), met.cap.keep(other)
    calls = [E(met.cap).call(at, "work", n) for n in range(50)]
    # Another object does not wait for this one.
    assert met.cap.call(beside, "who") == "other"
    assert slow.begun == [0] or slow.begun == []
    slow.go.set()
    wait(*calls)
    assert slow.begun == list(range(50))


def test_a_call_that_waits_for_a_cap_lets_its_object_be_called(met: Met) -> None:
    class Caller(hob.Far):
        def __init__(self) -> None:
            self.said: list[str] = []

        def outer(self, number: int) -> Any:
            self.said.append("begins")
            got = met.cap.call(number, "inner")
            self.said.append("goes on")
            return got

        def inner(self) -> str:
            self.said.append("inner")
            return "from inside"

    caller = Caller()
    number = met.cap.keep(caller)
    assert wait(E(met.cap).call(number, "outer", number), deadline=20) == "from inside"
    assert caller.said == ["begins", "inner", "goes on"]


def test_a_call_that_has_waited_goes_on_when_no_other_runs_and_before_those_that_have_not_begun(met: Met) -> None:
    class Two(hob.Far):
        def __init__(self) -> None:
            self.said: list[str] = []
            self.beside = False

        def first(self) -> None:
            self.said.append("first begins")
            met.cap.echo(1)
            self.said.append("first goes on")

        def second(self) -> None:
            self.said.append("second begins")
            # The first call has its answer, and wants to go on.
            while not turns_of(self)._resuming and "first goes on" not in self.said:
                pass
            threading.Event().wait(0.05)
            self.said.append("second ends")

        def third(self) -> None:
            self.said.append("third")

    two = Two()
    number = met.cap.keep(two)
    busy = threading.Event()
    # So that all three calls arrive before the first one has its answer.
    _loop.soon(lambda: None if busy.wait(60) else None)
    calls = [E(met.cap).call(number, name) for name in ("first", "second", "third")]
    busy.set()
    wait(*calls)
    assert two.said == ["first begins", "second begins", "second ends", "first goes on", "third"]


def turns_of(far: hob.Far) -> Any:
    made: Any = own_of(far).in_thread
    return made._turns


def test_a_call_whose_caller_is_gone_does_not_begin(met: Met) -> None:
    class Slow(hob.Far):
        def __init__(self) -> None:
            self.begun: list[int] = []
            self.entered = threading.Event()
            self.go = threading.Event()

        def work(self, n: int) -> None:
            self.begun.append(n)
            self.entered.set()
            assert self.go.wait(60)

    slow = Slow()
    number = met.cap.keep(slow)
    calls = [E(met.cap).call(number, "work", n) for n in range(5)]
    assert slow.entered.wait(60)
    met.close()
    for call in calls:
        with pytest.raises(hob.Disconnected):
            wait(call)
    slow.go.set()
    # The turns of the object go on: a later call of another connection runs.
    other = Met()
    assert other.cap.call(other.cap.keep(slow), "work", 9) is None
    assert slow.begun == [0, 9]
    other.close()


def far_threads() -> int:
    return sum(each.name.startswith("hob-far") for each in threading.enumerate())


def test_ten_thousand_offers_leave_no_object_and_at_most_four_threads(met: Met) -> None:
    living: list[weakref.ref[Any]] = []
    for _ in range(100):
        some = [Everything("a") for _ in range(100)]
        living += map(weakref.ref, some)
        numbers = wait(*[E(met.cap).keep(each) for each in some])
        assert wait(*[E(met.cap).call(number, "who") for number in numbers]) == ["a"] * 100
        met.cap.forget()
        del some
    # The peer says that it dropped them with its next frames.
    for _ in range(200):
        met.cap.echo(1)
        gc.collect()
        if far_threads() <= Pool.KEPT and not any(each() is not None for each in living):
            break
    assert sum(each() is not None for each in living) == 0
    assert far_threads() <= Pool.KEPT
