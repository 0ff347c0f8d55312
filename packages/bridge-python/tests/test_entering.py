"""A host that can let nobody in now, played by a bare HTTP server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import hob
import pytest
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

Answer = Callable[[int], int]
"""Returns the status for an attempt with this number."""


class Door:
    def __init__(self, answer: Answer) -> None:
        self.tries = 0
        self._answer = answer

    async def hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            self.tries += 1
            status = self._answer(self.tries)
            writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def a_door(answer: Answer) -> AsyncIterator[tuple[Door, str]]:
    door = Door(answer)
    server = await asyncio.start_server(door.hear, "127.0.0.1", 0)
    async with server:
        yield door, f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    await asyncio.sleep(0)


async def test_a_host_that_can_look_up_no_secret_is_asked_again_until_it_can() -> None:
    async with a_door(lambda tries: 503 if tries < 4 else 401) as (door, url):
        with pytest.raises(hob.Refused) as refused:
            await hob.connect(url, "secret")
        assert refused.value.status == 401
        assert door.tries == 4


async def test_a_host_that_stays_so_until_the_timeout_is_unavailable_and_the_secret_may_be_right() -> None:
    async with a_door(lambda _tries: 503) as (door, url):
        with pytest.raises(hob.Unavailable, match="keep the secret"):
            await hob.connect(url, "secret", timeout=2.0)
        assert 1 < door.tries < 30


async def test_a_host_may_be_gone_and_come_back_while_the_client_waits() -> None:
    async with a_door(lambda _tries: 503) as (door, url):
        entering = asyncio.ensure_future(hob.connect(url, "secret"))
        while door.tries == 0:
            await asyncio.sleep(0.01)
    port = int(url.rsplit(":", 1)[1])
    await asyncio.sleep(0.3)
    server = await asyncio.start_server(Door(lambda _tries: 401).hear, "127.0.0.1", port)
    async with server:
        with pytest.raises(hob.Refused) as refused:
            await entering
        assert refused.value.status == 401
    await asyncio.sleep(0)


async def test_too_many_connections_of_a_session_raise_limit_at_once() -> None:
    async with a_door(lambda _tries: 429) as (door, url):
        with pytest.raises(hob.Limit):
            await hob.connect(url, "secret")
        assert door.tries == 1


async def test_a_host_that_does_not_read_for_two_seconds_gets_what_was_sent_before_the_close() -> None:
    got: list[str] = []
    over = asyncio.Event()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        protocol = ServerProtocol(subprotocols=[Subprotocol("hob.1")], max_size=2 << 20)
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                protocol.receive_data(data)
                entered = False
                for event in protocol.events_received():
                    if isinstance(event, Request):
                        protocol.send_response(protocol.accept(event))
                        entered = True
                    elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                        got.append(bytes(event.data).decode()[:40])
                for part in protocol.data_to_send():
                    writer.write(part)
                if entered:
                    await asyncio.sleep(2.0)
        writer.close()
        over.set()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    async with server:
        session = await hob.connect(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", "secret")
        # More than the kernel's buffers hold.
        for n in range(8):
            hob.E.send_only(session.root).add(n, "x" * 900_000)
        await asyncio.sleep(0)
        session.close()
        await over.wait()
    assert len(got) == 8
