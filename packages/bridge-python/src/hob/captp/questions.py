"""Our questions to the peer, and the resolutions of the promises that we imported.

Promise: each is settled once. Messages reach the value in the order in which they were sent. If the value is
an object of ours, new messages wait until the earlier ones have come back from the peer. When the connection
ends, everything unsettled breaks.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from ..errors import CapError, Violation
from ..message import FLUSH, Answer, Message, Target, target_of
from ..vat_promise import VatPromise, vat_promise_of
from .dialect import Undecodable
from .flush import Arrival
from .import_table import ImportTable
from .imports import ImportedPromise, PeerConnection, Question, Remote
from .limits import BROKEN_AT_ONCE, QUESTION
from .outbound import Outbound


class Questions:
    """Our questions that the peer has not answered, by number, and the settled promises to be dropped."""

    def __init__(self, outbound: Outbound, connection: PeerConnection, imports: ImportTable) -> None:
        self._outbound = outbound
        self._connection = connection
        self._imports = imports
        self._questions: dict[int, Question] = {}
        self._last_question = 0
        # Settled imported promises, to be dropped at the next flush.
        self._to_drop: list[ImportedPromise] = []

    def __len__(self) -> int:
        """Unanswered questions of ours."""
        return len(self._questions)

    # ---- answers to our questions --------------------------------------------------------------------------

    @property
    def next_question(self) -> int:
        """The number of the next question. Numbers rise from 1."""
        return self._last_question + 1

    def asked(self, number: int, answer: Answer) -> None:
        """Called when the question was sent."""
        self._last_question = number
        question = Question(self._connection, number, answer)
        self._questions[number] = question
        self._outbound.add_bytes(QUESTION)
        along = getattr(answer, "along", None)
        if along is not None:
            along(question)

    def answer(self, number: int, value: object) -> None:
        """Settles a question with the value that the peer returned. If the value is ours and messages went along
        the question, waits until they have arrived. Raises `Violation` if the question was not asked or is
        answered already."""
        question = self._decided(number)
        if isinstance(value, Undecodable):
            self._finish(question)
            return question.answer.break_(value.error)
        becoming = vat_promise_of(value)
        if question.sent > 0 and self._is_ours(value) and not _closes_ring(question.answer, becoming):
            hold = getattr(question.answer, "hold", None)
            if hold is not None:
                hold(becoming)
            return self._fulfil_after_flush(question, question.answer, value, lambda: self._finish(question))
        self._finish(question)
        question.answer.fulfil(value)

    def refuse(self, number: int, error: CapError) -> None:
        """Breaks a question with the error of the peer. Raises `Violation` as `answer` does."""
        question = self._decided(number)
        self._finish(question)
        question.answer.break_(error)

    def _decided(self, number: int) -> Question:
        question = self._questions.get(number)
        if question is None or question.decided:
            raise Violation("an answer names a question that was not asked")
        question.decided = True
        return question

    def _finish(self, question: Question) -> None:
        question.settled = True
        number = question.slot[1]
        if self._questions.pop(number, None) is not None:
            self._outbound.add_bytes(-QUESTION)
        if self._outbound.closed is None:
            self._outbound.dialect_session.done(number)
            self._outbound.forget_soon()

    # ---- promises of the peer ------------------------------------------------------------------------------

    def resolve(self, number: int, value: object) -> None:
        """Settles an imported promise. If the value is ours and messages went along the promise, waits until they
        have arrived. Changes nothing if the promise is not known or is decided already."""
        promise = self._imports.promised(number)
        # The promise may be dropped already, because messages cross. The values of the message are still
        # ours.
        if promise is None or promise.decided:
            return
        promise.decided = True
        if isinstance(value, Undecodable):
            self._resolved(promise)
            return promise.vat_promise.break_(value.error)
        becoming = vat_promise_of(value)
        # A promise that would resolve to itself breaks, and has nothing to wait for.
        closes = becoming is not None and becoming.waits_for(promise.vat_promise)
        if promise.sent > 0 and self._is_ours(value) and not closes:
            promise.vat_promise.hold(becoming)
            return self._fulfil_after_flush(promise, promise.vat_promise, value, lambda: self._resolved(promise))
        self._resolved(promise)
        promise.vat_promise.fulfil(value)

    def break_(self, number: int, error: CapError) -> None:
        """Breaks an imported promise. Changes nothing if the promise is not known or is decided already."""
        promise = self._imports.promised(number)
        if promise is None or promise.decided:
            return
        promise.decided = True
        self._resolved(promise)
        promise.vat_promise.break_(error)

    def _resolved(self, promise: ImportedPromise) -> None:
        promise.settled = True
        self._imports.settled(promise)
        if self._outbound.closed is None:
            # The promise is not dropped at once, because its value may mention it.
            self._to_drop.append(promise)
            self._outbound.forget_soon()

    def give_back(self) -> None:
        """Drops the settled promises."""
        dropped, self._to_drop = self._to_drop, []
        for promise in dropped:
            mentions = self._imports.give_back(promise)
            if mentions > 0:
                self._outbound.dialect_session.drop(promise.slot[1], mentions)

    def _fulfil_after_flush(
        self, path: Remote, answer: Answer, value: object, finish: Callable[[], None]
    ) -> None:
        """Fulfils `answer` when everything sent along `path` has arrived."""

        def arrived() -> None:
            finish()
            if self._outbound.closed is None:
                answer.fulfil(value)
            else:
                answer.break_(self._outbound.closed)

        path.post(Message(FLUSH, [], Arrival(arrived)))

    def _is_ours(self, value: object) -> bool:
        """True if messages to `value` do not go through the peer."""
        target: Target | None = target_of(value)
        if target is None:
            promise = vat_promise_of(value)
            if promise is None:
                return False
            target = promise.path
        return not (isinstance(target, Remote) and target.connection is self._connection)

    # ---- closing -------------------------------------------------------------------------------------------

    def clear(self) -> Callable[[CapError], None]:
        """Empties the tables. Returns a function that breaks everything unsettled."""
        questions = iter(self._questions.values())
        self._questions = {}
        self._to_drop = []
        promises = iter(self._imports.clear())

        def break_some(why: CapError) -> None:
            """Breaks some at once, and the others after other work has run: a peer that has made us wait for
            very much must not stall the program with its end."""
            told = 0
            for question in islice(questions, BROKEN_AT_ONCE):
                told += 1
                question.settled = True
                self._break(question.answer, why)
            for promise in islice(promises, BROKEN_AT_ONCE - told):
                told += 1
                promise.settled = True
                self._break(promise.vat_promise, why)
            if told == BROKEN_AT_ONCE:
                self._outbound.loop.call_soon(break_some, why)

        return break_some

    def _break(self, answer: Answer, why: CapError) -> None:
        try:
            answer.break_(why)
        except Exception as error:
            self._connection.faulted(error)


def _closes_ring(answer: Answer, becoming: VatPromise | None) -> bool:
    """True if `becoming` already waits for `answer`. If both were held for each other, a walk along what they
    wait for would never end."""
    awaited_by = getattr(answer, "awaited_by", None)
    return becoming is not None and awaited_by is not None and awaited_by(becoming)
