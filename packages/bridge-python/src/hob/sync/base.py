"""What the classes of `hob.sync` are made of: how a method waits, and how a session is a mapping of its caps."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from .calls import Cap, _inward, _loop, _outward, _there
from ..reference import Promise
from ..sessions import Child, Entered, Session


class Face:
    """A client that has entered, for a program without asyncio."""

    _async: Any

    def __init__(self, entered: Entered) -> None:
        self._async = entered
        self.url = entered.url

    def __repr__(self) -> str:
        return f"<hob.sync.{type(self).__name__} at {self.url}>"

    def _call(self, name: str, /, *args: Any, **named: Any) -> Any:
        """Calls a method of the object for asyncio, and waits for its result."""
        given = [_inward(_here(arg)) for arg in args]
        others = {key: _inward(_here(value)) for key, value in named.items()}

        async def call() -> Any:
            method = getattr(self._async, name)
            result = method(*map(_there, given), **{key: _there(value) for key, value in others.items()})
            if inspect.isawaitable(result):
                result = await result
            return _outward(result)

        return _loop.run(call())

    def _read(self, name: str) -> Any:
        async def read() -> Any:
            return _outward(getattr(self._async, name))

        return _loop.run(read())

    def close(self) -> None:
        """Leaves the host. The session stays for its grace time."""

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


class SessionFace(Face):
    """A session as a mapping of its caps, by petname."""

    _async: Session

    def caps(self) -> list[str]:
        """Returns the petnames of the session."""
        raise NotImplementedError

    def __getitem__(self, petname: str) -> Cap:
        """Returns the cap with this petname. A call of it raises `NoSuchObject` if there is none."""

        async def take() -> Cap:
            of: Promise = self._async[petname]
            return Cap(of)

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


def enter(child: Child) -> Session:
    """Enters a child session."""
    return _loop.run(child.enter())


def _here(value: Any) -> Any:
    """Runs an iterator of the caller, which may wait for caps, in the thread of the caller."""
    if isinstance(value, (str, bytes, bytearray, memoryview, list, dict)) or not isinstance(value, Iterable):
        return value
    return dict(value) if isinstance(value, Mapping) else list(value)
