"""What the peer is given in what we say, objects and promises of ours, and what it is told of the promises afterwards.

Promise: what cannot be said was not given. What became of a promise that was given is told once for as long as the peer knows it. A promise
that goes on to be the peer's own is told of at once, or two promises could wait for each other for ever.
"""

from __future__ import annotations

import weakref
from typing import Literal

from ..errors import CapError
from ..reference import Promise
from ..vow import Target, Vow, target_of, vow_of
from .exports import Export, Exports
from .fence import entry
from .limits import EXPORT, PROMISE
from .line import Line
from .readers import Readers
from .remote import Exit, Import, Remote
from .values import Slot


class Giving:
    def __init__(self, line: Line, exit_: Exit, readers: Readers) -> None:
        self._line = line
        self._exit = exit_
        self._readers = readers
        self._exports = Exports(line.limits.exports)
        # Mentioned by the operation that is being said.
        self._mentioned: list[Export] = []
        # Promises that it waits for, to tell the peer.
        self._watching: weakref.WeakSet[Vow] = weakref.WeakSet()

    def __len__(self) -> int:
        return len(self._exports)

    @property
    def pending(self) -> int:
        """Promises that the peer was not told of yet."""
        return self._exports.pending

    def bootstrap(self, value: object, target: Target) -> None:
        """Number 0: given before anything is said."""
        self._exports.bootstrap(value, target)

    def get(self, number: int) -> Export | None:
        """What the peer knows by this number."""
        return self._exports.get(number)

    def clear(self) -> None:
        self._exports.clear()

    # ---- given, and given back ----------------------------------------------------------------------------------------

    def give(self, value: object) -> Slot | None:
        """How the operation that is being said names this; None where it is no reference. Raises `Limit`."""
        target: Target | None = target_of(value)
        if target is not None:
            if isinstance(target, Import) and target.exit is self._exit and not target.released:
                return "yours", target.number
            return self._mention("object", value, target)
        vow = vow_of(value)
        if vow is None:
            return None
        end = vow.end()
        path = end.path
        if isinstance(path, Remote) and path.exit is self._exit:
            return ("answer" if path.asks else "yours"), path.number
        return self._mention("promise", end, end)

    def _mention(self, kind: Literal["object", "promise"], value: object, target: Target) -> Slot:
        known, made = self._exports.mention(value, target)
        if made:
            self._line.keeps(PROMISE if kind == "promise" else EXPORT)
            if kind == "object":
                self._readers.gave(value, target)
        self._mentioned.append(known)
        return kind, known.number

    def said(self) -> None:
        """What was mentioned is known to the peer, or will be."""
        if self._mentioned:
            mentioned, self._mentioned = self._mentioned, []
            for known in mentioned:
                if isinstance(known.value, Vow) and not known.watched:
                    self._watch(known, known.value)
        self._line.said()

    def unsaid(self) -> None:
        """It was mentioned in what will not be said."""
        mentioned, self._mentioned = self._mentioned, []
        for known in mentioned:
            if self._exports.drop(known.number, 1):
                self._gone(known)

    def drop(self, number: int, mentions: int) -> None:
        """The peer has forgotten so many mentions."""
        known = self._exports.get(number)
        if known is None or number == 0 or mentions == 0:
            return
        if self._exports.drop(number, mentions):
            self._gone(known)
        elif known.told and isinstance(known.value, Vow):
            # The mentions that crossed with this are, for the peer, of a promise that it knows nothing of.
            known.told = False
            self._watch(known, known.value)

    def _gone(self, known: Export) -> None:
        self._readers.dropped(known.target)
        self._line.keeps(-(PROMISE if isinstance(known.value, Vow) else EXPORT))

    # ---- told of its promises -----------------------------------------------------------------------------------------

    def _watch(self, known: Export, vow: Vow) -> None:
        """Once for each promise: dropped and mentioned again, it would be waited for once more each time."""
        known.watched = True
        again = vow in self._watching
        # A promise that never settles must not keep a connection that is over.
        here = weakref.ref(self)

        def shortened() -> None:
            if (self := here()) is not None:
                self._tell_shortened(vow)

        def fulfilled(value: object) -> None:
            if (self := here()) is not None:
                self._tell(vow, value, None)

        def broken(error: BaseException) -> None:
            if (self := here()) is not None:
                self._tell(vow, None, error)

        if not again or vow.path is not None:
            vow.watch_shortening(shortened)
        if not again:
            self._watching.add(vow)
            vow.watch(fulfilled, broken)

    def faulted(self, error: Exception) -> None:
        self._exit.faulted(error)

    @entry
    def _tell_shortened(self, vow: Vow) -> None:
        """It has become a promise that a peer decides: where that is this one it is told at once, for it may be waiting for ours."""
        known = self._exports.of(vow)
        path = vow.path
        if known is None or known.told or self._line.closed is not None:
            return
        if not isinstance(path, Remote) or path.exit is not self._exit:
            return
        known.told = True
        self._line.speech.resolve(known.number, Promise(vow))
        self.said()

    @entry
    def _tell(self, vow: Vow, value: object, error: BaseException | None) -> None:
        self._watching.discard(vow)
        known = self._exports.of(vow)
        if known is None or known.told or self._line.closed is not None:
            return
        known.told = True
        speech = self._line.speech
        if error is None:
            try:
                speech.resolve(known.number, value)
            except (CapError, ValueError, RecursionError) as why:
                self.unsaid()
                error = why
        if error is not None:
            speech.break_(known.number, error)
        self.said()
