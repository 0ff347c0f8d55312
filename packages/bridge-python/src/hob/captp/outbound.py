"""Shared by all parts of a connection: the flushing of frames, the count of memory, and the end.

Promise: operations sent in one turn of the loop leave together. Drops and dones leave with the next frame, or
when the loop is idle. If a peer makes us keep more than the limit, or does not read, the connection closes.
After the end nothing is sent and no memory is counted.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from ..errors import CapError, Disconnected
from .dialect import DialectSession, Frame
from .fence import entry
from .limits import Account, Limits

PROTOCOL: Final = 4400
_UNREAD: Final = "the peer does not read what it asked for"
_KEEPS_TOO_MUCH: Final = "this connection keeps more than it may: connect again"
_STILL_RUNNING: Final = (
    "calls of earlier connections still run and hold what this session may keep: wait for their end"
)


class Link(Protocol):
    """The transport."""

    def send(self, frame: Frame, /) -> None:
        """Sends one frame."""
        ...
    def buffered(self) -> int:
        """Bytes accepted and not yet handed to the system."""
        ...

    def close(self, code: int, reason: str, /) -> None:
        """Closes the link with a code and a reason."""
        ...


class OutboundSession(Protocol):
    """The connection, as this file sees it."""

    def give_back(self) -> None:
        """Sends the drops of settled promises."""
        ...

    def faulted(self, error: Exception, /) -> None:
        """Records a fault of ours and ends the connection."""
        ...

    def ended_with(self, why: CapError, /) -> None:
        """The connection is closed."""
        ...


class Outbound:
    """The flushing, the memory count and the end of one connection. Needs a running loop: raises `RuntimeError`
    without one."""

    def __init__(
        self, link: Link, limits: Limits, account: Account, dialect_session: DialectSession, session: OutboundSession
    ) -> None:
        self.loop: Final = asyncio.get_running_loop()
        self.link: Final = link
        self.limits: Final = limits
        self.account: Final = account
        self.dialect_session: Final = dialect_session
        self._session = session
        self._bytes = 0
        self._flushing = False
        self._forgetting = False
        self._closing = False
        self.closed: CapError | None = None
        """Set when the connection is closed. Every new message breaks with this error."""
        self.over: Final[asyncio.Future[tuple[int, str]]] = self.loop.create_future()

    @property
    def bytes(self) -> int:
        """Approximate memory that this connection uses."""
        if self.closed is not None:
            # After the end, neither partial frames nor bytes that the transport holds count for this peer.
            return self._bytes
        return self._bytes + self.dialect_session.kept + self.link.buffered()

    def add_bytes(self, weight: int) -> None:
        """Adds to the memory count; negative to subtract. After the close, calls that still run count for the
        account."""
        if self.closed is None:
            self._bytes += weight

    # ---- outgoing ------------------------------------------------------------------------------------------

    def schedule_flush(self) -> None:
        """Schedules a flush at the end of this turn of the loop."""
        if not self._flushing:
            self._flushing = True
            self.loop.call_soon(self._flush)

    def faulted(self, error: Exception) -> None:
        """Passes an error that left an entry to the connection, which closes."""
        self._session.faulted(error)

    @entry
    def _flush(self) -> None:
        self._flushing = False
        if self.closed is not None:
            return
        self.dialect_session.flush()
        self.answered()

    def forget_soon(self) -> None:
        """Schedules drops and dones. They leave with the next frame, or when the loop is idle."""
        if not self._forgetting:
            self._forgetting = True
            self.loop.call_soon(self._forget_now, 2)

    @entry
    def _forget_now(self, rounds: int) -> None:
        if rounds > 0 and self.closed is None:
            # Operations that this turn causes then go in the same frame.
            self.loop.call_soon(self._forget_now, rounds - 1)
            return
        self._forgetting = False
        if self.closed is not None:
            return
        self._session.give_back()
        if not self._flushing:
            self._flush()

    # ---- memory limits -------------------------------------------------------------------------------------

    @property
    def full(self) -> bool:
        """True if the socket holds too much for another call of ours."""
        return self.link.buffered() > self.limits.buffered_bytes

    def closes_if_flooded(self) -> bool:
        """Closes the connection if the peer does not read. Returns True if it closed."""
        if self.link.buffered() <= self.limits.buffered_bytes + self.limits.frame_bytes:
            return False
        self.close(PROTOCOL, _UNREAD)
        return True

    def closes_if_overspent(self) -> bool:
        """Closes the connection if it uses too much memory. Returns True if it closed."""
        outliving = self.account.outliving
        if self.bytes + outliving <= self.limits.memory_bytes:
            return False
        self.close(PROTOCOL, _STILL_RUNNING if outliving > self.limits.memory_bytes // 2 else _KEEPS_TOO_MUCH)
        return True

    def answered(self) -> None:
        """Checks the limits after each answer. One frame can ask for very much, and all of it is answered in
        one go."""
        if self.closed is None and not self.closes_if_flooded():
            self.closes_if_overspent()

    # ---- closing -------------------------------------------------------------------------------------------

    def close(self, code: int, reason: str) -> None:
        """Sends the operations that wait, ends the connection, and closes the link. Changes nothing if the
        connection is closed or about to close."""
        if self.closed is not None or self._closing:
            return
        self._closing = True
        self._last_flush()
        self.end(code, reason)
        self.link.close(code, reason)

    @entry
    def _last_flush(self) -> None:
        self.dialect_session.flush()

    def end(self, code: int, reason: str) -> None:
        """The transport has closed."""
        if self.closed is not None:
            return
        why = self.closed = Disconnected(
            "the connection is closed: connect again, and look at what happened before you repeat a call"
        )
        self._bytes = 0
        self.dialect_session.clear()
        if not self.over.done():
            self.over.set_result((code, reason))
        self._session.ended_with(why)
