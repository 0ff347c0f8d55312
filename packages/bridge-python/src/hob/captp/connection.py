"""One end of a CapTP connection over something that carries frames (docs/wire.md).

Promise: every call is answered, or the connection closes. Messages reach the value of a promise in the order
in which they were sent, also if the value is an object of the sender. All memory that a peer makes us keep is
counted. When the connection ends, everything that came by it breaks with `disconnected`.

This file passes calls and answers between the parts: `Outbound` (frames, memory, the end), `Answers`
(questions of the peer), `Questions` (ours), `Exports` and `ImportTable`.
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
from ..message import FLUSH, LONGEST_METHOD, Message, Target, is_method, no_method, target_of
from ..reference import Promise, Ref
from ..vat_promise import VatPromise
from .answer import FORGOTTEN, Answer
from .answers import Answers
from .dialect import DialectSession, Frame
from .encode import Slot
from .exports import Exports
from .fence import entry
from .flush import flush
from .import_table import ImportTable
from .imports import Import, Remote
from .limits import IMPORT, Account, Limits
from .outbound import Link, Outbound
from .questions import Questions
from .streams import OF_STREAMS, Streams

log: Final = logging.getLogger("hob")


@dataclass(frozen=True, slots=True)
class Stats:
    """The sizes of the tables of a connection. All are 0 after its end."""

    questions: int
    answers: int
    imports: int
    exports: int
    promises: int
    bytes: int


class Connection:
    """One end. The transport calls `receive` and `lost`, the program everything else. All calls come in the
    thread of its loop."""

    def __init__(
        self,
        link: Link,
        *,
        bootstrap: object = None,
        limits: Limits | None = None,
        observe: Callable[[str, BaseException], None] | None = None,
        account: Account | None = None,
    ) -> None:
        limits = limits or Limits()
        offered = None if bootstrap is None else target_of(bootstrap)
        if bootstrap is not None and offered is None:
            raise Invalid("a bootstrap is a far object or a reference: hob.far(…)")
        self._thread = threading.get_ident()
        self._observe = observe
        self._dialect_session = DialectSession(self, self, limits, link.send)
        self.account: Final = account or Account()
        """Pass it to the next connection of the same session."""
        self._outbound = Outbound(link, limits, self.account, self._dialect_session, self)
        self._streams = Streams(offered)
        collected = _collector(weakref.ref(self), self._outbound.loop)
        self._imports = ImportTable(self, limits.exports, self._outbound.add_bytes, collected)
        self._answers = Answers(self._outbound, self)
        self._exports = Exports(self._outbound, self, self._streams)
        self._questions = Questions(self._outbound, self, self._imports)
        # Numbers of imports that the garbage collector has collected.
        self._dead: deque[int] = deque()
        self._collecting = False
        if offered is not None:
            self._exports.bootstrap(bootstrap, offered)
        self.bootstrap: Final = self._imports.object(0)
        """The bootstrap of the peer: its export 0."""

    # ---- for the program -----------------------------------------------------------------------------------

    def stats(self) -> Stats:
        """Returns the sizes of its tables and the bytes that they take."""
        return Stats(
            len(self._questions),
            len(self._answers),
            len(self._imports),
            len(self._exports),
            self._imports.pending + self._exports.pending,
            self._outbound.bytes,
        )

    @property
    def closed(self) -> CapError | None:
        """Set when the connection is closed. Every new message breaks with this error."""
        return self._outbound.closed

    async def ended(self) -> tuple[int, str]:
        """Waits for the end. Returns its code and reason (docs/wire.md)."""
        return await asyncio.shield(self._outbound.over)

    @entry
    def release(self, ref: Ref) -> None:
        """Drops a reference now, before the garbage collector collects it."""
        target = ref._target
        if not isinstance(target, Import) or target.connection is not self:
            return
        mentions = self._imports.release(target, ref)
        if mentions > 0 and self._outbound.closed is None:
            self._give_back(target.slot[1], mentions)

    def close(self, reason: str = "done", code: int = 1000) -> None:
        """Closes the connection. Everything that waits breaks with `disconnected`, on both sides."""
        self._outbound.close(code, reason)

    # ---- for the transport ---------------------------------------------------------------------------------

    @entry
    def receive(self, frame: Frame) -> None:
        """Takes one frame of the peer."""
        outbound = self._outbound
        if outbound.closed is not None or outbound.closes_if_flooded() or outbound.closes_if_overspent():
            return
        self._answers.begin()
        self._imports.begin()
        self._dialect_session.receive(frame)
        outbound.closes_if_overspent()

    def faulted(self, error: Exception) -> None:
        """Closes the connection. A `Violation` has its own code and reason. Any other error is a fault of this end:
        it is recorded, and the code is 1011."""
        if isinstance(error, Violation):
            return self._outbound.close(error.code, error.reason)
        # A fault of ours, which this peer may be able to cause at will. It must cost the program no more than
        # this connection.
        self._outbound.close(1011, f"a fault of this end (error {self.fault(error)})")

    def lost(self, code: int, reason: str) -> None:
        """The transport has closed."""
        self._outbound.end(code, reason)

    # ---- incoming ------------------------------------------------------------------------------------------

    def deliver(self, to: Slot, method: str, args: list[object] | CapError, question: int, weight: int) -> None:
        """Runs a call of the peer on the export or the answer that `to` names. `question` 0 wants no answer.
        `weight` is the memory of the call in bytes. Raises `Violation` if the question number is used twice or
        `to` names nothing that the peer can know. A call that is refused for another reason breaks its answer."""
        kind, number = to
        asked = kind == "answer"
        if asked and question != 0 and number >= question:
            raise Violation("a call names a question that was never asked")
        answer = self._answers.ask(question, weight)
        target = self._answers.get(number) if asked else self._exported(number)
        if target is None:
            return answer.break_(self._nothing(number, asked=asked))
        if self._answers.unanswered > self._outbound.limits.questions:
            return answer.break_(Limit("too many calls are unanswered on this connection: wait for answers"))
        if isinstance(args, CapError):
            return answer.break_(args)
        if len(method) > LONGEST_METHOD or not is_method(method):
            return answer.break_(no_method(method))
        if method == FLUSH:
            behind = target.target() if isinstance(target, Answer) else target
            return answer.fulfil(undefined) if behind is None else flush(behind, answer)
        message = Message(method, args, answer)
        if method in OF_STREAMS:
            answer.of_stream = message
            self._streams.asked(message)
        target.post(message)

    def _exported(self, number: int) -> Target | None:
        known = self._exports.get(number)
        return None if known is None else known.target

    def _nothing(self, number: int, *, asked: bool) -> CapError:
        if asked:
            if self._answers.was_asked(number):
                return FORGOTTEN
            raise Violation("a call names a question that was never asked")
        if number == 0:
            return NoSuchObject("this peer offers no bootstrap object")
        raise Violation("a call names an object that was never exported, or was released")

    def answer(self, question: int, value: object) -> None:
        """Settles our question with the value that the peer returned. Raises `Violation` if it was not asked."""
        self._questions.answer(question, value)

    def refuse(self, question: int, error: CapError) -> None:
        """Breaks our question with the error of the peer. Raises `Violation` if it was not asked."""
        self._questions.refuse(question, error)

    def resolve(self, promise: int, value: object) -> None:
        """Settles a promise of the peer. A number that names no pending promise changes nothing."""
        self._questions.resolve(promise, value)

    def break_(self, promise: int, error: CapError) -> None:
        """Breaks a promise of the peer. A number that names no pending promise changes nothing."""
        self._questions.break_(promise, error)

    def done(self, question: int) -> None:
        """Forgets our answer to a question: the peer does not refer to it again."""
        self._answers.done(question)

    def drop(self, number: int, mentions: int) -> None:
        """Subtracts mentions of an export. An export without mentions is removed."""
        self._exports.drop(number, mentions)

    # ---- outgoing ------------------------------------------------------------------------------------------

    def call(self, through: Remote, message: Message) -> None:
        """Sends a message to the peer by way of `through`. If it cannot be sent, its answer breaks: the connection
        is closed, the socket is full (`Limit`), or an argument cannot be encoded. Raises `RuntimeError` in
        another thread than that of the loop."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("this reference belongs to the loop of another thread: use hob.sync")
        outbound = self._outbound
        if outbound.closed is not None:
            return message.fail(outbound.closed)
        if through.redirect(message):
            return
        answer = message.answer
        if outbound.full:
            slow = "the peer reads more slowly than you send: wait for answers before you send more"
            return message.fail(Limit(slow))
        # If a call of one peer is forwarded to another, it asks for an answer there only if the first peer
        # did.
        unasked = answer is None or (type(answer) is Answer and answer.question == 0)
        question = 0 if unasked else self._questions.next_question
        try:
            self._dialect_session.deliver(through.slot, message.method, message.args, question)
        except (CapError, ValueError, RecursionError) as error:
            self._exports.rollback_exports()
            return message.fail(error)
        self._exports.commit_exports()
        if answer is None:
            return
        if unasked:
            answer.fulfil(undefined)
        else:
            self._questions.asked(question, answer)

    @entry
    def answered(self, answer: Answer, value: object) -> BaseException | None:
        """Sends the value of a call, if the peer still wants it. If the value cannot be encoded, sends the error
        instead and returns it."""
        of_stream, answer.of_stream = answer.of_stream, None
        if of_stream is not None:
            self._streams.answered(of_stream, value)
        if not self._answers.ended(answer):
            if self._outbound.closed is not None:
                self._streams.late_answer(value)
            return None
        why: BaseException | None = None
        try:
            weight = self._dialect_session.answer(answer.question, value)
        except (CapError, ValueError, RecursionError) as error:
            self._exports.rollback_exports()
            why = error
            weight = self._dialect_session.refuse(answer.question, error)
        self._sent(answer, weight)
        return why

    @entry
    def refused(self, answer: Answer, error: BaseException) -> None:
        """Sends the error of a call, if the peer still wants it. If the call wanted no answer, an error that is
        no `CapError` is recorded here."""
        of_stream, answer.of_stream = answer.of_stream, None
        if of_stream is not None:
            self._streams.refused(of_stream)
        if not self._answers.ended(answer):
            # Nobody wants the answer of this call, so its failure is recorded here.
            if answer.question == 0 and not isinstance(error, CapError):
                self.fault(error)
            return
        self._sent(answer, self._dialect_session.refuse(answer.question, error))

    def _sent(self, answer: Answer, weight: int) -> None:
        self._exports.commit_exports()
        self._answers.keep(answer, weight)
        self._outbound.answered()

    # ---- tables, used by the dialect -----------------------------------------------------------------------

    def give(self, value: object) -> Slot | None:
        """Returns the slot of a reference, a far object or a promise, and None for data. Raises `Limit`."""
        return self._exports.give(value)

    def take(self, kind: str, number: int) -> tuple[object, int]:
        """Returns the value that a slot of the peer stands for, and the bytes of a copy made for it. Raises
        `Violation` or `Limit`."""
        if kind == "object":
            return self._imports.object(number), 0
        if kind == "promise":
            return self._imports.promise(number), 0
        if kind == "yours":
            known = self._exports.get(number)
            if known is None:
                raise Violation("a value names an object that was never exported, or was released")
            return Promise(known.value) if isinstance(known.value, VatPromise) else known.value, 0
        return self._answers.take(number)

    def fault(self, error: BaseException) -> str:
        """Records an error with `observe`, or else in the logger `hob`. Returns its id, 12 hexadecimal digits."""
        noted = os.urandom(6).hex()
        if self._observe is not None:
            self._observe(noted, error)
        else:
            log.error("error %s", noted, exc_info=error)
        return noted

    # ---- drops ---------------------------------------------------------------------------------------------

    def give_back(self) -> None:
        """Drops the settled promises of the peer. The drops leave at the next flush."""
        self._questions.give_back()

    def _give_back(self, number: int, mentions: int) -> None:
        self._outbound.add_bytes(-IMPORT)
        # The bootstrap is never given back.
        if number == 0:
            return
        self._dialect_session.drop(number, mentions)
        self._outbound.forget_soon()

    @entry
    def _collect(self) -> None:
        self._collecting = False
        while self._dead:
            number = self._dead.popleft()
            mentions = self._imports.collect(number)
            if mentions > 0 and self._outbound.closed is None and number != 0:
                self._give_back(number, mentions)

    # ---- closing -------------------------------------------------------------------------------------------

    def ended_with(self, why: CapError) -> None:
        """Empties the tables, cancels the calls of the peer that want an answer, ends its streams, and breaks
        everything that waits with `why`."""
        # Breaking promises runs code of others, so all tables are emptied first. Each step runs even if an
        # earlier one fails.
        break_some: Callable[[CapError], None] | None = None
        try:
            break_some = self._questions.clear()
        except Exception as error:
            self.faulted(error)
        for step in (self._answers.clear, self._exports.clear, self._streams.end):
            try:
                step()
            except Exception as error:
                self.faulted(error)
        if break_some is not None:
            break_some(why)


def _collector(connection: weakref.ref[Connection], loop: asyncio.AbstractEventLoop) -> Callable[[int], None]:
    """Returns a function for the garbage collector, which may call it in any thread at any moment. It takes a
    note, and the loop reads the note later."""

    def collected(number: int) -> None:
        self = connection()
        if self is None:
            return
        self._dead.append(number)
        if not self._collecting:
            self._collecting = True
            try:
                loop.call_soon_threadsafe(self._collect)
            except RuntimeError:
                pass  # the loop is closed, and the connection with it

    return collected
