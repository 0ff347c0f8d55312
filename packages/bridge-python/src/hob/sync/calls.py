"""Calls that wait, from any thread: the loop of all connections, caps whose methods wait, and calls that are
sent without waiting.

Promise: calls of one thread are sent in the order in which it made them. All connections live in one thread
of their own. Objects that are offered run in other threads (`threads.py`), so they may call caps and wait.
Two objects are one only if they are identical: whether they are equal, or can be hashed, does not matter.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from .. import reference
from ..data import DEPTH
from ..errors import Invalid
from ..far import Far, own_of
from ..reference import Named, Promise, Ref, with_named
from .threads import Turns, result_of

T = TypeVar("T")


class Loop:
    """The loop of all connections. It has a thread of its own, which ends with the program."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = 0

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Begins a coroutine in the thread of the connections."""
        loop = self._running()
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("a blocking call was made in the thread that serves the connections: use `await` there")
        return asyncio.run_coroutine_threadsafe(coroutine, loop)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the thread of the connections, and waits for its result."""
        future = self.submit(coroutine)
        try:
            return result_of(future)
        except BaseException:
            # After Ctrl-C this cancels the call. After an error of the call itself it does nothing.
            future.cancel()
            raise

    def soon(self, do: Callable[[], None]) -> None:
        """Runs `then` in the thread of the connections, after all earlier requests."""
        self._running().call_soon_threadsafe(do)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            # A forked child has the object, but not the thread.
            if self._loop is None or self._pid != os.getpid():
                self._loop = asyncio.new_event_loop()
                self._pid = os.getpid()
                self._thread = threading.Thread(target=self._loop.run_forever, name="hob", daemon=True)
                self._thread.start()
            return self._loop


_loop: Final = Loop()


