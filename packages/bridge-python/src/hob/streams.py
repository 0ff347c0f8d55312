"""Streams of bytes. The reader pulls, so it sets the pace and nobody buffers for it.

    async for chunk in hob.source(E(workspace).openRead("big.bin")):
        …

If the loop is left early, the source is told that no more is wanted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any

from .data import undefined
from .errors import CapError, Invalid
from .far import Far
from .reference import E, Promise


async def source(of: object, *, max: int | None = None, ahead: int = 1) -> AsyncIterator[bytes]:
    """Yields the bytes of a source. `ahead`: parts that are requested at a time, if the source allows more
    than one."""
    if ahead < 1:
        raise Invalid("ahead is 1 or more")
    asked: deque[Promise] = deque()
    args = () if max is None else (max,)
    over = False
    try:
        while True:
            while len(asked) < ahead:
                asked.append(E(of).next(*args))
            chunk = await asked.popleft()
            if chunk is None or chunk is undefined:
                over = True
                return
            if not isinstance(chunk, bytes):
                raise Invalid("this is not a source of bytes: next() must return bytes, or nothing at the end")
            yield chunk
    finally:
        if not over:
            E.send_only(of)["return"]()


async def write(sink: object, parts: AsyncIterable[bytes] | Iterable[bytes], *, ahead: int = 1) -> Any:
    """Writes all parts and closes the sink. `ahead`: writes under way at a time. If something fails, it
    aborts the sink."""
    under_way: deque[Promise] = deque()
    try:
        if isinstance(parts, AsyncIterable):
            async for part in parts:
                under_way.append(E(sink).write(part))
                if len(under_way) >= ahead:
                    await under_way.popleft()
        else:
            for part in parts:
                under_way.append(E(sink).write(part))
                if len(under_way) >= ahead:
                    await under_way.popleft()
        while under_way:
            await under_way.popleft()
    except BaseException:
        E.send_only(sink).abort()
        raise
    return await E(sink).close()


class ByteSource(Far):
    """A source for the peer, made from bytes or from an iterator of bytes. The iterator is advanced only when
    bytes are wanted."""

    MOST = 256 << 10

    def __init__(self, of: bytes | Iterable[bytes] | AsyncIterable[bytes]) -> None:
        self._of: AsyncIterator[bytes] = _parts([of] if isinstance(of, bytes) else of)
        self._rest = b""
        self._busy = False

    async def next(self, most: object = None) -> object:
        """Returns the next part, and nothing at the end."""
        size = self.MOST if most is None or most is undefined else most
        if type(size) is not int or size < 1:
            raise Invalid("max is a whole number above 0")
        if self._busy:
            raise CapError("one part at a time: wait until the one before has been taken", "invalid")
        self._busy = True
        try:
            while not self._rest:
                self._rest = bytes(await anext(self._of))
        except StopAsyncIteration:
            return undefined
        finally:
            self._busy = False
        size = min(size, self.MOST)
        part, self._rest = self._rest[:size], self._rest[size:]
        return part


async def _parts(of: Iterable[bytes] | AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    if isinstance(of, AsyncIterable):
        async for part in of:
            yield part
    else:
        for part in of:
            yield part


async def _return(self: ByteSource) -> object:
    """The reader wants no more."""
    self._rest = b""
    close = getattr(self._of, "aclose", None)
    if close is not None and not self._busy:
        await close()
    self._of = _parts([])
    return undefined


# `return` is a keyword of Python.
setattr(ByteSource, "return", _return)
