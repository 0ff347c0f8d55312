"""The questions of the peer by number, for as long as the peer may refer to their answers.

Promise: no number is used twice, also not after it is forgotten. Each answer counts against the connection
until it is sent and the peer is done with it. An answer used as an argument is the answer itself, pending or
not; each receiver of a list or a record gets its own copy.
"""

from __future__ import annotations

from ..errors import Limit, Violation
from .answer import Answer, Answering
from .limits import ANSWER, CALL
from .outbound import Outbound


class Answers:
    """The answers that the peer may refer to, by question number, and the calls that still run."""

    def __init__(self, outbound: Outbound, session: Answering) -> None:
        self._outbound = outbound
        self._session = session
        self._answers: dict[int, Answer] = {}
        self._running: dict[Answer, None] = {}
        self._last_asked = 0
        self._over = False
        # Bytes copied for the current frame.
        self._copies = 0

    def __len__(self) -> int:
        """Questions, answered or not, that the peer is not done with."""
        return len(self._answers)

    @property
    def unanswered(self) -> int:
        """Calls that still run, including those that want no answer."""
        return len(self._running)

    def begin(self) -> None:
        """Called at the start of each frame."""
        self._copies = 0

    def ask(self, question: int, weight: int) -> Answer:
        """Adds the entry of a new question."""
        if question != 0:
            # Numbers must rise. So none is used twice, also not after it is forgotten.
            if question <= self._last_asked:
                raise Violation("the same question number was used twice: count upwards")
            self._last_asked = question
        answer = Answer(self._session, question, CALL + weight)
        if question != 0:
            self._answers[question] = answer
        self._running[answer] = None
        self._outbound.add_bytes(answer.weight)
        return answer

    def get(self, question: int) -> Answer | None:
        """Returns the answer to a question, and None if the question was not asked or is done."""
        return self._answers.get(question)

    def was_asked(self, question: int) -> bool:
        """True if the peer has asked this question, now or earlier."""
        return question <= self._last_asked

    def ended(self, answer: Answer) -> bool:
        """Marks the answer as given. Returns False if the peer does not have to be told."""
        if answer in self._running:
            del self._running[answer]
            if self._over:
                self._outbound.account.outliving -= answer.weight
        wanted = answer.question != 0 and not answer.told and self._outbound.closed is None
        answer.told = True
        if not wanted:
            self._outbound.add_bytes(-answer.weight)
        return wanted

    def keep(self, answer: Answer, sent_bytes: int) -> None:
        """Sets the weight of an answer that was sent."""
        self._outbound.add_bytes(ANSWER + sent_bytes - answer.weight)
        answer.weight = ANSWER + sent_bytes

    def done(self, question: int) -> None:
        """The peer will not refer to this answer again."""
        answer = self._answers.pop(question, None)
        if answer is None:
            return
        # A call that still runs counts until it ends.
        if answer.told:
            self._outbound.add_bytes(-answer.weight)
        else:
            answer.told = True

    def take(self, question: int) -> tuple[object, int]:
        """Returns the answer that the current operation names as a value, and the bytes of a copy made for
        it."""
        answer = self._answers.get(question)
        if answer is None:
            raise Violation("a value names a question that was not asked, or is done")
        if not answer.is_copied:
            return answer.as_value(), 0
        # Checked before copying. One frame can name an answer as often as it has room for its number.
        self._copies += answer.weight
        if self._copies > self._outbound.limits.memory_bytes // 4:
            raise Limit("too much of answers in the arguments of one frame: send less at a time")
        return answer.as_value(), answer.weight

    def clear(self) -> None:
        """The connection is closed. Calls that wanted an answer are cancelled. Calls that still run hold
        their arguments until they end, so they count for the session."""
        self._over = True
        self._answers.clear()
        self._outbound.account.outliving += sum(answer.weight for answer in self._running)
        for answer in list(self._running):
            if answer.question == 0:
                continue
            answer.gone = True
            if answer.running is not None:
                answer.running.cancel()
