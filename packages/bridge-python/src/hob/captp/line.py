"""What all parts of a connection share: when what was said leaves, what the connection keeps, its end.

Promise: what is said in one go leaves together; what is only forgotten goes with it, or when there is nothing else to do. A peer that
makes us keep more than it may, or does not read what it asked for, is closed on. After the end nothing is said, and nothing is
counted for it any more.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from ..errors import CapError, Disconnected
from .fence import entry
from .limits import Limits
from .speech import Frame, Speech
from .values import Incoming

UNREAD: Final = "the peer does not read what it asked for"
PROTOCOL: Final = 4400


class Link(Protocol):
    """The transport."""

    def send(self, frame: Frame, /) -> None: ...
    def buffered(self) -> int:
        """Bytes accepted and not yet handed to the system."""
        ...

    def close(self, code: int, reason: str, /) -> None: ...


class Speaking(Protocol):
    """Who speaks."""

    def give_back(self) -> None:
        """There is time now to say what is only forgotten."""
        ...

    def faulted(self, error: Exception, /) -> None:
        """Notes a fault of ours, and ends the connection."""
        ...

    def ended_with(self, why: CapError, /) -> None:
        """Nothing is heard or said any more."""
        ...


class Line:
    def __init__(self, link: Link, limits: Limits, speech: Speech, incoming: Incoming) -> None:
        self.loop: Final = asyncio.get_running_loop()
        self.link: Final = link
        self.limits: Final = limits
        self.speech: Final = speech
        self.speaking: Speaking
        """Set by who speaks."""
        self._incoming = incoming
        self._bytes = 0
        self._flushing = False
        self._forgetting = False
        self._closing = False
        self.closed: CapError | None = None
        """Why nothing leaves any more."""
        self.over: Final[asyncio.Future[tuple[int, str]]] = self.loop.create_future()

    @property
    def bytes(self) -> int:
        """About what this connection keeps."""
        return self._bytes + self._incoming.kept

    def keeps(self, weight: int) -> None:
        """When it is closed nothing is kept for the peer."""
        if self.closed is None:
            self._bytes += weight

    # ---- what leaves --------------------------------------------------------------------------------------------------

    def said(self) -> None:
        """Something was said: it leaves when this turn of the loop has said the rest."""
        if not self._flushing:
            self._flushing = True
            self.loop.call_soon(self._flush)

    def faulted(self, error: Exception) -> None:
        self.speaking.faulted(error)

    @entry
    def _flush(self) -> None:
        self._flushing = False
        if self.closed is not None:
            return
        self.speech.flush()
        if not self.ends_flood():
            self.ends_overspent()

    def forget_soon(self) -> None:
        """What is only forgotten need not go at once: it goes with the next frame, or when there is nothing else to do."""
        if not self._forgetting:
            self._forgetting = True
            self.loop.call_soon(self._forget_now, 2)

    @entry
    def _forget_now(self, patience: int) -> None:
        if patience > 0 and self.closed is None:
            # So that what this turn brings about goes in the same frame.
            self.loop.call_soon(self._forget_now, patience - 1)
            return
        self._forgetting = False
        if self.closed is not None:
            return
        self.speaking.give_back()
        if not self._flushing:
            self._flush()

    # ---- what a peer may make us keep ---------------------------------------------------------------------------------

    @property
    def full(self) -> bool:
        """No more calls of ours fit in."""
        return self.link.buffered() > self.limits.buffered_bytes

    def ends_flood(self) -> bool:
        """Closes on a peer that does not take what it asked for; whether it did."""
        if self.link.buffered() <= self.limits.buffered_bytes + self.limits.frame_bytes:
            return False
        self.close(PROTOCOL, UNREAD)
        return True

    def ends_overspent(self) -> None:
        """Closes where too much is kept: that grows with what the peer says, and with what it is answered."""
        if self.bytes > self.limits.memory_bytes:
            self.close(PROTOCOL, "this connection keeps more than it may: connect again")

    # ---- the end ------------------------------------------------------------------------------------------------------

    def close(self, code: int, reason: str) -> None:
        if self.closed is not None or self._closing:
            return
        self._closing = True
        self._last_words()
        self.end(code, reason)
        self.link.close(code, reason)

    @entry
    def _last_words(self) -> None:
        self.speech.flush()

    def end(self, code: int, reason: str) -> None:
        """The transport is gone."""
        if self.closed is not None:
            return
        why = self.closed = Disconnected(
            "the connection is closed: connect again, and look at what happened before you repeat a call"
        )
        self._bytes = 0
        self._incoming.clear()
        if not self.over.done():
            self.over.set_result((code, reason))
        self.speaking.ended_with(why)
