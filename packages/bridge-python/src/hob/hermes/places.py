"""The sessions of Hob that this Hermes is connected to.

A host gives a session and its children 8 connections together (docs/wire.md, 429). A Hermes may have more
sessions than that, and many Hermes may share a configured session.

Promise: at most `PLACES` sessions are connected for calls at a time, and one more for a look. A session is
connected while a call uses it, and enters again for the next one: a model thinks longer than that takes, and
others need the connection meanwhile. No call loses its connection to another session. If calls that are
under way use every place, the next call waits. After `PATIENCE_S` it is refused with `limit`.

Everything here runs in the thread of the connections.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from ..errors import Limit, Revoked, Unavailable
from ..sessions import Child, Session
from ..websocket import Refused

PLACES: Final = 6
"""With the one for a look, these are 7 of the 8 connections. The last one is for calls of object URLs."""
PATIENCE_S: Final = 60.0
LOOK_PATIENCE_S: Final = 5.0
_RETRY_S: Final = 0.05
_SLOWEST_RETRY_S: Final = 1.0

_BUSY: Final = (
    f"calls of this Hermes that take long, or that wait for a person, use all {PLACES} connections: "
    "ask the person to answer what waits (`hob requests`), or try again later"
)
_SHARED: Final = (
    "others use all connections of the session of Hob that is configured: close some, "
    "or give this Hermes a session of its own"
)


class Link:
    """One session of Hob, connected or not."""

    def __init__(self, child: Child, ended: str | None = None) -> None:
        self._child = child
        self._ended = ended
        self._session: Session | None = None
        self._entering = asyncio.Lock()
        self._left = False
        self.users = 0
        """Calls and looks that need the connection now."""

    @property
    def connected(self) -> bool:
        """True while its connection is open."""
        return self._session is not None and self._session.connection.closed is None

    async def enter(self) -> Session:
        """Raises `Revoked` if the session has ended, `Limit`, `Unavailable`."""
        async with self._entering:
            if self._left:
                raise Unavailable("this session of Hermes has no session of Hob any more: begin a new one")
            try:
                if self._session is None:
                    self._session = await self._child.enter()
                elif not self.connected:
                    await self._session.enter_again()
            except Refused as error:
                # Only 401 says that the secret is gone. Every other refusal may pass.
                if error.status != 401 or self._ended is None:
                    raise
                raise Revoked(self._ended) from None
            # It may have been left while it was entered.
            if self._left:
                self.close()
                raise Unavailable("this session of Hermes has no session of Hob any more: begin a new one")
            return self._session

    def close(self) -> None:
        """Closes the connection, if there is one. `enter` opens it again."""
        if self._session is not None:
            self._session.close()

    def leave(self) -> None:
        """For good."""
        self._left = True
        self.close()


class Places:
    """The sessions that are connected for calls, at most `PLACES`, and the one for a look."""

    def __init__(self) -> None:
        self._taken: set[Link] = set()
        self._freed = asyncio.Event()
        self._looking = asyncio.Lock()

    @asynccontextmanager
    async def use(self, link: Link) -> AsyncIterator[Session]:
        """The session is connected until the block ends. Raises what `Link.enter` raises."""
        until = _now() + PATIENCE_S
        while link not in self._taken and len(self._taken) >= PLACES:
            await self._wait(until)
        self._taken.add(link)
        link.users += 1
        try:
            yield await self._enter(link, until)
        finally:
            self._unused(link)

    @asynccontextmanager
    async def look(self, link: Link) -> AsyncIterator[Session]:
        """The same for a moment, in a place of its own: also while calls use all others. One at a time."""
        async with self._looking:
            link.users += 1
            try:
                yield await self._enter(link, _now() + LOOK_PATIENCE_S)
            finally:
                self._unused(link)

    def leave(self, link: Link) -> None:
        """The session is not entered again. Calls in it break."""
        link.leave()
        self._taken.discard(link)
        self._free()

    async def _enter(self, link: Link, until: float) -> Session:
        retry = _RETRY_S
        while True:
            try:
                return await link.enter()
            except Limit:
                # The host may not know yet that a connection was closed, or others use the configured session.
                if _now() >= until:
                    raise Limit(_SHARED) from None
            # Others wait, too. If all came back at the same time, one of them would have the connection again.
            await asyncio.sleep(retry * random.uniform(0.5, 1))
            retry = min(2 * retry, _SLOWEST_RETRY_S)

    async def _wait(self, until: float) -> None:
        try:
            async with asyncio.timeout(until - _now()):
                await self._freed.wait()
        except TimeoutError:
            raise Limit(_BUSY) from None

    def _unused(self, link: Link) -> None:
        link.users -= 1
        if link.users > 0:
            return
        self._taken.discard(link)
        link.close()
        self._free()

    def _free(self) -> None:
        """Wakes those who wait for a place."""
        self._freed.set()
        self._freed = asyncio.Event()


def _now() -> float:
    return asyncio.get_running_loop().time()
