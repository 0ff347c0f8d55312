"""Bytes on their way: pulled, so that the reader sets the pace and nobody buffers for it.

    async for chunk in hob.source(E(workspace).open("big.bin")):
        …

Leaving the loop early tells the source that no more is wanted.
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
    """The bytes of a source. `ahead`: parts that are asked for at a time, where the source allows more than one."""
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
                raise Invalid("this is no source of bytes")
            yield chunk
    finally:
        if not over:
            E.send_only(of)["return"]()


async def write(sink: object, parts: AsyncIterable[bytes] | Iterable[bytes], *, ahead: int = 1) -> Any:
    """Writes all parts and closes the sink, `ahead` of them under way at a time; when something fails, aborts it."""
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
    """A source of this program's for the other side: of bytes, or of an iterator of them, which is asked only when they are wanted."""

    MOST = 256 << 10

    def __init__(self, of: bytes | Iterable[bytes] | AsyncIterable[bytes]) -> None:
        self._of: AsyncIterator[bytes] = _parts([of] if isinstance(of, bytes) else of)
        self._rest = b""
        self._busy = False

    async def next(self, most: object = None) -> object:
        size = self.MOST if most is None or most is undefined else most
        if type(size) is not int or size < 1:
            raise Invalid("max is a whole number above 0")
        if self._busy:
            raise CapError("one part at a time: wait for the one before", "invalid")
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
    """No more is wanted."""
    self._rest = b""
    close = getattr(self._of, "aclose", None)
    if close is not None and not self._busy:
        await close()
    self._of = _parts([])
    return undefined


# `return` is a word of Python's.
setattr(ByteSource, "return", _return)
