"""References, promises, and `E` to send them messages.

    text = await E(root).subdir("src").readText("a.txt")      # one round trip

Every attribute of a reference or a promise is a method to send: `cap.readText("a")` returns a `Promise`, at
once. Named arguments, `cap.send(to="ann")`, are sent as one record.
A promise can be awaited, sent messages, and passed as an argument before it is settled. Names that
begin with `_` belong to Python. To send one of those, or a name that Python does not allow, write
`E(cap)["odd-name"](…)`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final, Generic, Self, TypeVar

from .errors import CapError, DeadlinePassed, Invalid
from .message import Addressed, Answer, Message, Target, is_method, no_method, target_of
from .vat_promise import Promised, VatPromise, vat_promise_of

To = TypeVar("To", bound=Target)


class Eventual(Generic[To]):
    """Something that messages can be sent to. Its attributes are methods to send."""

    __slots__ = ("__weakref__", "_target")
    _target: To

    def __getattr__(self, name: str) -> Send:
        if name.startswith("_"):
            raise AttributeError(name)
        return Send(self._target, name, None)

    def __call__(self, /, *args: Any, **named: Any) -> Promise:
        """Calls it as a function."""
        return Send(self._target, "", None)(*args, **named)

    # A cap is copied as itself, because it stands for one object. It cannot be pickled.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> str:
        raise TypeError("a reference cannot be pickled: publish it, or pass it in a call")


class Ref(Eventual[Target], Addressed):
    """A cap: a reference to an object of somebody else. It can be used only by sending messages."""

    __slots__ = ()

    def __init__(self, target: Target) -> None:
        self._target = target

    def __hob_target__(self) -> Target:
        return self._target

    def __repr__(self) -> str:
        return "<hob.Ref>"


class Promise(Eventual[VatPromise], Promised):
    """The result of a call, pending or settled. Awaiting it returns the value or raises the error."""

    __slots__ = ()

    def __init__(self, vat_promise: VatPromise) -> None:
        self._target = vat_promise

    def __hob_promise__(self) -> VatPromise:
        return self._target

    def __await__(self) -> Generator[Any, None, Any]:
        vat_promise = self._target
        if vat_promise.state == "pending":
            future = asyncio.get_running_loop().create_future()
            vat_promise.watch(
                lambda value: None if future.done() else future.set_result(None),
                lambda error: None if future.done() else future.set_result(None),
            )
            yield from future
        value = vat_promise.value
        if vat_promise.state == "broken":
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
    """A method of a target, to be called."""

    __slots__ = ("_deadline", "_method", "_target")

    def __init__(self, target: Target, method: str, deadline: float | None) -> None:
        self._target = target
        self._method = method
        self._deadline = deadline

    def __call__(self, /, *args: Any, **named: Any) -> Promise:
        return send(self._target, self._method, with_named(args, named), self._deadline)


def with_named(args: Sequence[Any], named: dict[str, Any]) -> list[Any]:
    """Returns the arguments of a call. Those with names are one record, the last argument."""
    return [*args, named] if named else list(args)


Sent = TypeVar("Sent")


class Named(Generic[Sent]):
    """Every attribute is a method to send: `x.name(…)`, `x["odd-name"](…)`, and `x(…)` if it is a function."""

    __slots__ = ()

    # Otherwise Python takes `__getitem__` for that of a list, and `list(x)` or `"a" in x` never ends.
    __iter__ = None
    __contains__ = None
    __reversed__ = None

    def __getitem__(self, name: str) -> Callable[..., Sent]:
        """Returns the method of this name, also of one that Python does not allow."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Callable[..., Sent]:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __call__(self, /, *args: Any, **named: Any) -> Sent:
        return self[""](*args, **named)


class Proxy(Named[Any]):
    """The result of `E(x)`."""

    __slots__ = ("_deadline", "_only", "_target")

    def __init__(self, target: Target, deadline: float | None, only: bool) -> None:
        self._target = target
        self._deadline = deadline
        self._only = only

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if self._only:
            return lambda *args, **named: send_only(self._target, name, with_named(args, named))
        return Send(self._target, name, self._deadline)


class Eventually:
    """`E(cap).method(…)` sends a message and returns a promise. `E(cap, deadline=2.0)` breaks it if there is
    no answer in that many seconds."""

    __slots__ = ()

    def __call__(self, to: object, *, deadline: float | None = None) -> Any:
        return Proxy(addressed(to), deadline, False)

    def send_only(self, to: object) -> Any:
        """The same, without an answer."""
        return Proxy(addressed(to), None, True)


E: Final = Eventually()

def addressed(to: object) -> Target:
    """Returns the target that a message to this value goes to. Raises `Invalid` for data."""
    target = vat_promise_of(to) or target_of(to)
    if target is None:
        raise Invalid("only a reference, a promise or a far object can be sent a message")
    return target


def send(target: Target, method: str, args: list[object], deadline: float | None) -> Promise:
    """Sends a message, and returns the promise of its result."""
    answer = VatPromise()
    if not is_method(method):
        answer.break_(no_method(method))
    else:
        if deadline is not None:
            _until(answer, deadline)
        target.post(Message(method, args, answer))
    return Promise(answer)


def send_only(target: Target, method: str, args: list[object]) -> None:
    """Sends a message that wants no answer."""
    if is_method(method):
        target.post(Message(method, args, None))


def _until(answer: VatPromise, seconds: float) -> None:
    late = f"no answer in {seconds:g} s: it may have happened or not, look before you repeat it"
    timer = asyncio.get_running_loop().call_later(seconds, lambda: answer.break_(DeadlinePassed(late)))
    answer.watch(lambda _: timer.cancel(), lambda _: timer.cancel())


def promise() -> tuple[Promise, Answer]:
    """Returns a promise and its resolver, which has `fulfil(value)` and `break_(error)`."""
    vat_promise = VatPromise()
    return Promise(vat_promise), vat_promise
