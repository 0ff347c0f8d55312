"""The answer to a question of the peer.

Promise: the question is answered once. Calls on the answer go to its value in the order in which they came,
also while it is pending. If the value is data, they break. If the value cannot be encoded, the answer breaks,
so that nobody reaches the value through the answer.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, Protocol

from ..errors import NotCallable
from ..message import Message, Target, to_data, target_of
from ..reference import Promise
from ..vat_promise import VatPromise, vat_promise_of
from .decode import copied


class Answering(Protocol):
    """The connection, as an answer sees it."""

    def answered(self, answer: Answer, value: object, /) -> BaseException | None:
        """Sends the value to the peer. Returns an error if the value cannot be encoded."""
        ...

    def refused(self, answer: Answer, error: BaseException, /) -> None:
        """Sends the error to the peer, if the peer still wants the answer."""
        ...


class Answer:
    """The answer to one question of the peer: pending, a value, an error, or a promise that it follows.
    Question 0 is a call that wants no answer. The peer is told nothing of its result."""

    __slots__ = ("_path", "_session", "_state", "_value", "gone", "of_stream", "question", "running", "told", "weight")

    def __init__(self, session: Answering, question: int, weight: int) -> None:
        self._session = session
        self.question = question
        # Bytes counted against the memory of the connection.
        self.weight = weight
        # The peer was told, or has sent `done`.
        self.told = False
        # The peer is gone. A call that has not begun need not begin.
        self.gone = False
        # The task that runs the call.
        self.running: asyncio.Task[Any] | None = None
        # The call, if its method belongs to streams.
        self.of_stream: Message | None = None
        # pending, fulfilled, broken, or promise: the answer follows the promise in `_value`.
        self._state = "pending"
        self._value: object = None
        # The target for calls while the answer is pending.
        self._path: Target | None = None

    def fulfil(self, value: object) -> None:
        """Settles the answer with a value and tells the peer. If the value is a promise, the answer follows it.
        Changes nothing if the answer is settled already."""
        if self._state == "promise":
            return self._promise().fulfil(value)
        if self._state != "pending":
            return
        promise = vat_promise_of(value)
        if promise is not None:
            self._state = "promise"
            self._value = promise
            return self._tell_when_settled(promise)
        self._state = "fulfilled"
        self._value = value
        self._tell(value)

    def break_(self, error: BaseException) -> None:
        """Breaks the answer with an error and tells the peer. Changes nothing if the answer is settled already."""
        if self._state == "promise":
            return self._promise().break_(error)
        if self._state != "pending":
            return
        self._state = "broken"
        self._value = error
        self._session.refused(self, error)

    def along(self, path: Target) -> None:
        """Calls on this answer may be forwarded to the peer that was asked for it."""
        if self._state == "promise":
            self._promise().along(path)
        elif self._state == "pending":
            self._path = path

    def hold(self, becoming: VatPromise | None = None) -> None:
        """Ends `along`. Calls wait until the answer settles."""
        self._path = None
        if self._state == "promise":
            self._promise().hold(becoming)

    def awaited_by(self, promise: VatPromise) -> bool:
        """True if `promise` can settle only after this answer does."""
        return self._state == "promise" and self._promise().awaited_by(promise)

    def _promise(self) -> VatPromise:
        assert isinstance(self._value, VatPromise)
        return self._value

    def _tell(self, value: object) -> None:
        why = self._session.answered(self, value)
        if why is not None:
            self._state = "broken"
            self._value = why
        elif self._state == "fulfilled":
            # The program may change its list later. The answer is what it returned.
            self._value = copied(value)

    def _tell_when_settled(self, promise: VatPromise) -> None:
        promise.watch(self._tell, lambda error: self._session.refused(self, error))

    def as_promise(self) -> VatPromise:
        """Turns the pending answer into a promise, because somebody uses it before it settles."""
        if self._state == "promise":
            return self._promise()
        promise = VatPromise()
        if self._state == "broken":
            assert isinstance(self._value, BaseException)
            promise.break_(self._value)
            return promise
        self._state = "promise"
        self._value = promise
        if self._path is not None:
            promise.along(self._path)
        self._tell_when_settled(promise)
        return promise

    def post(self, message: Message) -> None:
        """A call on this answer."""
        if self._state == "pending":
            self.as_promise().post(message)
        elif self._state == "promise":
            self._promise().post(message)
        elif self._state == "broken":
            assert isinstance(self._value, BaseException)
            message.fail(self._value)
        else:
            target = target_of(self._value)
            if target is None:
                message.fail(to_data(message.method))
            else:
                target.post(message)

    def target(self) -> Target | None:
        """Returns the target of a call on this answer, and None if the answer is data or broken."""
        if self._state == "promise":
            return self._promise()
        if self._state == "fulfilled":
            return target_of(self._value)
        return self.as_promise() if self._state == "pending" else None

    @property
    def is_copied(self) -> bool:
        """True for a list or a record: each receiver gets its own copy."""
        return self._state == "fulfilled" and isinstance(self._value, (list, dict))

    def as_value(self) -> object:
        """Returns the value for use as an argument of another call."""
        return copied(self._value) if self._state == "fulfilled" else Promise(self.as_promise())


FORGOTTEN: Final = NotCallable(
    "this answer is data, or was released: only a reference can be sent a message"
)
