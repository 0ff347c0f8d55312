"""The sessions of Hob that belong to the sessions of Hermes.

Promise: each session of Hermes has one of its own. It is a child of the configured session and starts with
the caps of that one. Caps that a person grants to it are its own and end with it. A delegated child gets a
session under its parent's, which is empty. If a session of Hermes cannot be identified, or its own session
could not be made, it has none: never its parent's, never the configured one.
No session ends because it is idle: while this process lives, each one shows a sign of life in time, also if it
is not connected (`places.py`).

Everything here runs in the thread of the connections.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from .. import tools
from ..errors import CapError, Invalid, Unavailable
from ..sessions import Child, Session
from .asking import Asking
from .names import VERBS
from .places import Link, Places
from .settings import Settings

SUBAGENT = "subagent"
SIGN_S: Final = 60.0
"""Seconds between two signs of life. A host ends a session that shows none for `graceMs` (10 minutes)."""

log: Final = logging.getLogger("hob.hermes")


@dataclass(slots=True, eq=False)
class Behind:
    """The session of Hob of one session of Hermes."""

    link: Link
    tools: tools.Tools


class Sessions:
    """The sessions of Hob of this Hermes. `sign_s` is the time between two signs of life, in seconds."""

    def __init__(self, settings: Settings, sign_s: float = SIGN_S) -> None:
        self._places = Places()
        self._asking = Asking(self._places)
        # Beside the others that may share it: who enters otherwise takes the place of the one before.
        self._configured = Link(Child("configured", settings.secret, f"{settings.url.rstrip('/')}/beside"))
        self._url = settings.url
        self._behind: dict[str, Behind] = {}
        self._by_task: dict[str, Behind] = {}
        self._children: set[str] = set()
        self._one_at_a_time = asyncio.Lock()
        self._wait = settings.wait
        self._sign_s = sign_s
        self._signs: asyncio.Task[None] | None = None

    async def stand(self, id: str, platform: str, task: str) -> Behind:
        """Returns the session of Hob for a session of Hermes. It was connected a moment ago. Makes it for a
        session of a person. Raises `CapError` if there is none."""
        behind = self._known(id, task)
        if behind is None:
            async with self._one_at_a_time:
                behind = self._known(id, task)
                if behind is None:
                    if not id or id in self._children or platform == SUBAGENT:
                        raise Unavailable("this child has no session of Hob: let its parent do it")
                    behind = self._behind[id] = await self._begin(id)
        async with self._places.use(behind.link):
            self._behind[id] = behind
            if task:
                self._by_task[task] = behind
            return behind

    def _known(self, id: str, task: str) -> Behind | None:
        # Hermes gives a session a new id when it shortens a long conversation. The task stays the same.
        return self._behind.get(id) or (self._by_task.get(task) if task else None)

    def of(self, id: str) -> Behind:
        """Returns the session of Hob for a request. Raises `Unavailable`."""
        behind = self._behind.get(id)
        if behind is None:
            raise Unavailable("this session of Hermes has no session of Hob any more: begin a new one")
        return behind

    @asynccontextmanager
    async def entered(self, behind: Behind) -> AsyncIterator[Session]:
        """The session is connected until the block ends. Raises `Unavailable`, `Revoked`, `Limit`."""
        async with self._places.use(behind.link) as session:
            yield session

    async def ask(self, behind: Behind, args: Any) -> tools.Result:
        """Asks a person for what a model wants. Raises what `entered` raises."""
        return await self._asking.ask(behind.link, behind.tools, args, self._wait)

    async def delegate(self, parent: str, id: str, task: str) -> None:
        """Makes an empty session for a child. Raises `CapError`; then the child has none."""
        async with self._one_at_a_time:
            # First, because it must hold whatever fails below: this is not a session of a person.
            self._children.add(id)
            async with self.entered(self.of(parent)) as above:
                child = await _spawned(above, f"child-{_plain(id)}", {})
            behind = await self._opened(child)
            self._behind[id] = behind
            if task:
                self._by_task[task] = behind

    async def leave(self, id: str) -> None:
        """The session of Hermes is over. Its grants end after the grace time of the host."""
        behind = self._behind.pop(id, None)
        if behind is None:
            return
        self._by_task = {task: each for task, each in self._by_task.items() if each is not behind}
        if behind not in self._behind.values():
            self._places.leave(behind.link)

    async def show_life(self) -> None:
        """Enters each session that is not connected, for a moment. The host then begins its grace time anew."""
        for link in [self._configured, *{behind.link: None for behind in self._behind.values()}]:
            if link.connected:
                continue
            try:
                async with self._places.look(link):
                    pass
            except CapError as error:
                # A session that has ended says so at its next call. For any other one the next sign comes in time.
                log.debug("no sign of life: %s", error.message)

    async def close(self) -> None:
        """Leaves all sessions. They end after the grace time of the host."""
        if self._signs is not None:
            self._signs.cancel()
            await asyncio.wait([self._signs])
        for link in [self._configured, *(behind.link for behind in self._behind.values())]:
            self._places.leave(link)

    async def _begin(self, id: str) -> Behind:
        name = f"hermes-{_plain(id)}"
        async with self._places.use(self._configured) as configured:
            child = replace(await _with_all(configured, name), url=self._url)
        if self._signs is None:
            self._signs = asyncio.create_task(self._keep_alive())
        return await self._opened(child)

    async def _opened(self, child: Child) -> Behind:
        link = Link(child, ended="this session of Hob has ended: begin a new one of Hermes")
        async with self._places.use(link) as session:
            return Behind(link, await tools.of(session, otherwise=VERBS))

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(self._sign_s)
            try:
                await self.show_life()
            except Exception:
                log.exception("the signs of life of sessions of Hob failed, and go on")


async def _with_all(configured: Session, name: str) -> Child:
    """Makes a child with the caps of the configured session. A cap that has ended meanwhile (a single use
    that is spent) cannot be delegated and is left out."""
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
    """Makes a child. If the name is taken (a session that was left is resumed), it gets a number."""
    for number in range(1, 100):
        try:
            return await above.spawn_child(name if number == 1 else f"{name}-{number}", caps)
        except Invalid as error:
            if "choose another name" not in error.message:
                raise
    raise Invalid("too many sessions of this name are open: end some")


def _plain(id: str) -> str:
    """Converts an id to the form of names in Hob."""
    return re.sub("[^a-z0-9]+", "-", id.lower()).strip("-")[-40:] or "session"
