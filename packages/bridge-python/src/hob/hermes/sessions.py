"""Which session of Hob stands behind which session of Hermes.

Promise: one each. A session of Hermes gets a session of its own under the one that is configured, with what that one holds; what a person grants to
it is its own and ends with it. A delegated child gets one under its parent's, and it is empty. A session that cannot be told, or whose own
could not be made, has none: never its parent's, never the configured one.

All of it runs in the thread of the connections.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass

from .. import tools
from ..errors import CapError, Disconnected, Invalid, Revoked, Unavailable, UnknownOutcome
from ..sessions import Child, Session, connect
from ..websocket import Refused
from .names import VERBS
from .settings import Settings

SUBAGENT = "subagent"


@dataclass(slots=True)
class Behind:
    """What stands behind one session of Hermes."""

    session: Session
    tools: tools.Tools

    async def enter(self) -> None:
        """Again, where the connection was lost. Raises `Unavailable`, `Revoked`, `Limit`."""
        if self.session.connection.closed is None:
            return
        try:
            await self.session.enter_again()
        except Refused as error:
            # Only 401 says that the secret is gone; every other refusal may pass.
            if error.status != 401:
                raise
            raise Revoked("this session of Hob has ended: begin a new one of Hermes") from None


class Sessions:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._configured: Session | None = None
        self._behind: dict[str, Behind] = {}
        self._by_task: dict[str, Behind] = {}
        self._children: set[str] = set()
        self._one_at_a_time = asyncio.Lock()

    async def stand(self, id: str, platform: str, task: str) -> Behind:
        """What stands behind this one, entered. Begins it for a session of a person's. Raises `CapError` where there is none."""
        async with self._one_at_a_time:
            behind = self._behind.get(id)
            # Hermes gives a session another id when it shortens a long conversation. The task is the same.
            if behind is None and task:
                behind = self._by_task.get(task)
            if behind is None:
                if not id or id in self._children or platform == SUBAGENT:
                    raise Unavailable("no session of Hob stands behind this child: let its parent do it")
                behind = await self._begin(id)
            await behind.enter()
            self._behind[id] = behind
            if task:
                self._by_task[task] = behind
            return behind

    def of(self, id: str) -> Behind:
        """Of one that a request was made for. Raises `Unavailable`."""
        behind = self._behind.get(id)
        if behind is None:
            raise Unavailable("no session of Hob stands behind this one")
        return behind

    async def delegate(self, parent: str, id: str, task: str) -> None:
        """An empty session for a child. Raises `CapError`; the child has none then."""
        async with self._one_at_a_time:
            # First: whatever happens below, this is no session of a person's.
            self._children.add(id)
            above = self.of(parent)
            await above.enter()
            behind = await _entered(await _spawned(above.session, f"child-{_plain(id)}", {}))
            self._behind[id] = behind
            if task:
                self._by_task[task] = behind

    async def leave(self, id: str) -> None:
        """It is over: what it was granted ends after the grace time of the host."""
        behind = self._behind.pop(id, None)
        if behind is None:
            return
        self._by_task = {task: each for task, each in self._by_task.items() if each is not behind}
        if behind not in self._behind.values():
            behind.session.close()

    async def _begin(self, id: str) -> Behind:
        name = f"hermes-{_plain(id)}"
        for _ in range(3):
            configured = await self._enter_configured()
            try:
                return await _entered(await _with_all(configured, name))
            except (Disconnected, UnknownOutcome):
                # Another Hermes with the same configuration has entered: a session has one connection.
                continue
        raise Unavailable("the session of Hob that is configured is entered by somebody else all the time")

    async def _enter_configured(self) -> Session:
        if self._configured is None:
            self._configured = await connect(self._settings.url, self._settings.secret)
        elif self._configured.connection.closed is not None:
            await self._configured.enter_again()
        return self._configured


async def _entered(child: Child) -> Behind:
    session = await child.enter()
    return Behind(session, await tools.of(session, otherwise=VERBS))


async def _with_all(configured: Session, name: str) -> Child:
    """With what the configured session holds. What has ended meanwhile (a single use that is spent) cannot be handed on, and is left out."""
    handed = await configured.caps()
    while True:
        try:
            return await _spawned(configured, name, {petname: petname for petname in handed})
        except CapError as error:
            ended = _mentioned(error, handed)
            if ended is None:
                raise
            handed.remove(ended)


def _mentioned(error: CapError, petnames: Iterable[str]) -> str | None:
    return next((petname for petname in petnames if f'"{petname}" has ended' in error.message), None)


async def _spawned(above: Session, name: str, caps: dict[str, str]) -> Child:
    """Where the name is taken (a session that was left and is resumed) it gets a number."""
    for number in range(1, 100):
        try:
            return await above.spawn_child(name if number == 1 else f"{name}-{number}", caps)
        except Invalid as error:
            if "choose another name" not in error.message:
                raise
    raise Invalid("too many sessions of this name are open: end some")


def _plain(id: str) -> str:
    """As names are in Hob."""
    return re.sub("[^a-z0-9]+", "-", id.lower()).strip("-")[-40:] or "session"
