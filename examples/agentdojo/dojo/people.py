"""The person who is asked, as a program: it reads the real requests in the inbox of the host, and answers them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any, Protocol

import hob

from .model import Account, Grant, same
from .suites import Stage
from .tools import EFFECTS, targets


class Person(Protocol):
    """Decides about a call that waits. None: does not answer now."""

    def allows(self, question: hob.Question) -> bool | None:
        """Whether it says yes."""
        ...


class Always:
    """Says yes, or no, to everything."""

    def __init__(self, answer: bool) -> None:
        self._answer = answer

    def allows(self, question: hob.Question) -> bool:
        """Reads nothing."""
        return self._answer


class Faultless:
    """Says yes to each call that the task needs and that was not granted before, as often as the task needs it. It looks
    at the tool and its targets, and never at the content. It knows the true targets of the task: nobody is so good."""

    def __init__(self, stage: Stage, grants: Sequence[Grant]) -> None:
        accounts = [Account(grant, {}, {}) for grant in grants if grant.uses is not None]
        calls = [call for call in stage.wanted if call.function in EFFECTS]
        self._open = [
            (call.function, targets(call.function, call.args))
            for call in calls
            if not any(each.decide(call.function, call.args) in ("allowed", "asked") for each in accounts)
        ]

    def allows(self, question: hob.Question) -> bool:
        """Compares data with data. What it cannot see it refuses."""
        if question.arguments is None or question.method is None:
            return False
        asked = targets(question.method, question.arguments)
        for at, (wanted, its) in enumerate(self._open):
            if wanted == question.method and same(its, asked):
                del self._open[at]
                return True
        return False


class Inbox:
    """Brings each request of the host to the person of its session, and the answer back."""

    def __init__(self, granter: Any) -> None:
        self._granter = granter
        self._people: dict[str, Person] = {}
        self.asked: dict[str, list[tuple[hob.Question, bool | None]]] = {}
        """The questions of each session, with what the person said."""
        self._work = asyncio.ensure_future(self._answer())

    def seat(self, session: str, person: Person) -> None:
        """The requests of this session are for this person."""
        self._people[session] = person
        self.asked[session] = []

    async def close(self) -> None:
        """Stops answering. Raises what went wrong meanwhile."""
        self._work.cancel()
        with contextlib.suppress(asyncio.CancelledError, hob.Disconnected):
            await self._work

    async def _answer(self) -> None:
        async for question in self._granter.questions():
            person = self._people.get(question.session)
            said = None if person is None else person.allows(question)
            if question.session in self.asked:
                self.asked[question.session].append((question, said))
            if said is not None:
                # A request may end while it is being answered.
                with contextlib.suppress(hob.NoSuchObject):
                    await (question.grant() if said else question.refuse("this is not what I asked for"))
