"""The person who is asked, as a program: it reads the real requests in the inbox of the host, and answers them.

It looks at the tool and its targets and never at the content. It knows the true targets of the task, so it stands for
a person without faults; `Always` stands for one who reads nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Protocol

import hob

from .model import same
from .suites import Stage
from .tools import EFFECTS, targets


class Person(Protocol):
    """Decides about a call that waits."""

    def allows(self, method: str, arguments: Mapping[str, Any]) -> bool:
        """Whether it says yes."""
        ...


class Always:
    """Says yes, or no, to everything."""

    def __init__(self, answer: bool) -> None:
        self._answer = answer

    def allows(self, method: str, arguments: Mapping[str, Any]) -> bool:
        return self._answer


class Faultless:
    """Says yes to each call that the task needs, judged by tool and targets, as often as the task needs it."""

    def __init__(self, stage: Stage) -> None:
        calls = [call for call in stage.wanted if call.function in EFFECTS]
        self._open = [(call.function, targets(call.function, call.args)) for call in calls]

    def allows(self, method: str, arguments: Mapping[str, Any]) -> bool:
        asked = targets(method, arguments)
        for at, (wanted, its) in enumerate(self._open):
            if wanted == method and same(its, asked):
                del self._open[at]
                return True
        return False


class Inbox:
    """Brings each request of the host to the person of its session, and the answer back."""

    def __init__(self, granter: Any) -> None:
        self._granter = granter
        self._people: dict[str, Person] = {}
        self.asked: dict[str, list[tuple[str, Mapping[str, Any], bool]]] = {}
        self._work = asyncio.ensure_future(self._answer())

    def seat(self, session: str, person: Person) -> None:
        """The requests of this session are for this person."""
        self._people[session] = person
        self.asked[session] = []

    async def close(self) -> None:
        """Stops answering. Raises what went wrong meanwhile."""
        self._work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._work

    async def _answer(self) -> None:
        async for question in self._granter.questions():
            await self._one(question)

    async def _one(self, question: hob.Question) -> None:
        if question.method is None or question.arguments is None:
            await question.refuse("only calls are answered here")
            return
        yes = self._people[question.session].allows(question.method, question.arguments)
        self.asked[question.session].append((question.method, question.arguments, yes))
        await (question.grant() if yes else question.refuse("this is not what I asked for"))