def submit(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Runs a coroutine in the thread of the connections. The caller decides how to wait for it."""
    return _loop.submit(coroutine)


class Cap(Named[Any]):
    """A cap whose methods wait. Every attribute is a method to send."""

    __slots__ = ("__weakref__", "_of")

    def __init__(self, of: Ref | Promise) -> None:
        self._of = of

    def __getitem__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, deadline: float | None = None, **named: Any) -> Any:
            return _call(self._of, name, tuple(with_named(args, named)), deadline)

        return call

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cap) and self._of == other._of

    def __hash__(self) -> int:
        return hash(self._of)

    def __repr__(self) -> str:
        return "<hob.sync.Cap>"


class Later(Named["Later"]):
    """The result of a call that was sent without waiting. Calls on it are sent at once, and it can be an
    argument of others."""

    __slots__ = ("__weakref__", "_of")

    def __init__(self) -> None:
        # Set in the thread of the connections, before any later request runs there.
        self._of: Promise | None = None

    def __getitem__(self, name: str) -> Callable[..., Later]:
        return Sender(self, None, False)[name]

    def __bool__(self) -> bool:
        raise TypeError("this value has not arrived yet: hob.sync.wait(…) returns it")

    def __repr__(self) -> str:
        return "<hob.sync.Later>"


class Sender(Named[Any]):
    """The result of `E(x)`. Its attributes are methods to send."""

    __slots__ = ("_deadline", "_only", "_to")

    def __init__(self, to: Cap | Later, deadline: float | None, only: bool) -> None:
        self._to = to
        self._deadline = deadline
        self._only = only

    def __getitem__(self, name: str) -> Callable[..., Any]:
        def send(*args: Any, **named: Any) -> Any:
            # A copy, so that later changes of the caller do not reach the call.
            given = [_inward(arg) for arg in with_named(args, named)]
            if self._only:
                return _loop.soon(lambda: reference.E.send_only(self._to._of)[name](*map(_there, given)))
            later = Later()

            def begin() -> None:
                try:
                    later._of = reference.E(self._to._of, deadline=self._deadline)[name](*map(_there, given))
                except Exception as error:
                    # Nobody can see this error before the result is awaited.
                    later._of, broken = reference.promise()
                    broken.break_(error)

            _loop.soon(begin)
            return later

        return send


class Eventually:
    """`E(cap).subdir("src").readText("a.txt")` is sent at once and returns a `Later`. `wait` waits for it."""

    __slots__ = ()

    def __call__(self, to: object, *, deadline: float | None = None) -> Any:
        return Sender(_sendable(to), deadline, False)

    def send_only(self, to: object) -> Any:
        """The same, without an answer."""
        return Sender(_sendable(to), None, True)


E: Final = Eventually()


def _sendable(to: object) -> Cap | Later:
    if isinstance(to, (Cap, Later)):
        return to
    raise Invalid("only a cap of hob.sync, or the result of a call to one, can be sent a message")


def wait(*of: Any, deadline: float | None = None) -> Any:
    """Returns the value, or raises the error. For several results it returns a list in their order, when all
    are there.

    `deadline`: raises `TimeoutError` after this many seconds. The call may still happen, and can be awaited
    again.
    """

    async def waiting() -> list[Any]:
        async with asyncio.timeout(deadline):
            return [_outward(await known if isinstance(known := _there(each), Promise) else known) for each in of]

    values = _loop.run(waiting())
    return values[0] if len(values) == 1 else values


def _there(value: Any) -> Any:
    """Runs in the thread of the connections. Returns the value with the results of the promises in it."""
    if isinstance(value, (Cap, Later)):
        return value._of
    if isinstance(value, list):
        return [_there(item) for item in value]
    if isinstance(value, dict):
        return {key: _there(item) for key, item in value.items()}
    return value


def _call(of: Ref | Promise, name: str, args: tuple[Any, ...], deadline: float | None) -> Any:
    async def call() -> Any:
        return _outward(await reference.E(of, deadline=deadline)[name](*(_there(_inward(arg)) for arg in args)))

    return _loop.run(call())


def _outward(value: Any) -> Any:
    """Converts a value for a program without a loop."""
    kind = type(value)
    if kind is Ref or kind is Promise:
        return Cap(value)
    if kind is list:
        return [_outward(item) for item in value]
    if kind is dict:
        return {key: _outward(item) for key, item in value.items()}
    return value.far if isinstance(value, _InThread) else value


def _inward(value: Any) -> Any:
    """Converts a value for the thread of the connections. Raises `Invalid` for data that is too deep."""
    try:
        return _converted(value)
    except RecursionError:
        raise Invalid(f"data is deeper than {DEPTH}") from None


def _converted(value: Any) -> Any:
    if isinstance(value, Cap):
        return value._of
    if isinstance(value, Far):
        return _in_thread(value)
    if isinstance(value, (list, tuple)):
        return [_converted(item) for item in value]
    if isinstance(value, dict):
        return {key: _converted(item) for key, item in value.items()}
    return value


class _InThread(Far):
    """A far object whose methods run in the threads of the pool."""

    def __init__(self, far: Far) -> None:
        self.far = far
        self._turns = Turns()

    def __hob_method__(self, name: str) -> Callable[..., Any] | None:
        method = self.far.__hob_method__(name)
        if method is None:
            return None

        async def call(*args: Any) -> Any:
            given = [_outward(arg) for arg in args]
            done: Future[Any] = Future()

            def run() -> None:
                # The caller may be gone by now.
                if not done.set_running_or_notify_cancel():
                    return
                try:
                    result = _ran(method, given)
                except BaseException as error:
                    done.set_exception(error)
                else:
                    done.set_result(result)

            # Queued in this step, so the calls run in the order in which they came.
            self._turns.add(run)
            return _inward(await asyncio.wrap_future(done))

        return call


def _ran(method: Callable[..., Any], args: list[Any]) -> Any:
    result = method(*args)
    if asyncio.iscoroutine(result):
        return asyncio.run(result)
    return result


def _in_thread(far: Far) -> _InThread:
    """Returns the same for each object, so the peer sees one object, and a value that comes back is the
    original."""
    wrapped: _InThread = own_of(far).once("in_thread", lambda: _InThread(far))
    return wrapped
