"""The same for programs without asyncio: calls that wait.

    with hob.sync.connect(url, secret) as session:
        print(session["workspace"].readText("a.txt"))
        # One round trip: sent at once, and awaited at the end.
        print(wait(E(session["workspace"]).subdir("src").readText("a.txt")))

Promise: every function may be called from any thread, also from one whose own loop is running (which then
blocks, as for any slow function). All connections live in one thread of their own. Objects that are offered
run in threads of a pool, so they may call caps and wait. Each runs one call at a time, in the order in which
they came; while a call waits for a cap, the next one may begin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, Unpack

from .calls import Cap, E, Later, _inward, _loop, _outward, submit, wait
from .granter import Grant, Granter as AsyncGranter, connect_granter as async_connect_granter
from .sessions import Session as AsyncSession, connect as async_connect
from .streams import source
from .terms import Terms


class _Entered:
    _async: AsyncSession | AsyncGranter

    @property
    def url(self) -> str:
        return self._async.url

    def enter_again(self) -> None:
        _loop.run(self._async.enter_again())

    def close(self) -> None:
        async def close() -> None:
            self._async.close()
            # The socket sends its close in the next turn of the loop.
            await asyncio.sleep(0)

        _loop.run(close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()


class Session(_Entered):
    _async: AsyncSession

    def __init__(self, session: AsyncSession) -> None:
        self._async = session

    def caps(self) -> list[str]:
        return _loop.run(self._async.caps())

    def __getitem__(self, petname: str) -> Cap:
        async def take() -> Cap:
            return Cap(self._async[petname])

        return _loop.run(take())

    def keys(self) -> list[str]:
        """Returns the petnames, so that `dict(session)` is a dictionary of the caps."""
        return self.caps()

    def __iter__(self) -> Iterator[str]:
        return iter(self.caps())

    def __contains__(self, petname: object) -> bool:
        return petname in self.caps()

    def __len__(self) -> int:
        return len(self.caps())

    def __bool__(self) -> bool:
        # A session without caps is a session.
        return True

    def request(self, asks: str, why: str = "", **terms: Unpack[Terms]) -> Cap:
        """Asks a person and waits for the answer."""

        async def ask() -> Any:
            return _outward(await self._async.request(asks, why, **terms))

        cap = _loop.run(ask())
        assert isinstance(cap, Cap)
        return cap

    def spawn_child(self, name: str, caps: Mapping[str, object] | Iterable[object] = ()) -> Session:
        """Enters the session of the child."""
        given: Any = _inward(dict(caps) if isinstance(caps, Mapping) else list(caps))

        async def spawn() -> AsyncSession:
            return await (await self._async.spawn_child(name, given)).enter()

        return Session(_loop.run(spawn()))

    def resolve(self, url: str) -> Cap:
        async def resolve() -> Any:
            return _outward(await self._async.resolve(url))

        cap = _loop.run(resolve())
        assert isinstance(cap, Cap)
        return cap

    def rotate(self) -> str:
        return _loop.run(self._async.rotate())


class Granter(_Entered):
    _async: AsyncGranter

    def __init__(self, granter: AsyncGranter) -> None:
        self._async = granter

    def sessions(self) -> list[dict[str, Any]]:
        return _loop.run(self._async.sessions())

    def grant(self, session: str, petname: str, offered: str, **terms: Unpack[Terms]) -> Grant:
        return _loop.run(self._async.grant(session, petname, offered, **terms))

    def delegate(self, from_: str, petname: str, to: str, *, as_: str | None = None, **terms: Unpack[Terms]) -> Grant:
        return _loop.run(self._async.delegate(from_, petname, to, as_=as_, **terms))

    def grants(self, session: str | None = None, *, live: bool = False) -> list[Grant]:
        return _loop.run(self._async.grants(session, live=live))

    def revoke(self, grant: str | None = None, *, session: str | None = None, all: bool = False, why: str = "") -> None:
        _loop.run(self._async.revoke(grant, session=session, all=all, why=why))

    def narrow(self, grant: str, **terms: Unpack[Terms]) -> Grant:
        return _loop.run(self._async.narrow(grant, **terms))

    def renew(self, grant: str, until: float) -> Grant:
        return _loop.run(self._async.renew(grant, until))

    def confirm(self, grant: str) -> Grant:
        return _loop.run(self._async.confirm(grant))

    def end(self, session: str, why: str = "") -> None:
        _loop.run(self._async.end(session, why))

    def inbox(self) -> list[dict[str, Any]]:
        return _loop.run(self._async.inbox())

    def approve(self, request: dict[str, Any], *, as_: str | None = None, **terms: Unpack[Terms]) -> None:
        _loop.run(self._async.approve(request, as_=as_, **terms))

    def refuse(self, request: dict[str, Any], why: str, *, lasting: bool = False) -> None:
        _loop.run(self._async.refuse(request, why, lasting=lasting))


def read(of: Cap, *, max: int | None = None) -> Iterator[bytes]:
    """Yields the bytes of a source, part by part."""
    stream = source(of._of, max=max)

    async def following() -> bytes | None:
        return await anext(stream, None)

    async def stop() -> None:
        await stream.aclose()  # type: ignore[attr-defined]

    try:
        while (part := _loop.run(following())) is not None:
            yield part
    finally:
        _loop.run(stop())


__all__ = ["Cap", "E", "Granter", "Later", "Session", "connect", "connect_granter", "read", "submit", "wait"]


def connect(url: str, secret: str, *, timeout: float = 30.0, ca: str | None = None) -> Session:
    return Session(_loop.run(async_connect(url, secret, timeout=timeout, ca=ca)))


def connect_granter(url: str, secret: str, *, timeout: float = 30.0, ca: str | None = None) -> Granter:
    return Granter(_loop.run(async_connect_granter(url, secret, timeout=timeout, ca=ca)))
