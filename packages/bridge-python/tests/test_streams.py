"""Streams end when the last peer that was given them is gone."""

from __future__ import annotations

from typing import Any

import hob
import pytest
from hob import E
from wire import ByHand, pair, quiet


class Source(hob.Far):
    def __init__(self, parts: int = 10) -> None:
        self.left = parts
        self.returned = 0

    def next(self) -> Any:
        self.left -= 1
        return hob.undefined if self.left < 0 else b"%d" % self.left


def returned(self: Source) -> None:
    self.returned += 1


setattr(Source, "return", returned)


class Sink(hob.Far):
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.closes: Any = None

    def write(self, part: bytes) -> None:
        self.calls.append(f"write {len(part)}")

    def close(self) -> Any:
        self.calls.append("close")
        return self.closes

    def abort(self) -> None:
        self.calls.append("abort")


class Desk(hob.Far):
    def __init__(self, given: Any) -> None:
        self._given = given

    def give(self) -> Any:
        return self._given

    def inRecord(self) -> Any:
        return {"stream": self._given}

    def take(self, stream: Any) -> Any:
        self._held = stream
        return E(stream).next()


@pytest.mark.parametrize("closes", ["the reader", "the side that offers it"])
async def test_a_source_is_returned_once_read_or_not(closes: str) -> None:
    begun, unread = Source(), Source()
    client, host = pair(b=Desk(begun))
    other, second = pair(b=Desk(unread))
    stream = await E(client.bootstrap).give()
    assert await E(stream).next() == b"9"
    record = await E(other.bootstrap).inRecord()
    mine = Source()
    assert await E(client.bootstrap).take(mine) == b"9"
    for reader, offers in ((client, host), (other, second)):
        (reader if closes == "the reader" else offers).close()
    await quiet()
    assert [begun.returned, unread.returned, mine.returned] == [1, 1, 1]
    del record


async def test_a_source_that_ended_or_was_returned_gets_no_more_calls() -> None:
    ended, left, leaving = Source(2), Source(), Source()
    ends = [pair(b=Desk(source))[0] for source in (ended, left, leaving)]
    at_end, early, now = [await E(end.bootstrap).give() for end in ends]
    async for _ in hob.source(at_end):
        pass
    stream = hob.source(early)
    async for _ in stream:
        break
    await stream.aclose()  # type: ignore[attr-defined]
    # The peer calls `return`, and is gone before it gets the answer.
    E.send_only(now)["return"]()
    for end in ends:
        end.close()
    await quiet()
    assert [ended.returned, left.returned, leaving.returned] == [0, 1, 1]


async def test_a_stream_that_two_peers_read_goes_on_for_the_one_that_is_still_there() -> None:
    source = Source()
    first, _ = pair(b=Desk(source))
    second, _ = pair(b=Desk(source))
    await E(await E(first.bootstrap).give()).next()
    kept = await E(second.bootstrap).give()
    first.close()
    await quiet()
    assert source.returned == 0 and await E(kept).next() == b"8"
    second.close()
    await quiet()
    assert source.returned == 1


async def test_a_source_that_is_opened_after_its_peer_is_gone_is_returned() -> None:
    source = Source()
    opened, becomes = hob.promise()
    client, _ = pair(b=Desk(opened))
    E.send_only(client.bootstrap).inRecord()
    asked = E(client.bootstrap).give()
    await quiet()
    client.close()
    await quiet()
    becomes.fulfil(source)
    await quiet()
    assert source.returned == 1
    with pytest.raises(hob.Disconnected):
        await asked


async def test_an_object_that_is_no_stream_and_a_bootstrap_get_no_call() -> None:
    class Counter(hob.Far):
        def __init__(self) -> None:
            self.calls: list[str] = []

        def next(self) -> int:
            self.calls.append("next")
            return len(self.calls)

    counter, offered = Counter(), Source()
    client, _ = pair(b=Desk(counter))
    other, _ = pair(b=offered)
    assert await E(await E(client.bootstrap).give()).next() == 1
    await E(other.bootstrap).next()
    client.close()
    other.close()
    await quiet()
    assert counter.calls == ["next"] and offered.returned == 0


async def test_a_forwarded_source_is_returned_once_it_was_read_through_us() -> None:
    source = Source()
    near, _ = pair(b=Desk(source))
    through = await E(near.bootstrap).give()
    peer = ByHand(Desk(through))
    peer.say(["deliver", 0, "give", [], 1])
    assert await peer.answer(1) == {"@": "object", "n": 1}
    peer.say(["deliver", [1], "next", [], 2])
    assert await peer.answer(2) == {"@": "bytes", "at": 0, "n": 1}
    peer.connection.lost(1006, "")
    await quiet()
    assert source.returned == 1
    near.close()


async def test_a_sink_is_aborted_once_when_its_last_peer_is_gone() -> None:
    given, shared = Sink(), Sink()
    client, _ = pair(b=Desk(given))
    stream = await E(client.bootstrap).give()
    await E(stream).write(b"abc")
    client.close()
    first, _ = pair(b=Desk(shared))
    second, _ = pair(b=Desk(shared))
    one, two = await E(first.bootstrap).give(), await E(second.bootstrap).give()
    first.close()
    await quiet()
    assert given.calls == ["write 3", "abort"] and shared.calls == []
    await E(two).write(b"")
    second.close()
    await quiet()
    assert shared.calls == ["write 0", "abort"]
    del stream, one, two


async def test_a_sink_that_was_closed_or_aborted_gets_no_more_calls() -> None:
    for method in ("close", "abort"):
        sink = Sink()
        client, _ = pair(b=Desk(sink))
        stream = await E(client.bootstrap).give()
        await E(stream)[method]()
        client.close()
        await quiet()
        assert sink.calls == [method]


async def test_a_sink_whose_close_fails_when_its_peer_is_gone_is_aborted() -> None:
    sink = Sink()
    sink.closes, becomes = hob.promise()
    client, _ = pair(b=Desk(sink))
    E.send_only(await E(client.bootstrap).give()).close()
    await quiet()
    client.close()
    await quiet()
    assert sink.calls == ["close"]
    becomes.break_(hob.Unavailable("the disk is full"))
    await quiet()
    assert sink.calls == ["close", "abort"]
