"""The same for programs without asyncio: calls that wait.

    with hob.sync.connect(url, secret) as session:
        print(session["workspace"].readText("a.txt"))

Promise: it may be called from any thread, also from one whose own loop is running (which then waits, as for any other slow function). All
connections live in one thread of their own. Objects that are offered run one call at a time in a thread of theirs, so they may call
caps and wait, and each sees its calls in the order in which they were sent.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Final, Self, TypeVar, Unpack

from .far import Far
from .granter import Grant, Granter as AsyncGranter, connect_granter as async_connect_granter
from .reference import E, Promise, Ref
from .sessions import Session as AsyncSession, connect as async_connect
from .streams import source
from .terms import Terms

T = TypeVar("T")


class _Loop:
    """The loop of all connections, in a thread of its own that ends with the program."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = 0

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        loop = self._running()
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("a call that waits was made in the thread of the connections: use `await` there")
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result()
        except BaseException:
            # Ctrl-C, or the error of the call itself: then this does nothing.
            future.cancel()
            raise

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            # A forked child has the object, and not the thread.
            if self._loop is None or self._pid != os.getpid():
                self._loop = asyncio.new_event_loop()
                self._pid = os.getpid()
                self._thread = threading.Thread(target=self._loop.run_forever, name="hob", daemon=True)
                self._thread.start()
            return self._loop


_loop: Final = _Loop()


class Cap:
    """A cap whose methods wait. Its attributes are methods to send, whatever they are called."""

    __slots__ = ("__weakref__", "_of")

    def __init__(self, of: Ref | Promise) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, deadline: float | None = None) -> Any:
            return _call(self._of, name, args, deadline)

        return call

    def __call__(self, *args: Any) -> Any:
        return self[""](*args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cap) and self._of == other._of

    def __hash__(self) -> int:
        return hash(self._of)

    def __repr__(self) -> str:
        return "<hob.sync.Cap>"


def _call(of: Ref | Promise, name: str, args: tuple[Any, ...], deadline: float | None) -> Any:
    async def call() -> Any:
        return _outward(await E(of, deadline=deadline)[name](*map(_inward, args)))

    return _loop.run(call())


def _outward(value: Any) -> Any:
    """As programs without a loop see it."""
    kind = type(value)
    if kind is Ref or kind is Promise:
        return Cap(value)
    if kind is list:
        return [_outward(item) for item in value]
    if kind is dict:
        return {key: _outward(item) for key, item in value.items()}
    return value.far if isinstance(value, _InThread) else value


def _inward(value: Any) -> Any:
    if isinstance(value, Cap):
        return value._of
    if isinstance(value, Far):
        return _in_thread(value)
    if isinstance(value, (list, tuple)):
        return [_inward(item) for item in value]
    if isinstance(value, dict):
        return {key: _inward(item) for key, item in value.items()}
    return value


class _InThread(Far):
    """A far object whose methods run in a thread of its own."""

    def __init__(self, far: Far) -> None:
        self.far = far
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="hob-far")

    def __hob_method__(self, name: str) -> Callable[..., Any] | None:
        method = self.far.__hob_method__(name)
        if method is None:
            return None

        async def call(*args: Any) -> Any:
            given = [_outward(arg) for arg in args]
            # Handed over at once, in this step: so the order of the calls is that of the pool's queue.
            done = asyncio.get_running_loop().run_in_executor(self._pool, lambda: _ran(method, given))
            return _inward(await done)

        return call

    def __del__(self) -> None:
        self._pool.shutdown(wait=False)


def _ran(method: Callable[..., Any], args: list[Any]) -> Any:
    result = method(*args)
    if asyncio.iscoroutine(result):
        return asyncio.run(result)
    return result


# One for each object, so that it is the same for the other side; and it comes home as itself.
_threads: Final[weakref.WeakKeyDictionary[Far, _InThread]] = weakref.WeakKeyDictionary()
_threads_lock: Final = threading.Lock()


def _in_thread(far: Far) -> _InThread:
    with _threads_lock:
        known = _threads.get(far)
        if known is None:
            known = _threads[far] = _InThread(far)
        return known


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
            # The socket says good-bye in the next turn.
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

    def request(self, asks: str, why: str = "", **terms: Unpack[Terms]) -> Cap:
        """Waits until a person has answered."""

        async def ask() -> Any:
            return _outward(await self._async.request(asks, why, **terms))

        cap = _loop.run(ask())
        assert isinstance(cap, Cap)
        return cap

    def spawn_child(self, name: str, caps: Mapping[str, object] | Iterable[object] = ()) -> Session:
        """The child's session, entered."""
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
    """The bytes of a source, part by part."""
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


def connect(url: str, secret: str, *, timeout: float = 10.0) -> Session:
    return Session(_loop.run(async_connect(url, secret, timeout=timeout)))


def connect_granter(url: str, secret: str, *, timeout: float = 10.0) -> Granter:
    return Granter(_loop.run(async_connect_granter(url, secret, timeout=timeout)))
