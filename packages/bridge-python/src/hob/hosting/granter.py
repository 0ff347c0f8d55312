"""The granter of a host that this program started or reached: it also offers, opens sessions and answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

from ..captp.connection import Connection
from ..errors import Invalid, NoSuchObject
from ..granter import Granter
from ..reference import E, Promise
from ..sessions import Session, connect
from ..terms import Terms
from .kinds import Tool, tools_of
from .offered import Face, effects_on_the_wire
from .questions import Question


@dataclass(frozen=True, slots=True)
class Opened:
    """A session, and the secret that opens it. Give an agent the secret, and nothing of the granter."""

    id: str
    url: str
    again: bool
    """It was open already, and has its caps with what is left of them. The secret is new."""
    secret: str = field(repr=False)

    async def enter(self) -> Session:
        """Enters the session."""
        return await connect(self.url, self.secret)


@dataclass(frozen=True, slots=True)
class Offered:
    """An object that is offered. It is there until `withdraw`, or until the connection ends."""

    name: str
    methods: tuple[str, ...]
    about: Mapping[str, Any] = field(repr=False)
    _face: Face = field(repr=False, compare=False)

    def withdraw(self) -> None:
        """Takes the object back. Its grants stay; their calls raise `Unavailable` until it is offered again."""
        self._face._leave()


class HostGranter(Granter):
    """The granter of a host. It has all that `hob.Granter` has."""

    def __init__(self, url: str, connection: Connection) -> None:
        super().__init__(url, "none", connection, None)
        local = E(connection.bootstrap)
        self._root: Promise = local.granter()
        self._tools: Promise = E(local.daemon()).tools()

    @property
    def root(self) -> Any:
        """The granter on the host."""
        return self._root

    async def enter_again(self) -> None:
        """Use `Host.again()`, which also offers again what was offered."""
        raise Invalid("call again() of the Host: it starts or reaches the host, and offers again what was offered")

    async def open_session(self, name: str) -> Opened:
        """Opens a session that names this granter, or continues the open one of that name with a new secret."""
        made = await E(self._tools).openSession(name)
        return Opened(made["id"], made["url"], made["again"], made["secret"])

    async def offer(
        self,
        name: str,
        tools: object,
        *,
        methods: Iterable[str] | None = None,
        reads: Iterable[str] = (),
        effects: Mapping[str, str | Mapping[str, Any]] | None = None,
        label: str | None = None,
    ) -> Offered:
        """Offers an object: its methods without `_`, or only `methods`. `reads` change nothing. `effects` are the
        classes of side effects, `{"send": "C"}`. Offered again under its name, it stands behind the same grants."""
        found = chosen(tools_of(type(tools)), methods)
        about: dict[str, Any] = {"methods": list(found), "reads": list(reads)}
        if effects is not None:
            about["effects"] = effects_on_the_wire(effects)
        if label is not None:
            about["label"] = label
        for each in [*about["reads"], *about.get("effects", {})]:
            if each not in found:
                raise Invalid(f'"{each}" is no method of this object: there are {", ".join(found)}')
        face = Face(tools, found)
        await E(self._tools).offer(name, face, about)
        return Offered(name, tuple(found), about, face)

    async def questions(self) -> AsyncIterator[Question]:
        """Yields each request of its sessions once, until the connection ends: `async for question in …`."""
        seen: set[str] = set()
        since = 0
        while True:
            since = await E(self.root).changed(since)
            waiting = await self.inbox()
            seen &= {request["id"] for request in waiting}
            for request in waiting:
                if request["id"] not in seen:
                    seen.add(request["id"])
                    question = await self._question(request)
                    if question is not None:
                        yield question

    async def _question(self, request: dict[str, Any]) -> Question | None:
        call: dict[str, Any] = {}
        if request["kind"] == "call":
            try:
                call = await E(self.root).requestedCall(request["id"])
            except NoSuchObject:
                return None
        args = call.get("args")
        named = args[0] if args is not None and len(args) == 1 and isinstance(args[0], dict) else None
        return Question(
            id=request["id"],
            kind=request["kind"],
            session=request["session"],
            cap=request["asks"],
            why=request["why"],
            shown=request,
            method=call.get("method"),
            arguments={} if args == [] else named,
            args=args,
            terms=request.get("terms"),
            _granter=self,
        )

    async def answer(
        self, question: Question, *, refuse: str | None = None, lasting: bool = False, **terms: Unpack[Terms]
    ) -> None:
        """Answers a request as it was shown: yes, on these terms or those that were asked, or no with a reason."""
        if refuse is not None:
            if terms:
                raise Invalid("a refusal has no terms")
            await self.refuse(question.shown, refuse, lasting=lasting)
        else:
            await self.approve(question.shown, **terms)


def chosen(found: dict[str, Tool], methods: Iterable[str] | None) -> dict[str, Tool]:
    """Returns the tools of these names. Raises `Invalid`."""
    if methods is None:
        return found
    names = list(methods)
    for name in names:
        if name not in found:
            raise Invalid(f'"{name}" is no method of this object: there are {", ".join(found)}')
    return {name: found[name] for name in names}
