"""What a program holds: references, promises, and `E` to send them messages.

    text = await E(root).subdir("src").readText("a.txt")      # one round trip

Whatever attribute is asked of a reference or a promise is a method to send: `cap.readText("a")` answers a `Promise`, at once. A
promise can be awaited, sent messages, and passed as an argument, before it is there. Names that begin with `_` are Python's
own; to send one of those, or a name that Python does not allow: `E(cap)["odd-name"](…)`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Final, Generic, Self, TypeVar
from weakref import WeakKeyDictionary

from . import vow as vows
from .errors import CapError, DeadlinePassed, Invalid
from .vow import Answer, Message, Target, Vow, no_method


class Eventual:
    """What messages can be sent to. Its attributes are methods to send."""

    __slots__ = ("__weakref__", "_target")
    _target: Target

    def __getattr__(self, name: str) -> Send:
        if name.startswith("_"):
            raise AttributeError(name)
        return Send(self._target, name, None)

    def __call__(self, *args: Any) -> Promise:
        """Calls what is a function."""
        return Send(self._target, "", None)(*args)

    # A copy would be a second one of what there is one of; a cap cannot be written down.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> str:
        raise TypeError("a reference cannot be written down: publish it, or hand it on")


class Ref(Eventual):
    """An object of somebody else's: a cap. What cannot be done with it by sending messages cannot be done."""

    __slots__ = ()

    def __init__(self, target: Target) -> None:
        self._target = target

    def __repr__(self) -> str:
        return "<hob.Ref>"


class Promise(Eventual):
    """What a call answers, before it is there. Awaiting it answers the value, or raises what it broke with."""

    __slots__ = ()
    _target: Vow

    def __init__(self, vow: Vow) -> None:
        self._target = vow

    def __await__(self) -> Generator[Any, None, Any]:
        vow = self._target
        if vow.state == "pending":
            future = asyncio.get_running_loop().create_future()
            vow.watch(
                lambda value: None if future.done() else future.set_result(None),
                lambda error: None if future.done() else future.set_result(None),
            )
            yield from future
        value = vow.value
        if vow.state == "broken":
            assert isinstance(value, BaseException)
            raise value.again() if isinstance(value, CapError) else value
        return value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Promise) and other._target is self._target

    def __hash__(self) -> int:
        return id(self._target)

    def __repr__(self) -> str:
        return f"<hob.Promise {self._target.state}>"


class Send:
    """A method of something, to be called."""

    __slots__ = ("_deadline", "_method", "_target")

    def __init__(self, target: Target, method: str, deadline: float | None) -> None:
        self._target = target
        self._method = method
        self._deadline = deadline

    def __call__(self, *args: Any) -> Promise:
        return send(self._target, self._method, list(args), self._deadline)


Sent = TypeVar("Sent")


class Named(Generic[Sent]):
    """Whatever attribute is asked of it is a method to send: `x.name(…)`, `x["odd-name"](…)`, and `x(…)` where it is a function."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Callable[..., Sent]:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Callable[..., Sent]:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __call__(self, *args: Any) -> Sent:
        return self[""](*args)


class Proxy(Named[Any]):
    """What `E(x)` answers."""

    __slots__ = ("_deadline", "_only", "_target")

    def __init__(self, target: Target, deadline: float | None, only: bool) -> None:
        self._target = target
        self._deadline = deadline
        self._only = only

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if self._only:
            return lambda *args: send_only(self._target, name, list(args))
        return Send(self._target, name, self._deadline)


class Eventually:
    """`E(cap).method(…)` sends and answers a promise; `E(cap, deadline=2.0)` breaks it when there is no answer in that time."""

    __slots__ = ()

    def __call__(self, to: object, *, deadline: float | None = None) -> Any:
        return Proxy(addressed(to), deadline, False)

    def send_only(self, to: object) -> Any:
        """The same where nobody wants the answer."""
        return Proxy(addressed(to), None, True)


E: Final = Eventually()

local_target: Callable[[object], Target | None]
"""Set by `far`: the target of an object of this program's that is offered to others."""


def target_of(value: object) -> Target | None:
    """Of a reference: where its messages go. None for promises, data and all else."""
    if type(value) is Ref:
        return value._target
    return local_target(value)


def vow_of(value: object) -> Vow | None:
    if type(value) is Promise:
        return value._target
    if isinstance(value, asyncio.Future):
        return _following(value)
    return None


vows.target_of = target_of
vows.vow_of = vow_of


def addressed(to: object) -> Target:
    target = vow_of(to) or target_of(to)
    if target is None:
        raise Invalid("only a reference, a promise or a far object can be sent a message")
    return target


def send(target: Target, method: str, args: list[object], deadline: float | None) -> Promise:
    answer = Vow()
    if not is_method(method):
        answer.break_(no_method(method))
    else:
        if deadline is not None:
            _until(answer, deadline)
        target.post(Message(method, args, answer))
    return Promise(answer)


def send_only(target: Target, method: str, args: list[object]) -> None:
    if is_method(method):
        target.post(Message(method, args, None))


def is_method(name: str) -> bool:
    return name not in vows.NEVER and len(name) <= vows.LONGEST_METHOD


def _until(answer: Vow, seconds: float) -> None:
    late = f"no answer in {seconds:g} s: it may have happened or not, look before you repeat it"
    timer = asyncio.get_running_loop().call_later(seconds, lambda: answer.break_(DeadlinePassed(late)))
    answer.watch(lambda _: timer.cancel(), lambda _: timer.cancel())


def promise() -> tuple[Promise, Answer]:
    """A promise, and who settles it: `fulfil(value)`, `break_(error)`."""
    vow = Vow()
    return Promise(vow), vow


_followed: Final[WeakKeyDictionary[asyncio.Future[Any], Vow]] = WeakKeyDictionary()


def _following(future: asyncio.Future[Any]) -> Vow:
    """The vow of a future: the same each time it is passed."""
    known = _followed.get(future)
    if known is not None:
        return known
    vow = Vow()
    _followed[future] = vow

    def tell(done: asyncio.Future[Any]) -> None:
        if done.cancelled():
            vow.break_(CapError("it was cancelled", "error"))
        elif (error := done.exception()) is not None:
            vow.break_(error)
        else:
            vow.fulfil(done.result())

    if future.done():
        tell(future)
    else:
        future.add_done_callback(tell)
    return vow
