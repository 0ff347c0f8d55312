"""What we wait for: the peer's answers to our questions, and what becomes of its promises.

Promise: each is decided once. Messages reach what it becomes in the order in which they were sent: where that is an object of our own, those
sent from now on wait until those that went to the peer have come back. When the connection ends, all break.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from ..errors import CapError, Violation
from ..vow import FLUSH, Answer, Message, Target, Vow, target_of, vow_of
from .flush import Arrival
from .imports import Imports
from .limits import QUESTION
from .line import Line
from .remote import Exit, ImportedPromise, Question, Remote

AT_ONCE: Final = 4096
"""What waits when a connection ends is told in portions: the rest when others have run."""


class Waiting:
    def __init__(self, line: Line, exit_: Exit, imports: Imports) -> None:
        self._line = line
        self._exit = exit_
        self._imports = imports
        self._questions: dict[int, Question] = {}
        self._last_question = 0
        # Promises of the peer's that are settled, and go back to it when there is time.
        self._over: list[ImportedPromise] = []

    def __len__(self) -> int:
        """Questions of ours that are not answered."""
        return len(self._questions)

    # ---- answers to our questions -------------------------------------------------------------------------------------

    @property
    def next_question(self) -> int:
        return self._last_question + 1

    def asked(self, number: int, answer: Answer) -> None:
        """It was said."""
        self._last_question = number
        question = Question(self._exit, number, answer)
        self._questions[number] = question
        self._line.keeps(QUESTION)
        along = getattr(answer, "along", None)
        if along is not None:
            along(question)

    def returned(self, number: int, value: object, refused: CapError | None) -> None:
        question = self._decided(number)
        if refused is not None:
            self._finish(question)
            return question.answer.break_(refused)
        if question.sent > 0 and self._is_ours(value):
            hold = getattr(question.answer, "hold", None)
            if hold is not None:
                hold(vow_of(value))

            def arrived() -> None:
                self._finish(question)
                if self._line.closed is None:
                    question.answer.fulfil(value)
                else:
                    question.answer.break_(self._line.closed)

            return question.post(Message(FLUSH, [], Arrival(arrived)))
        self._finish(question)
        question.answer.fulfil(value)

    def failed(self, number: int, error: CapError) -> None:
        question = self._decided(number)
        self._finish(question)
        question.answer.break_(error)

    def _decided(self, number: int) -> Question:
        question = self._questions.get(number)
        if question is None or question.decided:
            raise Violation("answers a question that was not asked")
        question.decided = True
        return question

    def _finish(self, question: Question) -> None:
        question.over = True
        if self._questions.pop(question.number, None) is not None:
            self._line.keeps(-QUESTION)
        if self._line.closed is None:
            self._line.speech.done(question.number)
            self._line.forget_soon()

    # ---- what becomes of the peer's promises --------------------------------------------------------------------------

    def resolved(self, number: int, value: object, refused: CapError | None) -> None:
        promise = self._imports.promised(number)
        # It may be gone already: messages cross. What came with it is ours all the same.
        if promise is None or promise.decided:
            return
        promise.decided = True
        if refused is not None:
            self._settle(promise)
            return promise.vow.break_(refused)
        becoming = vow_of(value)
        # One that would become itself breaks, and nothing has to arrive there first.
        if promise.sent > 0 and self._is_ours(value) and not (becoming and becoming.waits_for(promise.vow)):
            promise.vow.hold(becoming)

            def arrived() -> None:
                self._settle(promise)
                if self._line.closed is None:
                    promise.vow.fulfil(value)
                else:
                    promise.vow.break_(self._line.closed)

            return promise.post(Message(FLUSH, [], Arrival(arrived)))
        self._settle(promise)
        promise.vow.fulfil(value)

    def broken(self, number: int, error: CapError) -> None:
        promise = self._imports.promised(number)
        if promise is None or promise.decided:
            return
        promise.decided = True
        self._settle(promise)
        promise.vow.break_(error)

    def _settle(self, promise: ImportedPromise) -> None:
        promise.over = True
        self._imports.settled(promise)
        if self._line.closed is None:
            # Not at once: what it became may mention it.
            self._over.append(promise)
            self._line.forget_soon()

    def give_back(self) -> None:
        """Says that the promises that are settled are done with."""
        over, self._over = self._over, []
        for promise in over:
            mentions = self._imports.give_back(promise)
            if mentions > 0:
                self._line.speech.drop(promise.number, mentions)

    def _is_ours(self, value: object) -> bool:
        """Whether messages to it would go another way than through the peer."""
        target: Target | None = target_of(value)
        if target is None:
            vow = vow_of(value)
            if vow is None:
                return False
            target = vow.path
        return not (isinstance(target, Remote) and target.exit is self._exit)

    # ---- the end ------------------------------------------------------------------------------------------------------

    def clear(self) -> Callable[[CapError], None]:
        """Empties the tables; what is answered breaks all that still waited."""
        questions = iter(self._questions.values())
        self._questions = {}
        self._over = []
        promises = iter(self._imports.clear())

        def break_some(why: CapError) -> None:
            """Some at once, the others when there is time: who makes us wait for very much must not hold up the rest with its end."""
            told = 0
            for question in islice(questions, AT_ONCE):
                told += 1
                question.over = True
                try:
                    question.answer.break_(why)
                except Exception as error:
                    self._exit.faulted(error)
            for promise in islice(promises, AT_ONCE - told):
                told += 1
                promise.over = True
                try:
                    promise.vow.break_(why)
                except Exception as error:
                    self._exit.faulted(error)
            if told == AT_ONCE:
                self._line.loop.call_soon(break_some, why)

        return break_some
