"""CapTP over something that carries frames: two tables of what each side has given the other, two of questions and answers, and the rules
between them (docs/wire.md).

Promise: a call is answered, or the connection closes. Messages reach what a promise becomes in the order in which they were sent, also when
that turns out to be an object of the sender's own. All that a peer makes us keep is counted. When the connection ends, everything that
came by it breaks with `disconnected`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from .answers import FORGOTTEN, PeersQuestion
from .data import undefined
from .errors import CapError, Disconnected, Invalid, Limit, NoSuchObject, Violation, inward
from .exports import Export, Exports
from .flush import Arrival, flush
from .limits import ANSWER, CALL, EXPORT, OPERATIONS, PROMISE, QUESTION, Limits
from .reference import E, Promise, Ref, is_method
from .remote import Import, ImportedPromise, Imports, Question, Remote
from .structure import parse
from .values import Decoder, Incoming, Outgoing, Slot, is_id, is_question, outward, too_large
from .vow import FLUSH, LONGEST_METHOD, Answer, Message, Target, Vow, no_method, target_of, vow_of

Frame = str | bytes
log: Final = logging.getLogger("hob")

FULL: Final = 64 << 10
"""A frame with this much in it leaves without waiting for the end of the turn."""
BINARY: Final = 1 << 20
UNREAD: Final = "the peer does not read what it asked for"


class Link(Protocol):
    """The transport."""

    def send(self, frame: Frame, /) -> None: ...
    def buffered(self) -> int:
        """Bytes accepted and not yet handed to the system."""
        ...

    def close(self, code: int, reason: str, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Stats:
    """What a connection holds. All 0 when it is over."""

    questions: int
    answers: int
    imports: int
    exports: int
    promises: int
    bytes: int


_dumps: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode
_escaped: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False, check_circular=False).encode


def dumps(value: object) -> str:
    text = _dumps(value)
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        # Half a pair of surrogates has no UTF-8: it goes escaped.
        text = _escaped(value)
    return text


def disconnected() -> Disconnected:
    return Disconnected("the connection is closed: connect again, and look at what happened before you repeat a call")


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
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._link = link
        self._limits = limits = limits or Limits()
        self._observe = observe
        self._bytes = 0
        self._exports = Exports(limits.exports)
        self._imports = Imports(self, limits.exports, self._keeps, _noticing(weakref.ref(self), self._loop))
        self._questions: dict[int, Question] = {}
        self._answers: dict[int, PeersQuestion] = {}
        self._working: set[PeersQuestion] = set()
        self._incoming = Incoming(limits)
        self._decoder = Decoder(self, limits, self._incoming)
        self._why: CapError | None = None
        self._ended: asyncio.Future[tuple[int, str]] = self._loop.create_future()
        self._last_question = 0
        self._last_heard = 0
        self._unanswered = 0
        # What is said in this turn.
        self._said: list[str] = []
        self._length = 0
        self._flushing = False
        # What is forgotten, and not said yet.
        self._done: list[int] = []
        self._drops: list[int] = []
        self._over: list[ImportedPromise] = []
        self._forgetting = False
        self._dead: deque[int] = deque()
        self._noticed = False
        # Exports that the operation mentions which is being said.
        self._mentioned: list[Export] = []
        self._watching: set[int] = set()
        if bootstrap is not None:
            target = target_of(bootstrap)
            if target is None:
                raise Invalid("a bootstrap is a far object or a reference: hob.far(…)")
            self._exports.bootstrap(bootstrap, target)
        self.bootstrap: Final = self._imports.object(0)
        """What the peer offers from the beginning."""

    # ---- for the program ----------------------------------------------------------------------------------------------

    def stats(self) -> Stats:
        return Stats(
            len(self._questions),
            len(self._answers),
            len(self._imports),
            len(self._exports),
            self._imports.pending + self._exports.pending,
            self._bytes + self._incoming.kept,
        )

    def closed(self) -> CapError | None:
        return self._why

    async def ended(self) -> tuple[int, str]:
        """Waits for the end; its code and reason (docs/wire.md)."""
        return await asyncio.shield(self._ended)

    def release(self, ref: Ref) -> None:
        """Says now that a reference is no longer needed, rather than waiting for the garbage collector."""
        target = ref._target
        if not isinstance(target, Import) or target.exit is not self:
            return
        mentions = self._imports.release(target, ref)
        if mentions > 0 and self._why is None:
            self._give_back(target.number, mentions)

    def close(self, reason: str = "done", code: int = 1000) -> None:
        """Breaks what waits with `disconnected`, on both sides."""
        if self._why is not None:
            return
        self._forget()
        self._leave()
        self._end(code, reason)
        self._link.close(code, reason)

    # ---- for the transport --------------------------------------------------------------------------------------------

    def hear(self, frame: Frame) -> None:
        if self._why is not None:
            return
        if self._floods():
            return self.close(UNREAD, 4400)
        try:
            if isinstance(frame, str):
                self._hear(frame)
            else:
                self._incoming.add(frame)
        except Violation as error:
            return self.close(error.reason, error.code)
        except Exception as error:
            # A fault of ours that this peer can bring about at will: it must not cost the program more than the connection.
            return self.close(f"a fault of this end (error {self.fault(error)})", 1011)
        self._in_budget()

    def lost(self, code: int, reason: str) -> None:
        """The transport is gone."""
        if self._why is None:
            self._end(code, reason)

    # ---- what arrives -------------------------------------------------------------------------------------------------

    def _hear(self, text: str) -> None:
        operations = parse(text, self._limits)
        if not isinstance(operations, list) or not operations:
            raise Violation("a frame is a list of operations")
        if len(operations) > OPERATIONS:
            raise Violation(f"a frame may have {OPERATIONS} operations: send several")
        self._decoder.begin()
        for operation in operations:
            if self._why is not None:
                return
            self._operation(operation)
        self._incoming.done()

    def _operation(self, operation: object) -> None:
        if not isinstance(operation, list) or not operation:
            raise Violation("an operation is a list")
        name, length = operation[0], len(operation)
        if name == "deliver":
            if (length == 4 or (length == 5 and is_question(operation[4]))) and type(operation[2]) is str:
                to, args = operation[1], operation[3]
                if isinstance(to, list):
                    fits = len(to) == 1 and is_question(to[0])
                else:
                    fits = is_id(to)
                if fits and isinstance(args, list):
                    return self._deliver(to, operation[2], args, operation[4] if length == 5 else 0)
        elif name == "return":
            if length == 3 and is_question(operation[1]):
                return self._return(operation[1], *self._value(operation[2]))
        elif name == "fail":
            if length == 4 and is_id(operation[1]) and type(operation[2]) is str and type(operation[3]) is str:
                question = self._settled(operation[1])
                self._finish(question)
                return question.answer.break_(inward(operation[2], operation[3]))
        elif name == "resolve":
            if length == 3 and is_id(operation[1]):
                return self._resolve(operation[1], *self._value(operation[2]))
        elif name == "break":
            if length == 4 and is_id(operation[1]) and type(operation[2]) is str and type(operation[3]) is str:
                return self._break(operation[1], inward(operation[2], operation[3]))
        elif name == "done":
            if length >= 2 and all(map(is_question, operation[1:])):
                for number in operation[1:]:
                    self._peer_is_done(number)
                return
        elif name == "drop":
            if length >= 3 and length % 2 == 1 and all(map(is_id, operation[1:])):
                for at in range(1, length, 2):
                    self._peer_drops(operation[at], operation[at + 1])
                return
        else:
            raise Violation("an unknown operation")
        raise Violation(f'malformed "{name}"')

    def _value(self, json_: object) -> tuple[object, CapError | None]:
        try:
            return self._decoder.value(json_), None
        except CapError as error:
            self._incoming.excuse()
            return None, error

    def _deliver(self, to: Any, method: str, json_args: list[object], number: int) -> None:
        decoder = self._decoder
        decoder.weight = 0
        before = self._incoming.taken
        refused: CapError | None = None
        args: list[object] = []
        try:
            args = [decoder.value(item) for item in json_args]
        except CapError as error:
            self._incoming.excuse()
            refused = error
        pipelined = isinstance(to, list)
        if pipelined and number != 0 and to[0] >= number:
            raise Violation("a call names what was never asked")
        answer = self._ask(number, len(method) + decoder.weight + self._incoming.taken - before)
        target: PeersQuestion | Target
        if pipelined:
            asked = self._answers.get(to[0])
            if asked is None:
                if to[0] > self._last_heard:
                    raise Violation("a call names what was never asked")
                return answer.break_(FORGOTTEN)
            target = asked
        else:
            known = self._exports.get(to)
            if known is None:
                if to != 0:
                    raise Violation("a call names what was never offered, or was given back")
                return answer.break_(NoSuchObject("this end offers no bootstrap"))
            target = known.target
        if self._unanswered > self._limits.questions:
            return answer.break_(Limit("too many calls are unanswered on this connection: wait for answers"))
        if refused is not None:
            return answer.break_(refused)
        if len(method) > LONGEST_METHOD or not is_method(method):
            return answer.break_(no_method(method))
        if method == FLUSH:
            behind = target.target() if isinstance(target, PeersQuestion) else target
            return answer.fulfil(undefined) if behind is None else flush(behind, answer)
        target.post(Message(method, args, answer if number != 0 else _Unasked(self, answer)))

    def _ask(self, number: int, weight: int) -> PeersQuestion:
        """The entry of a question that was just asked."""
        if number != 0:
            # Rising numbers: none is used twice, also after it is forgotten.
            if number <= self._last_heard:
                raise Violation("asks the same question twice: number questions upwards")
            self._last_heard = number
        answer = PeersQuestion(self, number, CALL + weight)
        if number != 0:
            self._answers[number] = answer
        self._working.add(answer)
        self._unanswered += 1
        self._keeps(answer.weight)
        return answer

    def _return(self, number: int, value: object, refused: CapError | None) -> None:
        question = self._settled(number)
        if refused is not None:
            self._finish(question)
            return question.answer.break_(refused)
        if question.sent > 0 and self._is_ours(value):
            hold = getattr(question.answer, "hold", None)
            if hold is not None:
                hold()

            def arrived() -> None:
                self._finish(question)
                if self._why is None:
                    question.answer.fulfil(value)
                else:
                    question.answer.break_(self._why)

            return question.post(Message(FLUSH, [], Arrival(arrived)))
        self._finish(question)
        question.answer.fulfil(value)

    def _settled(self, number: int) -> Question:
        question = self._questions.get(number)
        if question is None or question.decided:
            raise Violation("answers a question that was not asked")
        question.decided = True
        return question

    def _finish(self, question: Question) -> None:
        question.over = True
        if self._questions.pop(question.number, None) is not None:
            self._keeps(-QUESTION)
        if self._why is None:
            self._done.append(question.number)
            self._forget_soon()

    def _resolve(self, number: int, value: object, refused: CapError | None) -> None:
        promise = self._imports.promised(number)
        # It may be gone already: messages cross. What came with it is ours all the same.
        if promise is None or promise.decided:
            return
        promise.decided = True
        if refused is not None:
            self._settle(promise)
            return promise.vow.break_(refused)
        if promise.sent > 0 and self._is_ours(value):
            promise.vow.hold()

            def arrived() -> None:
                self._settle(promise)
                if self._why is None:
                    promise.vow.fulfil(value)
                else:
                    promise.vow.break_(self._why)

            return promise.post(Message(FLUSH, [], Arrival(arrived)))
        self._settle(promise)
        promise.vow.fulfil(value)

    def _break(self, number: int, error: CapError) -> None:
        promise = self._imports.promised(number)
        if promise is None or promise.decided:
            return
        promise.decided = True
        self._settle(promise)
        promise.vow.break_(error)

    def _settle(self, promise: ImportedPromise) -> None:
        promise.over = True
        self._imports.settled(promise)
        if self._why is None:
            # Not at once: what it became may mention it.
            self._over.append(promise)
            self._forget_soon()

    def _is_ours(self, value: object) -> bool:
        """Whether messages to it would go another way than through the peer."""
        target: Target | None = target_of(value)
        if target is None:
            vow = vow_of(value)
            if vow is None:
                return False
            target = vow.path
        return not (isinstance(target, Remote) and target.exit is self)

    def _peer_drops(self, number: int, mentions: int) -> None:
        known = self._exports.get(number)
        if known is None or number == 0 or mentions == 0:
            return
        if self._exports.drop(number, mentions):
            self._gone(known)
        elif known.told and isinstance(known.value, Vow):
            # The mentions that crossed with this are, for the peer, of a promise that it knows nothing of.
            self._watch(known)

    def _gone(self, known: Export) -> None:
        self._keeps(-(PROMISE if isinstance(known.value, Vow) else EXPORT))

    def _peer_is_done(self, number: int) -> None:
        answer = self._answers.pop(number, None)
        if answer is None:
            return
        # One that still runs is paid for until it ends.
        if answer.told:
            self._keeps(-answer.weight)
        else:
            answer.told = True

    # ---- what leaves --------------------------------------------------------------------------------------------------

    def call(self, through: Remote, message: Message) -> None:
        if threading.get_ident() != self._thread:
            raise RuntimeError("this reference belongs to the loop of another thread: use hob.sync")
        if self._why is not None:
            return message.fail(self._why)
        if through.instead(message):
            return
        answer = message.answer
        if self._link.buffered() > self._limits.buffered_bytes:
            if answer is not None:
                slow = "the peer does not read as fast as this is sent: wait for answers before you send more"
                answer.break_(Limit(slow))
            return
        number = 0 if answer is None else self._last_question + 1
        to = [through.number] if through.asks else through.number
        try:
            out = Outgoing(self, self._limits)
            args = [out.encode(item) for item in message.args]
            operation: list[object] = ["deliver", to, message.method, args]
            if number:
                operation.append(number)
            self._say(dumps(operation), out)
        except (CapError, ValueError, RecursionError) as error:
            self._unsaid()
            if answer is not None:
                answer.break_(error)
            return
        self._was_said()
        if answer is None:
            return
        self._last_question = number
        question = Question(self, number, answer)
        self._questions[number] = question
        self._keeps(QUESTION)
        along = getattr(answer, "along", None)
        if along is not None:
            along(question)

    def answered(self, answer: PeersQuestion, value: object) -> BaseException | None:
        if not self._is_wanted(answer):
            return None
        why: BaseException | None = None
        try:
            out = Outgoing(self, self._limits)
            text = dumps(["return", answer.number, out.encode(value)])
            self._say(text, out)
            weight = ANSWER + 3 * len(text) + out.length
        except (CapError, ValueError, RecursionError) as error:
            self._unsaid()
            why = error
            weight = ANSWER + self._refuse(answer.number, error)
        self._was_said()
        self._keeps(weight - answer.weight)
        answer.weight = weight
        return why

    def refused(self, answer: PeersQuestion, error: BaseException) -> None:
        if not self._is_wanted(answer):
            return
        weight = ANSWER + self._refuse(answer.number, error)
        self._was_said()
        self._keeps(weight - answer.weight)
        answer.weight = weight

    def _refuse(self, number: int, error: BaseException) -> int:
        text = dumps(["fail", number, *outward(error, self)])
        self._add(text)
        return len(text)

    def _is_wanted(self, answer: PeersQuestion) -> bool:
        """It is answered; False where nobody is to be told."""
        self._unanswered -= 1
        self._working.discard(answer)
        wanted = answer.number != 0 and not answer.told and self._why is None
        answer.told = True
        if not wanted:
            self._keeps(-answer.weight)
        return wanted

    def _say(self, text: str, out: Outgoing) -> None:
        limits = self._limits
        if len(text) > limits.frame_bytes - 2 or (
            len(text) * 3 > limits.frame_bytes and len(text.encode()) > limits.frame_bytes - 2
        ):
            raise too_large()
        if out.length > limits.memory_bytes // 4:
            raise too_large()
        if len(text) > limits.tokens and sum(map(text.count, "[{,:")) > limits.tokens and _tokens(text) > limits.tokens:
            raise too_large()
        if out.length == 0:
            return self._add(text)
        # Where bytes lie is said by where they begin in what came before the frame: so it is a frame of its own.
        self._forget()
        self._leave()
        for part in out.parts:
            for at in range(0, len(part), BINARY):
                self._link.send(part[at : at + BINARY])
        self._link.send(f"[{text}]")

    def _add(self, text: str) -> None:
        # What is forgotten goes before what is said next: it was forgotten before.
        self._forget()
        if self._length > 0 and self._length + len(text) > FULL:
            self._leave()
        self._said.append(text)
        self._length += len(text) + 1
        if len(self._said) >= OPERATIONS:
            self._leave()

    def _forget(self) -> None:
        done, self._done = self._done, []
        drops, self._drops = self._drops, []
        for at in range(0, len(done), 1000):
            self._push(f'["done",{",".join(map(str, done[at : at + 1000]))}]')
        for at in range(0, len(drops), 1000):
            self._push(f'["drop",{",".join(map(str, drops[at : at + 1000]))}]')

    def _push(self, text: str) -> None:
        self._said.append(text)
        self._length += len(text) + 1
        if len(self._said) >= OPERATIONS - 1:
            self._leave()

    def _leave(self) -> None:
        if not self._said:
            return
        said, self._said = self._said, []
        self._length = 0
        self._link.send(f"[{','.join(said)}]")

    def _was_said(self) -> None:
        """What was mentioned is known to the peer, or will be."""
        if self._mentioned:
            mentioned, self._mentioned = self._mentioned, []
            for known in mentioned:
                if isinstance(known.value, Vow) and not known.watched:
                    self._watch(known)
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def _unsaid(self) -> None:
        """It was mentioned in what will not be said."""
        mentioned, self._mentioned = self._mentioned, []
        for known in mentioned:
            if self._exports.drop(known.number, 1):
                self._gone(known)

    def _watch(self, known: Export) -> None:
        """Once for each promise: dropped and mentioned again, it would be waited for once more each time."""
        known.watched = True
        vow = known.value
        assert isinstance(vow, Vow)
        if id(vow) in self._watching:
            return
        self._watching.add(id(vow))
        # A promise that never settles must not keep a connection that is over.
        self_ = weakref.ref(self)

        def tell(value: object, error: BaseException | None) -> None:
            session = self_()
            if session is not None:
                session._watching.discard(id(vow))
                session._tell(vow, value, error)

        vow.watch(lambda value: tell(value, None), lambda error: tell(None, error))

    def _tell(self, vow: Vow, value: object, error: BaseException | None) -> None:
        known = self._exports.of(vow)
        if known is None or self._why is not None:
            return
        known.told = True
        if error is None:
            try:
                out = Outgoing(self, self._limits)
                self._say(dumps(["resolve", known.number, out.encode(value)]), out)
            except (CapError, ValueError, RecursionError) as why:
                self._unsaid()
                error = why
        if error is not None:
            self._add(dumps(["break", known.number, *outward(error, self)]))
        self._was_said()

    def _flush(self) -> None:
        self._flushing = False
        if self._why is not None:
            return
        self._forget()
        self._leave()
        if self._floods():
            self.close(UNREAD, 4400)
        else:
            self._in_budget()

    def _forget_soon(self) -> None:
        """What is only forgotten need not go at once: it goes with the next frame, or when there is nothing else to do."""
        if not self._forgetting:
            self._forgetting = True
            self._loop.call_soon(self._forget_now, 2)

    def _forget_now(self, patience: int) -> None:
        if patience > 0 and self._why is None:
            # So that what this turn brings about goes in the same frame.
            self._loop.call_soon(self._forget_now, patience - 1)
            return
        self._forgetting = False
        over, self._over = self._over, []
        if self._why is not None:
            return
        for promise in over:
            mentions = self._imports.give_back(promise)
            if mentions > 0:
                self._drops += (promise.number, mentions)
        if not self._flushing:
            self._flush()

    def _floods(self) -> bool:
        """What the peer asked for, and does not take."""
        return self._link.buffered() > self._limits.buffered_bytes + self._limits.frame_bytes

    # ---- the end, and what is kept -------------------------------------------------------------------------------------

    def _end(self, code: int, reason: str) -> None:
        why = self._why = disconnected()
        questions, self._questions = list(self._questions.values()), {}
        promised = self._imports.clear()
        working, self._working = self._working, set()
        self._answers.clear()
        self._exports.clear()
        self._incoming.clear()
        self._bytes = 0
        for answer in working:
            # Whoever asked is gone: nobody needs what is still being done.
            answer.gone = True
            if answer.running is not None:
                answer.running.cancel()
        for question in questions:
            question.over = True
            question.answer.break_(why)
        for promise in promised:
            promise.over = True
            promise.vow.break_(why)
        if not self._ended.done():
            self._ended.set_result((code, reason))

    def _keeps(self, weight: int) -> None:
        if self._why is None:
            self._bytes += weight

    def _in_budget(self) -> None:
        if self._bytes + self._incoming.kept > self._limits.memory_bytes:
            self.close("this connection keeps more than it may: connect again", 4400)

    def fault(self, error: BaseException) -> str:
        noted = os.urandom(6).hex()
        if self._observe is not None:
            self._observe(noted, error)
        else:
            log.error("error %s", noted, exc_info=error)
        return noted

    # ---- tables, for values --------------------------------------------------------------------------------------------

    def give(self, value: object) -> Slot | None:
        target: Target | None = target_of(value)
        if target is not None:
            if isinstance(target, Import) and target.exit is self and not target.released:
                return "yours", target.number
            return self._mention("object", value, target)
        vow = vow_of(value)
        if vow is None:
            return None
        end = vow.end()
        path = end.path
        if isinstance(path, Remote) and path.exit is self:
            return ("answer" if path.asks else "yours"), path.number
        return self._mention("promise", end, end)

    def _mention(self, kind: Any, value: object, target: Target) -> Slot:
        known, made = self._exports.mention(value, target)
        if made:
            self._keeps(PROMISE if kind == "promise" else EXPORT)
        self._mentioned.append(known)
        return kind, known.number

    def take(self, kind: str, number: int) -> object:
        if kind == "object":
            return self._imports.object(number)
        if kind == "promise":
            return self._imports.promise(number)
        if kind == "yours":
            known = self._exports.get(number)
            if known is None:
                raise Violation("a value names what was never offered, or was given back")
            return Promise(known.value) if isinstance(known.value, Vow) else known.value
        answer = self._answers.get(number)
        if answer is None:
            raise Violation("a value names a question that was not asked, or is done")
        self._decoder.weight += answer.weight
        if self._decoder.weight > self._limits.memory_bytes // 4:
            raise Limit("too much of answers in the arguments of one call: send less at a time")
        return answer.as_value()

    def _give_back(self, number: int, mentions: int) -> None:
        from .limits import IMPORT

        self._keeps(-IMPORT)
        self._drops += (number, mentions)
        self._forget_soon()

    def _collect(self) -> None:
        self._noticed = False
        while self._dead:
            number = self._dead.popleft()
            mentions = self._imports.collect(number)
            if mentions > 0 and self._why is None and number != 0:
                self._give_back(number, mentions)


class _Unasked:
    """Of a call whose answer nobody wants: what fails in it is this program's business."""

    __slots__ = ("_answer", "_session")

    def __init__(self, session: Connection, answer: PeersQuestion) -> None:
        self._session = session
        self._answer = answer

    def fulfil(self, value: object) -> None:
        self._answer.fulfil(value)

    def break_(self, error: BaseException) -> None:
        if not isinstance(error, CapError):
            self._session.fault(error)
        self._answer.break_(error)


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


def _tokens(text: str) -> int:
    from .structure import _STRING

    bare = _STRING.sub("", text)
    return sum(map(bare.count, "[{,:"))


__all__ = ["Answer", "Connection", "E", "Frame", "Link", "Stats"]
