"""The threads in which the offered objects of programs without a loop run.

Promise: calls of one object begin in the order in which they came, and run one at a time. A call that waits
for a cap lets the next one of its object begin, as an `await` does, and goes on when that one has ended or
waits. So two objects that call each other do not wait for ever. All objects share one pool. It keeps
`Pool.KEPT` threads that have nothing to do, and has `Pool.MOST` at most; further calls wait for a thread.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

T = TypeVar("T")


class Pool:
    """Threads that run what they are given, oldest first."""

    KEPT: Final = 4
    MOST: Final = 256

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._work: deque[Callable[[], None]] = deque()
        self._idle = 0
        self._threads = 0
        self._pid = os.getpid()

    def run(self, work: Callable[[], None]) -> None:
        """Runs `work`, which must not raise, in a thread of the pool."""
        if self._pid != os.getpid():
            # A forked child has the object, but not the threads.
            self.__init__()  # type: ignore[misc]
        with self._changed:
            self._work.append(work)
            if self._idle >= len(self._work):
                self._changed.notify()
            elif self._threads < self.MOST:
                self._threads += 1
                threading.Thread(target=self._serve, name=f"hob-far-{self._threads}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            with self._changed:
                if not self._work and self._idle >= self.KEPT:
                    self._threads -= 1
                    return
                self._idle += 1
                while not self._work:
                    self._changed.wait()
                self._idle -= 1
                work = self._work.popleft()
            work()
            # Otherwise a thread that waits keeps the last object alive.
            del work


pool: Final = Pool()


class Turns:
    """The calls of one object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy = False
        self._calls: deque[Callable[[], None]] = deque()
        # Calls that have waited for a cap and can go on. They go before those that have not begun.
        self._resuming: deque[threading.Event] = deque()

    def add(self, call: Callable[[], None]) -> None:
        """Runs `call`, which must not raise, after the calls that came before."""
        with self._lock:
            self._calls.append(call)
            if self._busy:
                return
            self._busy = True
        pool.run(self._run_next)

    def _run_next(self) -> None:
        with self._lock:
            call = self._calls.popleft()
        _here.turns = self
        try:
            call()
        finally:
            _here.turns = None
            self.pass_on()

    def pass_on(self) -> None:
        """Ends the turn of the running call, and begins that of the next one."""
        with self._lock:
            if self._resuming:
                self._resuming.popleft().set()
                return
            if not self._calls:
                self._busy = False
                return
        pool.run(self._run_next)

    def resume(self, mine: threading.Event) -> None:
        """Sets `mine` when no other call of the object runs."""
        with self._lock:
            if self._busy:
                self._resuming.append(mine)
                return
            self._busy = True
        mine.set()


class _Here(threading.local):
    turns: Turns | None = None


_here: Final = _Here()


def result_of(future: Future[T]) -> T:
    """Waits for a result. If this thread runs a call of an offered object, other calls of that object may run
    meanwhile."""
    turns = _here.turns
    if turns is None:
        return future.result()
    _here.turns = None
    mine = threading.Event()
    # Told in the thread of the connections. So calls go on in the order in which their answers came.
    future.add_done_callback(lambda _: turns.resume(mine))
    turns.pass_on()
    mine.wait()
    _here.turns = turns
    return future.result()
