"""Two ends of ours over a wire in memory: calls, arguments, waits and drops."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import hob
import pytest
from hob import E
from hob.streams import write
from wire import pair, quiet


class Directory(hob.Far):
    def __init__(self, name: str = "") -> None:
        self.name = name

    def subdir(self, name: str) -> Directory:
        return Directory(f"{self.name}/{name}")

    def readText(self, name: str) -> str:
        return f"text of {self.name}/{name}"

    async def slowly(self, value: Any) -> Any:
        await asyncio.sleep(0)
        return value

    def echo(self, *values: Any) -> Any:
        return values[0] if len(values) == 1 else list(values)

    def fail(self, code: str) -> None:
        raise hob.errors.of_code(code, "as asked")

    def crash(self) -> None:
        raise ValueError("/etc/secret is mine")

    async def never(self) -> None:
        await asyncio.Event().wait()

    async def outcome(self, given: list[Any]) -> Any:
        try:
            return ["ok", await given[0]]
        except hob.CapError as error:
            return ["broken", error.code]

    def open(self, parts: int) -> hob.ByteSource:
        return hob.ByteSource(b"%d" % i * 1000 for i in range(parts))


class Ear(hob.Far):
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def hear(self, value: Any) -> int:
        self.heard.append(value)
        return len(self.heard)


async def test_a_chain_of_calls_is_one_round_trip() -> None:
    client, host = pair(b=Directory())
    text = E(client.bootstrap).subdir("src").subdir("deep").readText("a.txt")
    await quiet(2)
    assert len(client._outbound.link.frames) == 1  # type: ignore[attr-defined]
    assert await text == "text of /src/deep/a.txt"
    assert len(host._outbound.link.frames) == 1  # type: ignore[attr-defined]
    assert await client.bootstrap.readText("b") == "text of /b"
    client.close()


async def test_a_pending_answer_can_be_an_argument() -> None:
    client, _ = pair(b=Directory())
    root = E(client.bootstrap)
    assert await root.outcome([root.slowly(root.echo(7))]) == ["ok", 7]
    assert await root.outcome([root.fail("expired")]) == ["broken", "expired"]
    client.close()


async def test_data_makes_a_round_trip() -> None:
    client, _ = pair(b=Directory())
    values: list[Any] = [
        None, True, -1.5, "ü\u2028\ud800", [[], {}], {"a": {"@": 1, "@@x": 2}}, 2**80, hob.undefined, b"", b"bytes" * 500,
        float("inf"), -0.0, 1e300, 2**53 - 1, hob.Symbol("s"), 10**9000, {"then": "data", "toString": 1},
    ]  # fmt: skip
    home = await E(client.bootstrap).echo(*values)
    assert home == values
    assert str(home[11]) == "-0.0" and isinstance(home[6], hob.BigInt)
    client.close()


async def test_errors_have_classes_and_the_text_of_other_errors_does_not_leave() -> None:
    client, _ = pair(b=Directory())
    with pytest.raises(hob.Revoked) as caught:
        await E(client.bootstrap).fail("revoked")
    assert caught.value.code == "revoked" and str(caught.value) == "as asked"
    with pytest.raises(hob.CapError) as strange:
        await E(client.bootstrap).fail("NOT_FOUND")
    assert strange.value.code == "NOT_FOUND"
    with pytest.raises(hob.Failed) as failed:
        await E(client.bootstrap).crash()
    assert "secret" not in str(failed.value) and "error " in str(failed.value)
    error = (await E(client.bootstrap).echo(hob.Denied("no")))
    assert isinstance(error, hob.Denied) and str(error) == "no"
    with pytest.raises(hob.Invalid):
        await E(client.bootstrap).subdir()
    client.close()


async def test_a_name_that_is_not_a_method_is_refused() -> None:
    client, _ = pair(b=Directory())
    for name in ("nothing", "__init__", "__class__", "_private", "name", "then", "constructor", "__proto__", "x" * 2000, "__hob_method__"):
        with pytest.raises(hob.NoSuchMethod):
            await E(client.bootstrap)[name]()
    with pytest.raises(hob.NotCallable):
        await E(E(client.bootstrap).echo("text")).upper()
    client.close()


async def test_only_what_a_class_below_far_defines_is_offered() -> None:
    class Base:
        def base(self) -> str:
            return "base"

    class Mixed(hob.Far, Base, dict):  # type: ignore[type-arg]
        tool = len

        @property
        def prop(self) -> str:
            return "prop"

        @staticmethod
        def static() -> str:
            return "static"

        def mine(self) -> str:
            return "mine"

    class Narrower(Mixed):
        mine = None  # type: ignore[assignment]

        def more(self) -> str:
            return "more"

    client, host = pair(b=Mixed())
    assert await E(client.bootstrap).mine() == "mine"
    for name in ("base", "keys", "tool", "prop", "static", "update"):
        with pytest.raises(hob.NoSuchMethod):
            await E(client.bootstrap)[name]()
    narrow, _ = pair(b=Narrower())
    assert await E(narrow.bootstrap).more() == "more"
    with pytest.raises(hob.NoSuchMethod):
        await E(narrow.bootstrap).mine()
    # Nothing is passed by accident.
    for thing in (object(), Base(), len, lambda: 1, open, Mixed, {1: 2}, {"__proto__": 1}, {1, 2}):
        with pytest.raises(hob.Invalid):
            await E(client.bootstrap).mine(thing)
    with pytest.raises(hob.Invalid):
        hob.far(Base())
    with pytest.raises(hob.Invalid):
        hob.far(Base(), "__init__")
    limited = hob.far(Base(), "base")
    other, _ = pair(b=limited)
    assert await E(other.bootstrap).base() == "base"
    function, _ = pair(b=hob.far(lambda x: x + 1))
    assert await E(function.bootstrap)(1) == 2
    for each in (client, narrow, other, function):
        each.close()
    del host


async def test_an_object_that_comes_back_is_the_same_object() -> None:
    client, _ = pair(b=Directory())
    ear = Ear()
    home = await E(client.bootstrap).echo(ear, [ear])
    assert home[0] is ear and home[1][0] is ear
    a = await E(client.bootstrap).subdir("a")
    assert (await E(client.bootstrap).echo(a, client.bootstrap)) == [a, client.bootstrap]
    client.close()


async def test_calls_overtake_nothing_when_a_promise_becomes_the_senders_own() -> None:
    client, _ = pair(b=Directory())
    ear = Ear()
    p = E(client.bootstrap).slowly(ear)
    answers = [E(p).hear(1), E(p).hear(2)]
    known = await p
    answers += [E(p).hear(3), E(known).hear(4)]
    assert await asyncio.gather(*answers) == [1, 2, 3, 4]
    assert ear.heard == [1, 2, 3, 4] and known is ear
    client.close()


async def test_coroutines_begin_in_the_order_in_which_they_were_called() -> None:
    begun: list[int] = []

    class Mixed(hob.Far):
        async def slow(self, n: int) -> None:
            begun.append(n)
            await asyncio.sleep(0)

        def quick(self, n: int) -> None:
            begun.append(n)

    client, _ = pair(b=Mixed())
    await asyncio.gather(*(E(client.bootstrap)["slow" if n % 3 else "quick"](n) for n in range(30)))
    assert begun == list(range(30))
    client.close()


async def test_promises_both_ways() -> None:
    client, _ = pair(b=Directory())
    promise, resolver = hob.promise()
    seen = E(client.bootstrap).outcome([promise])
    await quiet(5)
    resolver.fulfil("hi")
    assert await seen == ["ok", "hi"]
    future = asyncio.get_running_loop().create_future()
    seen = E(client.bootstrap).outcome([future])
    future.set_exception(hob.Denied("no"))
    assert await seen == ["broken", "denied"]
    (theirs,) = (await E(client.bootstrap).echo([E(client.bootstrap).slowly("x")]),)
    assert [await each if isinstance(each, hob.Promise) else each for each in theirs] == ["x"]
    client.close()


async def test_a_promise_that_becomes_itself_breaks() -> None:
    promise, resolver = hob.promise()
    resolver.fulfil(promise)
    with pytest.raises(hob.errors.Cycle):
        await promise
    # A chain of a hundred thousand promises needs no stack.
    first, last = hob.promise()
    here = first
    for _ in range(100_000):
        following, resolver = hob.promise()
        resolver.fulfil(here)
        here = following
    last.fulfil(1)
    assert await here == 1


async def test_a_lost_connection_breaks_what_waits() -> None:
    client, host = pair(b=Directory())
    (mine, resolver) = hob.promise()
    waits = [E(client.bootstrap).never(), E(client.bootstrap).echo([mine])]
    ref = await E(client.bootstrap).subdir("a")
    await quiet()
    host.close("gone", 1001)
    for wait in waits[:1]:
        with pytest.raises(hob.Disconnected):
            await wait
    with pytest.raises(hob.Disconnected):
        await ref.readText("a")
    assert await client.ended() == (1001, "gone")
    assert client.stats() == hob.Stats(0, 0, 0, 0, 0, 0) == host.stats()
    resolver.fulfil(1)


async def test_the_work_of_a_peer_that_is_gone_is_cancelled() -> None:
    gone: list[str] = []

    class Worker(hob.Far):
        async def work(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                gone.append("cancelled")

    client, _ = pair(b=Worker())
    wait = E(client.bootstrap).work()
    await quiet()
    client.close()
    await quiet()
    assert gone == ["cancelled"]
    with pytest.raises(hob.Disconnected):
        await wait


async def test_a_deadline_breaks_the_call_with_its_class() -> None:
    client, _ = pair(b=Directory())
    with pytest.raises(hob.DeadlinePassed) as caught:
        await E(client.bootstrap, deadline=0.01).never()
    assert isinstance(caught.value, hob.UnknownOutcome) and caught.value.code == "unknown-outcome"
    assert await E(client.bootstrap, deadline=60).echo(1) == 1
    client.close()


async def test_when_nobody_holds_anything_nothing_is_left() -> None:
    client, host = pair(b=Directory())
    await E(client.bootstrap).echo(0)
    await quiet()
    before = client.stats(), host.stats()
    for i in range(20):
        deeper = await E(client.bootstrap).subdir("x")
        await E(deeper).echo(Ear(), deeper)
        promise, resolver = hob.promise()
        seen = E(client.bootstrap).outcome([promise])
        resolver.fulfil(i)
        assert await seen == ["ok", i]
        with pytest.raises(hob.Denied):
            await E(client.bootstrap).fail("denied")
        del deeper, promise, resolver, seen
    for _ in range(3):
        gc.collect()
        await quiet()
    assert (client.stats(), host.stats()) == before
    client.close()


async def test_a_reference_collected_in_another_thread_is_dropped_in_the_loop() -> None:
    client, host = pair(b=Directory())
    refs = [[await E(client.bootstrap).subdir(str(i)) for i in range(10)]]
    await quiet()
    assert host.stats().exports == 11
    await asyncio.to_thread(refs.clear)
    gc.collect()
    await quiet()
    assert host.stats().exports == 1
    ref = await E(client.bootstrap).subdir("again")
    client.release(ref)
    await quiet()
    assert host.stats().exports == 1
    with pytest.raises(hob.NoSuchObject):
        await ref.readText("a")
    client.close()


async def test_a_reference_is_refused_in_another_thread() -> None:
    client, _ = pair(b=Directory())
    ref = client.bootstrap

    def elsewhere() -> None:
        ref.readText("a")

    with pytest.raises(RuntimeError, match=r"hob\.sync"):
        await asyncio.to_thread(elsewhere)
    client.close()


async def test_streams_are_pulled_and_end() -> None:
    client, host = pair(b=Directory())
    got = [chunk async for chunk in hob.source(E(client.bootstrap).open(5))]
    assert b"".join(got) == b"".join(b"%d" % i * 1000 for i in range(5))
    got = [chunk async for chunk in hob.source(E(client.bootstrap).open(2), max=300)]
    assert [len(chunk) for chunk in got] == [300, 300, 300, 100] * 2
    taken: list[int] = []

    def endless() -> Any:
        for i in range(10**9):
            taken.append(i)
            yield b"x" * 10

    stream = hob.source(await E(client.bootstrap).echo(hob.ByteSource(endless())))
    async for _ in stream:
        break
    await stream.aclose()  # type: ignore[attr-defined]
    await quiet()
    assert taken == [0]
    del host
    client.close()


async def test_a_sink_is_closed_or_aborted() -> None:
    class Sink(hob.Far):
        def __init__(self) -> None:
            self.log: list[Any] = []

        def write(self, part: bytes) -> None:
            if part == b"bad":
                raise hob.Limit("full")
            self.log.append(part)

        def close(self) -> None:
            self.log.append("closed")

        def abort(self) -> None:
            self.log.append("aborted")

    sink = Sink()
    client, _ = pair(b=sink)
    await write(client.bootstrap, [b"a", b"b"], ahead=2)
    assert sink.log == [b"a", b"b", "closed"]
    with pytest.raises(hob.Limit):
        await write(client.bootstrap, [b"c", b"bad", b"d"])
    await quiet()
    assert sink.log == [b"a", b"b", "closed", b"c", "aborted"]
    client.close()


async def test_a_call_without_a_question_arrives() -> None:
    ear = Ear()
    client, host = pair(b=ear)
    for i in range(3):
        E.send_only(client.bootstrap).hear(i)
    await quiet()
    assert ear.heard == [0, 1, 2]
    assert host.stats().answers == 0
    client.close()


async def test_a_list_that_changes_later_is_sent_unchanged() -> None:
    client, _ = pair(b=Directory())
    values = [1]
    home = E(client.bootstrap).echo(values)
    values.append(2)
    assert await home == [1]
    client.close()
