"""Objects of this program that others may be given.

    class Counter(hob.Far):
        def next(self) -> int: ...

Promise: nothing is offered by accident. An object can be passed only if its class says so (`hob.Far`) or
`hob.far(…)` made it. Others can call the functions that its own classes below `hob.Far` define, with names
that do not begin with `_`. They never reach attributes, properties, or anything from other bases. A method
that is a coroutine is awaited.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from types import FunctionType
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from .data import undefined
from .errors import CapError, Disconnected, Invalid
from .message import FLUSH, LONGEST_METHOD, Addressed, Answer, Message, Target, no_method

_methods: Final[dict[type, dict[str, FunctionType]]] = {}


class Far(Addressed):
    """An object that can be passed by reference."""

    def __hob_target__(self) -> Target:
        own = own_of(self)
        return own.near if own.near is not None else own.once("near", lambda: Near(self))

    def __hob_method__(self, name: str) -> Callable[..., Any] | None:
        found = methods_of(type(self)).get(name)
        return None if found is None else found.__get__(self)


def methods_of(kind: type) -> dict[str, FunctionType]:
    """Returns the functions of a class that others may call, by name."""
    known = _methods.get(kind)
    if known is None:
        known = {}
        for base in reversed(kind.__mro__):
            if base is Far or not issubclass(base, Far) or base.__module__ == __name__:
                continue
            for name, value in vars(base).items():
                if name.startswith("_"):
                    continue
                # An attribute that is not a function hides a method of a base with the same name.
                if isinstance(value, FunctionType):
                    known[name] = value
                else:
                    known.pop(name, None)
        _methods[kind] = known
    return known


class _Record(Far):
    def __init__(self, methods: Mapping[str, Callable[..., Any]]) -> None:
        self.__methods = dict(methods)

    def __hob_method__(self, name: str) -> Callable[..., Any] | None:
        return self.__methods.get(name)


def far(what: Callable[..., Any] | Mapping[str, Callable[..., Any]] | object, *methods: str) -> Far:
    """Returns a far object made from a function (also a built-in one, and a `functools.partial`), from a record
    of functions, or from the named methods of an object."""
    if isinstance(what, Far):
        return what
    if methods:
        return _Record({name: _own(what, name) for name in methods})
    if isinstance(what, Mapping):
        return _Record({name: _callable(what[name], name) for name in what})
    if inspect.isroutine(what) or isinstance(what, _FUNCTIONS):
        return _Record({"": what})
    raise Invalid("name the methods that others may call: hob.far(thing, 'read', 'write')")


# Objects that are functions by another name. Any other object with `__call__` may have further methods, so its
# maker says which.
_FUNCTIONS: Final = (functools.partial, type(functools.lru_cache(lambda: None)))


def _own(what: object, name: str) -> Callable[..., Any]:
    if name.startswith("_"):
        raise Invalid(f'"{name}" begins with _: such methods are never offered')
    return _callable(getattr(what, name), name)


def _callable(value: object, name: str) -> Callable[..., Any]:
    if not isinstance(name, str) or name.startswith("_") or not callable(value):
        raise Invalid(f'"{name}" is no method')
    return value


class Near(Target):
    """A far object, as a target of messages."""

    __slots__ = ("object",)

    def __init__(self, object_: Far) -> None:
        self.object = object_

    def post(self, message: Message) -> None:
        """Queues the call in the running loop."""
        message.to = self
        queue_of(asyncio.get_running_loop()).add(self, message)

    def run(self, message: Message) -> bool:
        """Runs one call. Returns True if it goes on in a task of its own."""
        answer = message.answer
        if answer is not None and getattr(answer, "gone", False):
            answer.break_(Disconnected("the caller is gone: its call did not begin"))
            return False
        try:
            if message.method == FLUSH:
                result = undefined
            else:
                # The length is checked first: no method is that long, and no error quotes the name.
                name = message.method
                method = self.object.__hob_method__(name) if len(name) <= LONGEST_METHOD else None
                if method is None:
                    raise no_method(name)
                result = _call(method, message.args)
        except Exception as error:
            if answer is not None:
                answer.break_(error)
            elif not isinstance(error, CapError):
                _unheard(error)
            return False
        if inspect.iscoroutine(result):
            _await(result, answer)
            return True
        if answer is not None:
            answer.fulfil(result)
        return False


def _call(method: Callable[..., Any], args: list[object]) -> Any:
    try:
        return method(*args)
    except TypeError:
        if not _fits(method, args):
            raise Invalid("the arguments do not fit this method: look at its parameters") from None
        raise


def _fits(method: Callable[..., Any], args: list[object]) -> bool:
    try:
        inspect.signature(method).bind(*args)
    except TypeError:
        return False
    except ValueError:  # it has no signature to check
        return True
    return True


_tasks: Final[set[asyncio.Task[Any]]] = set()


def _await(coroutine: Coroutine[Any, Any, Any], answer: Answer | None) -> None:
    task = asyncio.get_running_loop().create_task(coroutine)
    _tasks.add(task)
    # If the caller goes away, nobody needs the result, and the task is cancelled.
    if answer is not None and hasattr(answer, "running"):
        setattr(answer, "running", task)  # only answers to peers have it

    def done(task: asyncio.Task[Any]) -> None:
        _tasks.discard(task)
        if task.cancelled():
            if answer is not None:
                answer.break_(CapError("the call was cancelled", "error"))
        elif (error := task.exception()) is not None:
            if answer is not None:
                answer.break_(error)
            elif not isinstance(error, CapError):
                _unheard(error)
        elif answer is not None:
            answer.fulfil(task.result())

    task.add_done_callback(done)


def _unheard(error: BaseException) -> None:
    import logging

    logging.getLogger("hob").error("a call that nobody waits for failed", exc_info=error)


class Queue:
    """Calls of this program's objects. Each runs in a turn of its own, in the order in which they came."""

    AT_ONCE: Final = 256

    def __init__(self) -> None:
        self._waiting: deque[tuple[Near, Message]] = deque()
        self._running = False

    def add(self, target: Near, message: Message) -> None:
        """Queues one call. It runs in a later step of the loop."""
        self._waiting.append((target, message))
        if not self._running:
            self._running = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        for _ in range(self.AT_ONCE):
            if not self._waiting:
                self._running = False
                return
            target, message = self._waiting.popleft()
            # The first step of a coroutine runs before the next call.
            if target.run(message):
                break
        asyncio.get_running_loop().call_soon(self._run)


