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

from collections.abc import Iterable, Iterator
from typing import Any

from .calls import Cap, E, Later, _loop, submit, wait
from ..captp.limits import Limits
from ..entry import enter as async_enter
from ..granter import Grant, connect_granter as async_connect_granter
from ..sessions import connect as async_connect
from ..streams import source, write as async_write
from .faces import Child, Granter, Session


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


def write(sink: Cap, parts: Iterable[bytes], *, ahead: int = 1) -> Any:
    """Writes all parts and closes the sink. `ahead`: writes under way at a time. If something fails, it
    aborts the sink."""
    return _loop.run(async_write(sink._of, list(parts), ahead=ahead))


def connect(
    url: str, secret: str, *, limits: Limits | None = None, timeout: float = 30.0, ca: str | None = None
) -> Session:
    """Enters the session of this secret. `ca` has the certificates (PEM) of a private authority, for `wss://`.
    Raises `Refused`, `Unavailable`, `Disconnected`, `Invalid`."""
    return Session(_loop.run(async_connect(url, secret, limits=limits, timeout=timeout, ca=ca)))


def enter(*, limits: Limits | None = None, timeout: float = 30.0, ca: str | None = None) -> Session:
    """Enters the session of this program, as `hob start` sets it up: on the host of `HOB_URL`, with the secret
    in the file that `HOB_SECRET_FILE` names. The file is removed. Without one, the secret is asked for on the
    terminal, or is the first line of the standard input. Raises what `connect` raises."""
    return Session(_loop.run(async_enter(limits=limits, timeout=timeout, ca=ca)))


def connect_granter(
    url: str, secret: str, *, limits: Limits | None = None, timeout: float = 30.0, ca: str | None = None
) -> Granter:
    """Enters the host as a granter, as `connect` enters a session."""
    return Granter(_loop.run(async_connect_granter(url, secret, limits=limits, timeout=timeout, ca=ca)))


__all__ = [
    "Cap", "Child", "E", "Grant", "Granter", "Later", "Session", "connect", "connect_granter", "enter", "read", "submit",
    "wait", "write",
]  # fmt: skip
