"""Calls that wait, and calls that are sent without waiting: from any thread, and in one whose own loop runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import hob
import pytest
from hob.sync import Cap, E, Later, _loop, wait
from wire import End, pair


class Directory(hob.Far):
    def __init__(self, name: str = "") -> None:
        self.name = name
        self.heard: list[Any] = []

    def subdir(self, name: str) -> Directory:
        return Directory(f"{self.name}/{name}")

    def readText(self, name: str) -> str:
        return f"text of {self.name}/{name}"

    def echo(self, x: Any) -> Any:
        return x

    def name_of(self, of: Any) -> Any:
        return hob.E(of).readText("x")

    def hear(self, x: Any) -> None:
        self.heard.append(x)

    def fail(self, code: str) -> None:
        raise hob.errors.of_code(code, "as asked")

    async def never(self) -> None:
        await asyncio.Event().wait()


class Meeting:
    def __init__(self) -> None:
        self.directory = Directory()

        async def open_() -> Any:
            return pair(b=self.directory)

        self.client, self.host = _loop.run(open_())
        self.cap = Cap(self.client.bootstrap)

    @property
    def sent(self) -> int:
        link = self.client._outbound.link
        assert isinstance(link, End)
        # Frames with calls. Another frame has the dones later.
        return sum('"deliver"' in frame for frame in link.frames)

    def close(self) -> None:
        async def close() -> None:
            self.client.close()
            await asyncio.sleep(0)

        _loop.run(close())


@pytest.fixture
def met() -> Iterator[Meeting]:
    made = Meeting()
    yield made
    made.close()


def test_a_chain_of_calls_is_one_round_trip_and_waits_once(met: Meeting) -> None:
    busy = threading.Event()
    # So that all calls are sent in one turn of the loop, on any machine.
    _loop.soon(lambda: None if busy.wait(60) else None)
    text = E(met.cap).subdir("src").subdir("deep").readText("a.txt")
    assert isinstance(text, Later) and met.sent == 0
    busy.set()
    assert wait(text) == "text of /src/deep/a.txt"
    assert met.sent == 1
    # The same, with a wait at each step.
    assert met.cap.subdir("src").subdir("deep").readText("a.txt") == "text of /src/deep/a.txt"
    assert met.sent > 3


def test_a_pending_result_can_be_an_argument_also_of_a_call_that_waits(met: Meeting) -> None:
    assert wait(E(met.cap).name_of(E(met.cap).subdir("a"))) == "text of /a/x"
    assert met.cap.name_of(E(met.cap).subdir("b")) == "text of /b/x"
    assert met.cap.echo([{"in": E(met.cap).echo(7)}])[0]["in"] is not None
    one, two = wait(E(met.cap).echo(1), E(met.cap).subdir("c"))
    assert one == 1 and isinstance(two, Cap) and two.readText("d") == "text of /c/d"
    assert wait("data", E(met.cap).echo(b"x")) == ["data", b"x"]
    assert wait(E(met.cap)["readText"]("q")) == "text of /q"


def test_an_error_is_raised_by_the_wait(met: Meeting) -> None:
    broken = E(met.cap).fail("revoked")
    after = E(broken).anything()
    assert wait(E(met.cap).echo("on")) == "on"
    for each in (broken, after, E(met.cap).echo(after)):
        with pytest.raises(hob.Revoked):
            wait(each)
    with pytest.raises(hob.Invalid):
        wait(E(met.cap).echo(object()))
    with pytest.raises(hob.NotCallable):
        wait(E(E(met.cap).echo("data")).upper())
    with pytest.raises(hob.Invalid):
        E("data")
    with pytest.raises(TypeError, match="wait"):
        bool(E(met.cap).echo(True))


def test_deadlines(met: Meeting) -> None:
    with pytest.raises(hob.DeadlinePassed):
        wait(E(met.cap, deadline=0.01).never())
    with pytest.raises(hob.DeadlinePassed):
        met.cap.never(deadline=0.01)
    slow = E(met.cap).never()
    for _ in range(2):
        with pytest.raises(TimeoutError):
            wait(slow, deadline=0.01)
    assert wait(E(met.cap).echo(1), deadline=60) == 1


def test_a_list_that_changes_later_is_sent_unchanged(met: Meeting) -> None:
    values = [1]
    sent = E(met.cap).echo(values)
    values.append(2)
    assert wait(sent) == [1]


def test_any_thread_may_call_and_its_calls_arrive_in_order(met: Meeting) -> None:
    def calls(thread: int) -> list[Any]:
        for n in range(40):
            E.send_only(met.cap).hear([thread, n])
        answers = [E(met.cap).echo([thread, n]) for n in range(20)]
        mine = met.cap.subdir(str(thread))
        return [*wait(*answers), mine.readText("a"), wait(E(mine).readText("b"))]

    with ThreadPoolExecutor(8) as pool:
        for thread, got in enumerate(pool.map(calls, range(8))):
            assert got == [[thread, n] for n in range(20)] + [f"text of /{thread}/a", f"text of /{thread}/b"]
    for thread in range(8):
        assert [n for who, n in met.directory.heard if who == thread] == list(range(40))


def test_one_thread_may_wait_for_a_call_of_another(met: Meeting) -> None:
    directory = E(met.cap).subdir("a")
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: wait(E(directory).readText("b")), range(16))) == {"text of /a/b"}


async def test_it_waits_inside_a_running_loop_and_that_goes_on() -> None:
    met = Meeting()
    assert wait(E(met.cap).subdir("a").readText("b")) == "text of /a/b"
    assert met.cap.echo(1) == 1
    # Calls that would block this loop go to a thread.
    ticks = 0
    waiting = asyncio.ensure_future(asyncio.to_thread(met.cap.never, deadline=0.5))
    while not waiting.done():
        ticks += 1
        await asyncio.sleep(0.001)
    with pytest.raises(hob.DeadlinePassed):
        await waiting
    assert ticks > 1
    met.close()


def test_in_the_thread_of_the_connections_nothing_waits_for_itself(met: Meeting) -> None:
    async def inside() -> None:
        with pytest.raises(RuntimeError, match="await"):
            met.cap.echo(1)
        with pytest.raises(RuntimeError, match="await"):
            wait(E(met.cap).echo(1))

    _loop.run(inside())


def test_an_object_that_is_offered_may_send_and_wait(met: Meeting) -> None:
    class Ear(hob.Far):
        def readText(self, name: str) -> Any:
            assert threading.current_thread().name.startswith("hob-far")
            return wait(E(met.cap).subdir("from").readText(name))

    assert wait(E(met.cap).name_of(Ear())) == "text of /from/x"


def test_pending_calls_break_at_the_end(met: Meeting) -> None:
    slow = E(met.cap).never()
    met.close()
    for each in (slow, E(met.cap).echo(1)):
        with pytest.raises(hob.Disconnected):
            wait(each)
