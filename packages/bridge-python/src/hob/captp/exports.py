"""References and promises that we export to the peer, and the resolutions that we send for the promises.

Promise: if an operation could not be sent, its exports are undone. The resolution of a promise is sent once
for as long as the peer knows the promise. If an exported promise becomes a promise of the peer, the peer is
told at once. Otherwise two promises could wait for each other for ever.
"""

from __future__ import annotations

import weakref
from typing import Literal

from ..errors import CapError
from ..message import Target, target_of
from ..reference import Promise
from ..vat_promise import VatPromise, vat_promise_of
from .encode import Slot
from .export_table import Export, ExportTable
from .fence import entry
from .imports import Import, PeerConnection, Remote
from .limits import EXPORT, PROMISE
from .outbound import Outbound
from .streams import Streams


class Exports:
    """The exports of one connection, those of the operation that is being encoded, and the promises that it
    waits for."""

    def __init__(self, outbound: Outbound, connection: PeerConnection, streams: Streams) -> None:
        self._outbound = outbound
        self._connection = connection
        self._streams = streams
        self._table = ExportTable(outbound.limits.exports)
        self.bootstrap = self._table.bootstrap
        self.get = self._table.get
        self.clear = self._table.clear
        # Exports mentioned by the operation that is being encoded.
        self._mentioned: list[Export] = []
        # Promises that the connection waits for, to tell the peer.
        self._watching: weakref.WeakSet[VatPromise] = weakref.WeakSet()

    def __len__(self) -> int:
        return len(self._table)

    @property
    def pending(self) -> int:
        """Promises whose resolution the peer was not told."""
        return self._table.pending

    # ---- exports and drops ---------------------------------------------------------------------------------

    def give(self, value: object) -> Slot | None:
        """Returns the slot of a value in the operation that is being encoded; None for data. Raises `Limit`."""
        target: Target | None = target_of(value)
        if target is not None:
            if isinstance(target, Import) and target.connection is self._connection and not target.released:
                return target.slot
            return self._mention("object", value, target)
        promise = vat_promise_of(value)
        if promise is None:
            return None
        end = promise.end()
        path = end.path
        if isinstance(path, Remote) and path.connection is self._connection:
            return path.slot
        return self._mention("promise", end, end)

    def _mention(self, kind: Literal["object", "promise"], value: object, target: Target) -> Slot:
        known, made = self._table.mention(value, target)
        if made:
            self._outbound.add_bytes(PROMISE if kind == "promise" else EXPORT)
            if kind == "object":
                self._streams.exported(value, target)
        self._mentioned.append(known)
        return kind, known.number

    def commit_exports(self) -> None:
        """The operation was encoded and will be sent, so its exports stay."""
        if self._mentioned:
            mentioned, self._mentioned = self._mentioned, []
            for known in mentioned:
                if isinstance(known.value, VatPromise) and not known.watched:
                    self._watch(known, known.value)
        self._outbound.schedule_flush()

    def rollback_exports(self) -> None:
        """The operation will not be sent, so its exports are undone."""
        mentioned, self._mentioned = self._mentioned, []
        for known in mentioned:
            if self._table.drop(known.number, 1):
                self._removed(known)

    def drop(self, number: int, mentions: int) -> None:
        """The peer dropped this many mentions."""
        known = self._table.get(number)
        if known is None or number == 0 or mentions == 0:
            return
        if self._table.drop(number, mentions):
            self._removed(known)
        elif known.told and isinstance(known.value, VatPromise):
            # Mentions that crossed with this drop are a new promise for the peer, so it has to be told again.
            known.told = False
            self._watch(known, known.value)

    def _removed(self, known: Export) -> None:
        self._streams.dropped(known.target)
        self._outbound.add_bytes(-(PROMISE if isinstance(known.value, VatPromise) else EXPORT))

    # ---- resolutions of promises ---------------------------------------------------------------------------

    def _watch(self, known: Export, promise: VatPromise) -> None:
        """Waits for a promise, once. A promise that was dropped and mentioned again must not be waited for
        twice."""
        known.watched = True
        again = promise in self._watching
        # Weak, so that a promise that never settles does not keep a closed connection alive.
        here = weakref.ref(self)

        def shortened() -> None:
            if (self := here()) is not None:
                self._tell_shortened(promise)

        def fulfilled(value: object) -> None:
            if (self := here()) is not None:
                self._tell(promise, value, None)

        def broken(error: BaseException) -> None:
            if (self := here()) is not None:
                self._tell(promise, None, error)

        if not again or promise.path is not None:
            promise.watch_shortening(shortened)
        if not again:
            self._watching.add(promise)
            promise.watch(fulfilled, broken)

    def faulted(self, error: Exception) -> None:
        """Passes an error that left an entry to the connection, which closes."""
        self._connection.faulted(error)

    @entry
    def _tell_shortened(self, promise: VatPromise) -> None:
        """The promise became one that a peer decides. If it is this peer, it is told at once, because its
        promise may wait for ours."""
        known = self._table.of(promise)
        path = promise.path
        if known is None or known.told or self._outbound.closed is not None:
            return
        if not isinstance(path, Remote) or path.connection is not self._connection:
            return
        known.told = True
        self._outbound.dialect_session.resolve(known.number, Promise(promise))
        self.commit_exports()

    @entry
    def _tell(self, promise: VatPromise, value: object, error: BaseException | None) -> None:
        self._watching.discard(promise)
        known = self._table.of(promise)
        if known is None or known.told or self._outbound.closed is not None:
            return
        known.told = True
        dialect_session = self._outbound.dialect_session
        if error is None:
            try:
                dialect_session.resolve(known.number, value)
            except (CapError, ValueError, RecursionError) as why:
                self.rollback_exports()
                error = why
        if error is not None:
            dialect_session.break_(known.number, error)
        self.commit_exports()
