"""CapTP over something that carries frames: two tables of what each side has given the other, two of questions and answers, and the rules
between them (docs/wire.md).

Promise: a call is answered, or the connection closes. Messages reach what a promise becomes in the order in which they were sent, also when
that turns out to be an object of the sender's own. All that a peer makes us keep is counted. When the connection ends, everything that
came by it breaks with `disconnected`.

Here is how calls and answers pass through. The rules are with what they are about: the line (when frames leave, what may be kept, the end),
the peer's questions (`AnswerTable`), what we wait for (`Waiting`), what the peer is given (`Giving`) and what it gave (`Imports`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..data import undefined
from ..errors import CapError, Invalid, Limit, NoSuchObject, Violation
from ..reference import Promise, Ref, is_method
from ..vow import FLUSH, LONGEST_METHOD, Message, Target, Vow, no_method, target_of
from .answer_table import AnswerTable
from .answers import FORGOTTEN, PeersQuestion
from .fence import entry
from .flush import flush
from .giving import Giving
from .hearing import Hearing
from .imports import Imports
from .limits import IMPORT, Limits
from .line import PROTOCOL, Line, Link
from .readers import OF_STREAMS, Readers
from .remote import Import, Remote
from .speech import Frame, Speech
from .values import Incoming, Slot
from .waiting import Waiting

log: Final = logging.getLogger("hob")


@dataclass(frozen=True, slots=True)
class Stats:
    """What a connection holds. All 0 when it is over."""

    questions: int
    answers: int
    imports: int
    exports: int
    promises: int
    bytes: int


class Connection:
    """One end. `hear` and `lost` are called by the transport, all else by the program; both in the thread of its loop."""

    def __init__(
        self,
        link: Link,
        *,
        bootstrap: object = None,
        limits: Limits | None = None,
        observe: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        limits = limits or Limits()
        offered = None if bootstrap is None else target_of(bootstrap)
        if bootstrap is not None and offered is None:
            raise Invalid("a bootstrap is a far object or a reference: hob.far(…)")
        self._thread = threading.get_ident()
        self._observe = observe
        self._incoming = Incoming(limits)
        self._speech = Speech(self, limits, link.send)
        self._hearing = Hearing(self, self, limits, self._incoming)
        self._line = Line(link, limits, self._speech, self._incoming)
        self._line.speaking = self
        self._readers = Readers(offered)
        self._imports = Imports(self, limits.exports, self._line.keeps, _noticing(weakref.ref(self), self._line.loop))
        self._answers = AnswerTable(self._line, self)
        self._giving = Giving(self._line, self, self._readers)
        self._waiting = Waiting(self._line, self, self._imports)
        # What the garbage collector took note of.
        self._dead: deque[int] = deque()
        self._noticed = False
        if offered is not None:
            self._giving.bootstrap(bootstrap, offered)
        self.bootstrap: Final = self._imports.object(0)
        """What the peer offers from the beginning."""

    # ---- for the program ----------------------------------------------------------------------------------------------

    def stats(self) -> Stats:
        return Stats(
            len(self._waiting),
            len(self._answers),
            len(self._imports),
            len(self._giving),
            self._imports.pending + self._giving.pending,
            self._line.bytes,
        )

    @property
    def closed(self) -> CapError | None:
        """Why nothing leaves or comes any more; None while it is open."""
        return self._line.closed

    async def ended(self) -> tuple[int, str]:
        """Waits for the end; its code and reason (docs/wire.md)."""
        return await asyncio.shield(self._line.over)

    @entry
    def release(self, ref: Ref) -> None:
        """Says now that a reference is no longer needed, rather than waiting for the garbage collector."""
        target = ref._target
        if not isinstance(target, Import) or target.exit is not self:
            return
        mentions = self._imports.release(target, ref)
        if mentions > 0 and self._line.closed is None:
            self._give_back(target.number, mentions)

    def close(self, reason: str = "done", code: int = 1000) -> None:
        """Breaks what waits with `disconnected`, on both sides."""
        self._line.close(code, reason)

    # ---- for the transport --------------------------------------------------------------------------------------------

    @entry
    def hear(self, frame: Frame) -> None:
        line = self._line
        if line.closed is not None or line.ends_flood():
            return
        self._answers.begin()
        self._imports.begin()
        if isinstance(frame, str):
            self._hearing.text(frame)
        else:
            self._incoming.add(frame)
        line.ends_overspent()

    def faulted(self, error: Exception) -> None:
        if isinstance(error, Violation):
            return self._line.close(error.code, error.reason)
        # A fault of ours that this peer may be able to bring about at will: it must not cost the program more than the connection.
        self._line.close(1011, f"a fault of this end (error {self.fault(error)})")

    def lost(self, code: int, reason: str) -> None:
        """The transport is gone."""
        self._line.end(code, reason)

    # ---- what arrives -------------------------------------------------------------------------------------------------

    def deliver(
        self, to: int, asked: bool, method: str, args: list[object], refused: CapError | None, number: int, weight: int
    ) -> None:
        if asked and number != 0 and to >= number:
            raise Violation("a call names what was never asked")
        answer = self._answers.ask(number, weight)
        target = self._answers.get(to) if asked else self._offered(to)
        if target is None:
            return answer.break_(self._nothing(to, asked))
        if self._answers.unanswered > self._line.limits.questions:
            return answer.break_(Limit("too many calls are unanswered on this connection: wait for answers"))
        if refused is not None:
            return answer.break_(refused)
        if len(method) > LONGEST_METHOD or not is_method(method):
            return answer.break_(no_method(method))
        if method == FLUSH:
            behind = target.target() if isinstance(target, PeersQuestion) else target
            return answer.fulfil(undefined) if behind is None else flush(behind, answer)
        message = Message(method, args, answer)
        if method in OF_STREAMS:
            answer.of_stream = message
            self._readers.asked(message)
        target.post(message)

    def _offered(self, number: int) -> Target | None:
        known = self._giving.get(number)
        return None if known is None else known.target

    def _nothing(self, number: int, asked: bool) -> CapError:
        if asked:
            if self._answers.heard_of(number):
                return FORGOTTEN
            raise Violation("a call names what was never asked")
        if number == 0:
            return NoSuchObject("this end offers no bootstrap")
        raise Violation("a call names what was never offered, or was given back")

    def returned(self, number: int, value: object, refused: CapError | None) -> None:
        self._waiting.returned(number, value, refused)

    def failed(self, number: int, error: CapError) -> None:
        self._waiting.failed(number, error)

    def resolved(self, number: int, value: object, refused: CapError | None) -> None:
        self._waiting.resolved(number, value, refused)

    def broken(self, number: int, error: CapError) -> None:
        self._waiting.broken(number, error)

    def done(self, number: int) -> None:
        self._answers.done(number)

    def dropped(self, number: int, mentions: int) -> None:
        self._giving.drop(number, mentions)

    # ---- what leaves --------------------------------------------------------------------------------------------------

    def call(self, through: Remote, message: Message) -> None:
        if threading.get_ident() != self._thread:
            raise RuntimeError("this reference belongs to the loop of another thread: use hob.sync")
        line = self._line
        if line.closed is not None:
            return message.fail(line.closed)
        if through.instead(message):
            return
        answer = message.answer
        if line.full:
            slow = "the peer does not read as fast as this is sent: wait for answers before you send more"
            return message.fail(Limit(slow))
        # A call that goes on to another peer is asked for an answer there only if it was here.
        unasked = answer is None or (type(answer) is PeersQuestion and answer.number == 0)
        number = 0 if unasked else self._waiting.next_question
        try:
            self._speech.deliver([through.number] if through.asks else through.number, message.method, message.args, number)
        except (CapError, ValueError, RecursionError) as error:
            self._giving.unsaid()
            return message.fail(error)
        self._giving.said()
        if answer is None:
            return
        if unasked:
            answer.fulfil(undefined)
        else:
            self._waiting.asked(number, answer)

    @entry
    def answered(self, answer: PeersQuestion, value: object) -> BaseException | None:
        of_stream, answer.of_stream = answer.of_stream, None
        if of_stream is not None:
            self._readers.answered(of_stream, value)
        if not self._answers.ended(answer):
            if self._line.closed is not None:
                self._readers.too_late(value)
            return None
        why: BaseException | None = None
        try:
            weight = self._speech.answer(answer.number, value)
        except (CapError, ValueError, RecursionError) as error:
            self._giving.unsaid()
            why = error
            weight = self._speech.refuse(answer.number, error)
        self._giving.said()
        self._answers.keep(answer, weight)
        return why

    @entry
    def refused(self, answer: PeersQuestion, error: BaseException) -> None:
        of_stream, answer.of_stream = answer.of_stream, None
        if of_stream is not None:
            self._readers.refused(of_stream)
        if not self._answers.ended(answer):
            # Of a call whose answer nobody wants: what fails in it is this program's business.
            if answer.number == 0 and not isinstance(error, CapError):
                self.fault(error)
            return
        weight = self._speech.refuse(answer.number, error)
        self._giving.said()
        self._answers.keep(answer, weight)

    # ---- tables, for values -------------------------------------------------------------------------------------------

    def give(self, value: object) -> Slot | None:
        return self._giving.give(value)

    def take(self, kind: str, number: int) -> object:
        if kind == "object":
            return self._imports.object(number)
        if kind == "promise":
            return self._imports.promise(number)
        if kind == "yours":
            known = self._giving.get(number)
            if known is None:
                raise Violation("a value names what was never offered, or was given back")
            return Promise(known.value) if isinstance(known.value, Vow) else known.value
        value, weight = self._answers.take(number)
        self._hearing.decoder.weight += weight
        return value

    def fault(self, error: BaseException) -> str:
        noted = os.urandom(6).hex()
        if self._observe is not None:
            self._observe(noted, error)
        else:
            log.error("error %s", noted, exc_info=error)
        return noted

    # ---- what is given back -------------------------------------------------------------------------------------------

    def give_back(self) -> None:
        self._waiting.give_back()

    def _give_back(self, number: int, mentions: int) -> None:
        self._line.keeps(-IMPORT)
        # The bootstrap is the peer's for good.
        if number == 0:
            return
        self._speech.drop(number, mentions)
        self._line.forget_soon()

    @entry
    def _collect(self) -> None:
        self._noticed = False
        while self._dead:
            number = self._dead.popleft()
            mentions = self._imports.collect(number)
            if mentions > 0 and self._line.closed is None and number != 0:
                self._give_back(number, mentions)

    # ---- the end ------------------------------------------------------------------------------------------------------

    def ended_with(self, why: CapError) -> None:
        # What breaks runs code of others: not before all is empty. Each step is taken, also where one before it fails.
        break_some: Callable[[CapError], None] | None = None
        try:
            break_some = self._waiting.clear()
        except Exception as error:
            self.faulted(error)
        for step in (self._answers.clear, self._giving.clear, self._readers.end):
            try:
                step()
            except Exception as error:
                self.faulted(error)
        if break_some is not None:
            break_some(why)


def _noticing(session: weakref.ref[Connection], loop: asyncio.AbstractEventLoop) -> Callable[[int], None]:
    """For the garbage collector, which may call in any thread at any moment: takes note, and looks at it in the loop."""

    def collected(number: int) -> None:
        self = session()
        if self is None:
            return
        self._dead.append(number)
        if not self._noticed:
            self._noticed = True
            try:
                loop.call_soon_threadsafe(self._collect)
            except RuntimeError:
                pass  # the loop is closed, and the connection with it

    return collected
