"""The inside of a promise: messages wait here until their target is known.

Promise: messages to a promise reach its target in the order in which they were sent, also if it resolves to
another promise. If it resolves to data, to itself or to an error, the waiting messages break.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any, Final, TypeVar, Union
from weakref import WeakKeyDictionary

from .errors import CapError, Cycle
from .message import Message, Target, target_of, to_data

T = TypeVar("T")
Many = list[Union[T, "Many[T]"]]
"""A list to which whole lists are appended. So linking two promises costs the same for any number of waiting
messages."""

Watcher = tuple[Callable[[object], None], Callable[[BaseException], None]]


class _Settled(threading.local):
    """Settled promises of this thread whose watchers are still to be told. A queue, because telling one may
    settle the next, and a long chain of them would overflow the stack. One for each thread: with one for all, a
    loop told the watchers of another loop, in its own thread."""

    def __init__(self) -> None:
        self.waiting: deque[VatPromise] = deque()
        self.telling = False


_settled: Final = _Settled()


class VatPromise(Target):
    """A promise, with the messages that wait for its target."""

    __slots__ = ("_becoming", "_path", "_shortened", "_state", "_thread", "_value", "_waiting", "_watchers")

    def __init__(self) -> None:
        self._thread = get_ident()
        # pending, fulfilled, broken, or linked: it resolved to the promise in `_value`.
        self._state = "pending"
        self._value: object = None
        self._waiting: Many[Message] | None = None
        self._watchers: Many[Watcher] | None = None
        # Called when this resolves to a promise that a peer decides.
        self._shortened: Many[Callable[[], None]] | None = None
        # The promise that this will resolve to when earlier messages have arrived.
        self._becoming: VatPromise | None = None
        # Where messages go while this is pending: to the peer that decides it.
        self._path: Target | None = None

    def end(self) -> VatPromise:
        """Returns the last promise of a chain of linked promises."""
        end = self
        while end._state == "linked":
            linked = end._value
            assert isinstance(linked, VatPromise)
            end = linked
        if end is not self:
            self._value = end
        return end

    @property
    def state(self) -> str:
        """pending, fulfilled or broken."""
        return self.end()._state

    @property
    def value(self) -> object:
        """The value that fulfilled it, or the error that broke it."""
        return self.end()._value

    @property
    def path(self) -> Target | None:
        """Where messages go while it is pending, if a peer decides it."""
        return self.end()._path

    def post(self, message: Message) -> None:
        """Sends a message to what this becomes."""
        end = self.end()
        if end._path is not None:
            end._path.post(message)
        # A settled promise may still be forwarding earlier messages. This one must not overtake them.
        elif end._state == "pending" or end._waiting is not None:
            if end._waiting is None:
                end._waiting = []
            end._waiting.append(message)
        elif end._state == "broken":
            message.fail(end._value)  # type: ignore[arg-type]
        else:
            _forward(message, end._value)

    def along(self, path: Target) -> None:
        """Messages go along `path` from now on, the waiting ones first."""
        end = self.end()
        if end is not self or self._state != "pending":
            return
        waiting, self._waiting = self._waiting, None
        self._path = path
        for message in _each(waiting):
            path.post(message)
        self._tell_shortened()

    def hold(self, becoming: VatPromise | None = None) -> None:
        """Ends `along`: messages wait until this settles. `becoming` is its value, if that is a promise."""
        self._path = None
        if self._state == "pending":
            self._becoming = becoming

    def waits_for(self, promise: VatPromise) -> bool:
        """True if this is `promise`, or can settle only after it."""
        at: VatPromise | None = self.end()
        while at is not None:
            if at is promise:
                return True
            at = None if at._becoming is None else at._becoming.end()
        return False

    def awaited_by(self, promise: VatPromise) -> bool:
        """The inverse of `waits_for`."""
        return promise.waits_for(self.end())

    def watch_shortening(self, tell: Callable[[], None]) -> None:
        """Calls `tell` once if this resolves to a promise that a peer decides."""
        end = self.end()
        if end._state != "pending":
            return
        if end._path is not None:
            return tell()
        if end._shortened is None:
            end._shortened = []
        end._shortened.append(tell)

    def _tell_shortened(self) -> None:
        told, self._shortened = self._shortened, None
        for tell in _each(told):
            tell()

    def watch(self, fulfilled: Callable[[object], None], broken: Callable[[BaseException], None]) -> None:
        """Calls one of the two when this settles, or at once if it has settled."""
        end = self.end()
        if end._state == "pending":
            end._check_thread()
            if end._watchers is None:
                end._watchers = []
            end._watchers.append((fulfilled, broken))
        elif end._state == "broken":
            broken(end._value)  # type: ignore[arg-type]
        else:
            fulfilled(end._value)

    def fulfil(self, value: object) -> None:
        """Resolves it to a value or to another promise. Later calls change nothing."""
        if self._state != "pending":
            return
        other = vat_promise_of(value)
        if other is None:
            return self._settle("fulfilled", value)
        end = other.end()
        if end.waits_for(self):
            return self.break_(Cycle("a promise was resolved to itself: resolve it to something else"))
        if end._state != "pending":
            return self._settle(end._state, end._value)
        self._link(end)

    def break_(self, error: BaseException) -> None:
        """Breaks it with an error. Later calls change nothing."""
        if self._state == "pending":
            self._settle("broken", error)

    def _check_thread(self) -> None:
        if get_ident() != self._thread:
            raise RuntimeError(
                "this promise belongs to the loop of another thread: use hob.sync, or loop.call_soon_threadsafe"
            )

    def _settle(self, state: str, value: object) -> None:
        self._check_thread()
        self._state = state
        self._value = value
        self._path = self._becoming = self._shortened = None
        if self._waiting is None and self._watchers is None:
            return
        here = _settled
        here.waiting.append(self)
        if here.telling:
            return
        here.telling = True
        fault: Exception | None = None
        try:
            while here.waiting:
                try:
                    here.waiting.popleft()._tell()
                except Exception as error:
                    # The others must be told, too.
                    fault = error
        finally:
            here.telling = False
        if fault is not None:
            raise fault

    def _tell(self) -> None:
        waiting = self._waiting
        if waiting is not None:
            for message in _each(waiting):
                if self._state == "broken":
                    message.fail(self._value)  # type: ignore[arg-type]
                else:
                    _forward(message, self._value)
            self._waiting = None
        watchers, self._watchers = self._watchers, None
        for fulfilled, broken in _each(watchers):
            if self._state == "broken":
                broken(self._value)  # type: ignore[arg-type]
            else:
                fulfilled(self._value)

    def _link(self, end: VatPromise) -> None:
        self._check_thread()
        end._check_thread()
        waiting, watchers, shortened = self._waiting, self._watchers, self._shortened
        self._state = "linked"
        self._value = end
        self._path = self._becoming = None
        self._waiting = self._watchers = self._shortened = None
        # A later message through this promise comes after those that wait here. So appending keeps the order
        # of every sender.
        if waiting is not None and end._path is not None:
            for message in _each(waiting):
                end.post(message)
        elif waiting is not None:
            end._waiting = _joined(end._waiting, waiting)
        if watchers is not None:
            end._watchers = _joined(end._watchers, watchers)
        if shortened is not None:
            end._shortened = _joined(end._shortened, shortened)
            if end._path is not None:
                end._tell_shortened()


def _joined(some: Many[T] | None, more: Many[T]) -> Many[T]:
    if some is None:
        return more
    some.append(more)
    return some


def _each(many: Many[T] | None) -> Iterator[T]:
    """Yields the items in order, also those added meanwhile. Without recursion, because lists may be nested
    as deep as promises were linked."""
    if many is None:
        return
    inside: list[tuple[Many[T], int]] = [(many, 0)]
    while inside:
        here, at = inside.pop()
        if at >= len(here):
            continue
        one = here[at]
        inside.append((here, at + 1))
        if isinstance(one, list):
            inside.append((one, 0))
        else:
            yield one


def _forward(message: Message, value: object) -> None:
    target = target_of(value)
    if target is None:
        message.fail(to_data(message.method))
    else:
        target.post(message)


class Promised:
    """A promise as a program holds it."""

    __slots__ = ()

    def __hob_promise__(self) -> VatPromise:
        raise NotImplementedError


def vat_promise_of(value: object) -> VatPromise | None:
    """Returns the promise behind a promise or a future, and None for anything else."""
    if isinstance(value, Promised):
        return value.__hob_promise__()
    return _following(value) if isinstance(value, asyncio.Future) else None


_followed: Final[WeakKeyDictionary[asyncio.Future[Any], VatPromise]] = WeakKeyDictionary()


def _following(future: asyncio.Future[Any]) -> VatPromise:
    """Returns the promise that follows a future. It is the same each time the future is passed."""
    known = _followed.get(future)
    if known is not None:
        return known
    vat_promise = VatPromise()
    _followed[future] = vat_promise

    def tell(done: asyncio.Future[Any]) -> None:
        if done.cancelled():
            vat_promise.break_(CapError("the call was cancelled", "error"))
        elif (error := done.exception()) is not None:
            vat_promise.break_(error)
        else:
            vat_promise.fulfil(done.result())

    if future.done():
        tell(future)
    else:
        future.add_done_callback(tell)
    return vat_promise
