"""The WebSocket of a connection: RFC 6455 by `websockets` (its Sans-I/O part), bytes by asyncio.

Promise: the secret goes into a header and never into the address. A host that refuses is told apart from a
host that is not there. If a host can let nobody in now (HTTP 503: its store fails), the client asks again
until the time is over; this says nothing about the secret. A host that is silent for two pings is gone. A
frame that is too large ends the connection before it is in memory, also if it comes in pieces.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame as WireFrame
from websockets.frames import Opcode
from websockets.http11 import Response
from websockets.protocol import CONNECTING, OPEN
from websockets.typing import Subprotocol

from .address import Address
from .captp.connection import Connection
from .captp.dialect import Frame
from .errors import CapError, Denied, Disconnected, Invalid, Limit, Unavailable
from .captp.limits import Account, Limits

PING_S: Final = 10.0
FIRST_WAIT_S: Final = 0.1
LONGEST_WAIT_S: Final = 2.0
CLOSE_S: Final = 3.0
"""How long to wait for the answer to a close. The host pauses its reading for up to 2 s. If the connection
ended before that, the frames that were sent last would be lost."""


class Refused(Denied):
    """The host refused: the secret is wrong (`status` 401), the dialect is unknown (400) or the origin is
    another one (403)."""

    status: int = 0


class _NotNow(Unavailable):
    """The host runs, and accepts no connection now."""


def refused(status: int) -> CapError:
    """Returns the error for an HTTP status of the host."""
    if status == 401:
        error = Refused("the host does not know this secret: ask for a new one")
    elif status == 503:
        return _NotNow(
            "the host accepts no connection now (its store fails, its machine is away, or it has too many): "
            "keep the secret, and ask whoever runs the host to look"
        )
    elif status == 429:
        return Limit("this session has too many connections (those of its children count too): close some")
    elif status == 404:
        return Unavailable("no host answers at this address: compare it with the line `hob ready` that the host printed")
    else:
        error = Refused(f"the host refused the connection (HTTP {status})")
    error.status = status
    return error


class WebSocket(asyncio.Protocol):
    """A `Link` of `Connection`."""

    def __init__(
        self, protocol: ClientProtocol, secret: str, limits: Limits, opened: asyncio.Future[None]
    ) -> None:
        self._protocol = protocol
        self._secret = secret
        self._most = limits.frame_bytes
        self._opened = opened
        self._transport: asyncio.Transport | None = None
        self._hear: Callable[[Frame], None] | None = None
        self._lost: Callable[[int, str], None] | None = None
        self._parts: list[bytes] = []
        self._length = 0
        self._text = False
        self._quiet = 0
        self._timer: asyncio.TimerHandle | None = None
        self._ending = False

    # ---- Link ----------------------------------------------------------------------------------------------

    def send(self, frame: Frame) -> None:
        """Sends one frame."""
        if self._protocol.state is not OPEN:
            return
        if isinstance(frame, str):
            self._protocol.send_text(frame.encode())
        else:
            self._protocol.send_binary(frame)
        self._write()

    def buffered(self) -> int:
        """Returns the bytes that wait in the socket."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def close(self, code: int, reason: str) -> None:
        """Closes the connection with a code and a reason."""
        if self._protocol.state is OPEN:
            self._protocol.send_close(code, reason.encode()[:120].decode(errors="ignore"))
            self._write()
        self._abort_later()

    def listen(self, hear: Callable[[Frame], None], lost: Callable[[int, str], None]) -> None:
        """Says who gets the frames, and who is told of the end."""
        self._hear = hear
        self._lost = lost

    # ---- asyncio -------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is open: asks the host for the WebSocket."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        request = self._protocol.connect()
        request.headers["Authorization"] = f"Bearer {self._secret}"
        self._secret = ""
        self._protocol.send_request(request)
        self._write()

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        self._quiet = 0
        self._protocol.receive_data(data)
        self._heard()

    def eof_received(self) -> bool:
        """The host sends no more."""
        self._protocol.receive_eof()
        self._heard()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed."""
        if self._timer is not None:
            self._timer.cancel()
        if self._protocol.state is not CONNECTING:
            self._protocol.receive_eof()
        if not self._opened.done():
            self._opened.set_exception(Disconnected("the host closed the connection while it was opened"))
        if self._lost is not None:
            self._lost(self._protocol.close_code or 1006, self._protocol.close_reason or "")

    def _heard(self) -> None:
        for event in self._protocol.events_received():
            if isinstance(event, Response):
                self._answered()
            elif isinstance(event, WireFrame):
                self._frame(event)
        self._write()
        if self._protocol.close_expected():
            self._abort_later()

    def _answered(self) -> None:
        if self._opened.done():
            return
        why = self._protocol.handshake_exc
        if why is None:
            self._opened.set_result(None)
            self._timer = asyncio.get_running_loop().call_later(PING_S, self._ping)
        elif isinstance(why, InvalidStatus):
            self._opened.set_exception(refused(why.response.status_code))
        else:
            self._opened.set_exception(Unavailable("what answers there is no host of Hob"))

    def _frame(self, frame: WireFrame) -> None:
        if frame.opcode is Opcode.TEXT or frame.opcode is Opcode.BINARY:
            self._text = frame.opcode is Opcode.TEXT
            self._parts = []
            self._length = 0
        elif frame.opcode is not Opcode.CONT:
            return
        self._length += len(frame.data)
        if self._length > self._most:
            self._parts = []
            self._end(1009, f"a frame may have {self._most} bytes: send streams")
            return
        if not frame.fin or self._parts:
            self._parts.append(bytes(frame.data))
        if not frame.fin or self._hear is None or self._ending:
            return
        data = bytes(frame.data) if not self._parts else b"".join(self._parts)
        self._parts = []
        if not self._text:
            return self._hear(data)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return self._end(1007, "not UTF-8")
        self._hear(text)

    def _end(self, code: int, reason: str) -> None:
        self.close(code, reason)
        if self._lost is not None:
            self._lost(code, reason)

    def _write(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            elif self._transport.can_write_eof():
                self._transport.write_eof()

    def _abort_later(self) -> None:
        """The other side closes the stream. If it does not, it is cut off."""
        if self._ending or self._transport is None:
            return
        self._ending = True
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(CLOSE_S, self._transport.abort)

    def _ping(self) -> None:
        self._quiet += 1
        if self._quiet > 2:
            return self._end(4408, "the host does not answer")
        if self._protocol.state is OPEN:
            self._protocol.send_ping(b"")
            self._write()
        self._timer = asyncio.get_running_loop().call_later(PING_S, self._ping)


async def open_websocket(
    url: str,
    secret: str,
    *,
    bootstrap: object = None,
    limits: Limits | None = None,
    timeout: float = 30.0,
    account: Account | None = None,
    ca: str | None = None,
) -> Connection:
    """Enters a host. If the host can let nobody in now, asks again until `timeout` seconds are over. Raises
    `Refused`, `Limit`, `Unavailable`, `Disconnected`. `ca` has certificates (PEM) that may sign that of a `wss://`
    host, besides those of the machine."""
    limits = limits or Limits()
    address = Address.parse(url, ca)
    if not secret.isascii() or not secret.replace("-", "").replace("_", "").isalnum():
        raise Invalid("a secret is made of letters, digits, - and _")
    last: CapError = Unavailable(f"the host did not answer in {timeout:g} s")
    wait = FIRST_WAIT_S
    try:
        async with asyncio.timeout(timeout):
            while True:
                try:
                    return await _entered(address, secret, bootstrap, limits, account)
                except _NotNow as error:
                    last = error
                except (OSError, Disconnected) as error:
                    # A host that was there a moment ago and is gone now is probably restarting.
                    if not isinstance(last, _NotNow):
                        raise error
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_S)
    except TimeoutError:
        raise last.again() from None
    except OSError:
        raise Unavailable("no host answers at this address: compare it with the line `hob ready` that the host printed") from None


async def _entered(
    address: Address, secret: str, bootstrap: object, limits: Limits, account: Account | None
) -> Connection:
    protocol = ClientProtocol(address.uri, subprotocols=[Subprotocol("hob.1")], max_size=limits.frame_bytes)
    loop = asyncio.get_running_loop()
    opened: asyncio.Future[None] = loop.create_future()
    socket = WebSocket(protocol, secret, limits, opened)
    connection = Connection(socket, bootstrap=bootstrap, limits=limits, account=account)
    # Set before any frame can arrive: the first one may come with the answer to the handshake.
    socket.listen(connection.receive, connection.lost)
    transport = await address.dial(loop, lambda: socket)
    try:
        await opened
    except BaseException:
        transport.abort()
        raise
    return connection
