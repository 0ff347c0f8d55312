"""The peer's questions, by its numbers, for as long as it may still name what they are answered with.

Promise: no number is used twice, also after it is forgotten. Each answer is paid for until it is given and the peer is done with it. What is
named as an argument is what its question is answered with, there already or not, and whoever gets it has a copy of his own.
"""

from __future__ import annotations

from ..errors import Limit, Violation
from .answers import Answering, PeersQuestion
from .limits import ANSWER, CALL
from .line import Line


class AnswerTable:
    def __init__(self, line: Line, session: Answering) -> None:
        self._line = line
        self._session = session
        self._answers: dict[int, PeersQuestion] = {}
        self._working: set[PeersQuestion] = set()
        self._last_heard = 0
        # Of answers, for the frame that is being heard.
        self._copies = 0
        self.unanswered = 0
        """Calls of the peer's that still run, those that want no answer too."""

    def __len__(self) -> int:
        return len(self._answers)

    def begin(self) -> None:
        """A frame begins."""
        self._copies = 0

    def ask(self, number: int, weight: int) -> PeersQuestion:
        """The entry of a question that was just asked."""
        if number != 0:
            # Rising numbers: none is used twice, also after it is forgotten.
            if number <= self._last_heard:
                raise Violation("asks the same question twice: number questions upwards")
            self._last_heard = number
        answer = PeersQuestion(self._session, number, CALL + weight)
        if number != 0:
            self._answers[number] = answer
        self._working.add(answer)
        self.unanswered += 1
        self._line.keeps(answer.weight)
        return answer

    def get(self, number: int) -> PeersQuestion | None:
        return self._answers.get(number)

    def heard_of(self, number: int) -> bool:
        """Whether such a question was ever asked."""
        return number <= self._last_heard

    def ended(self, answer: PeersQuestion) -> bool:
        """It is answered; False where nobody is to be told."""
        self.unanswered -= 1
        self._working.discard(answer)
        wanted = answer.number != 0 and not answer.told and self._line.closed is None
        answer.told = True
        if not wanted:
            self._line.keeps(-answer.weight)
        return wanted

    def keep(self, answer: PeersQuestion, weight: int) -> None:
        """What an answer that is there weighs from now on."""
        self._line.keeps(ANSWER + weight - answer.weight)
        answer.weight = ANSWER + weight

    def done(self, number: int) -> None:
        """The peer will not name it again."""
        answer = self._answers.pop(number, None)
        if answer is None:
            return
        # One that still runs is paid for until it ends.
        if answer.told:
            self._line.keeps(-answer.weight)
        else:
            answer.told = True

    def take(self, number: int) -> tuple[object, int]:
        """The answer to this question, where the operation that is being heard names it as a value; and what a copy of it weighs."""
        answer = self._answers.get(number)
        if answer is None:
            raise Violation("a value names a question that was not asked, or is done")
        if not answer.is_copied:
            return answer.as_value(), 0
        # Before it is copied: one frame can name an answer as often as it has room for its number.
        self._copies += answer.weight
        if self._copies > self._line.limits.memory_bytes // 4:
            raise Limit("too much of answers in the arguments of one frame: send less at a time")
        return answer.as_value(), answer.weight

    def clear(self) -> None:
        """The peer is gone: nobody needs what is still being done for an answer."""
        working, self._working = self._working, set()
        self._answers.clear()
        for answer in working:
            if answer.number == 0:
                continue
            answer.gone = True
            if answer.running is not None:
                answer.running.cancel()