def queue_of(loop: asyncio.AbstractEventLoop) -> Queue:
    """Returns the queue of this loop."""
    queue = _queues.get(loop)
    if queue is None:
        queue = _queues[loop] = Queue()
    return queue


_queues: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Queue]] = WeakKeyDictionary()


class Own:
    """What belongs to one far object and to no other, kept in its `__dict__`: so it is found by identity, and
    ends with the object. A copy of the object gets its own."""

    __slots__ = ("_of", "in_thread", "near")

    def __init__(self, of: Far) -> None:
        self._of = of
        self.near: Near | None = None
        self.in_thread: Far | None = None

    def is_of(self, far: Far) -> bool:
        """Returns False for a shallow copy of the object, which has the same `__dict__` entry."""
        return self._of is far

    def once(self, name: Literal["in_thread", "near"], make: Callable[[], Any]) -> Any:
        """Returns what has this name. The first call makes it."""
        known = getattr(self, name)
        if known is None:
            with _making:
                known = getattr(self, name)
                if known is None:
                    known = make()
                    setattr(self, name, known)
        return known

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        # In a deep copy and in a pickle of the object, nothing is in this place.
        return type(None), ()


_making: Final = threading.RLock()


def own_of(far: Far) -> Own:
    """Returns what belongs to this object."""
    kept = far.__dict__
    own = kept.get("_hob_own")
    if not isinstance(own, Own) or not own.is_of(far):
        with _making:
            own = kept.get("_hob_own")
            if not isinstance(own, Own) or not own.is_of(far):
                own = kept["_hob_own"] = Own(far)
    return own

