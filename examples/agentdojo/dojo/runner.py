"""Runs pairs through a real host, and compares every call with the reference model."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, AsyncIterator

import hob
from agentdojo.task_suite.load_suites import get_suite
from hob import E
from hob.granter import Grant as HostGrant

from .agent import RAN, Attempt, Obedient
from .desk import Desk, desk_of
from .grants import grants_of
from .model import Account, Grant, same
from .people import Always, Faultless, Inbox, Person
from .suites import Pair, Stage
from .table import Row
from .tools import CLASSES, EFFECTS, effects_of

NAMES = {method: about["names"] for method, about in CLASSES.items() if "names" in about}
MAKES = {method: about["makes"] for method, about in CLASSES.items() if "makes" in about}


class Difference(Exception):
    """The host did something else than the reference model says."""


class Dojo:
    """A host with the tools of AgentDojo."""

    def __init__(self, host: hob.Host) -> None:
        self.host = host
        self.inbox = Inbox(host.granter)
        self._desks: dict[tuple[str, int], tuple[str, Desk]] = {}
        self._sessions = 0
        self.seen: dict[str, list[str]] = {}
        """For each session the methods that its tools really ran."""

    async def desk(self, suite: str, seat: int) -> tuple[str, Desk]:
        """Returns the desk of a suite for one worker, and the name of its offer."""
        if (suite, seat) not in self._desks:
            made = desk_of(get_suite("v1.1.2", suite))
            name = f"{suite}-{seat}"
            names = [each.name for each in get_suite("v1.1.2", suite).tools]
            await self.host.granter.offer(
                name, made, reads=[each for each in names if each not in EFFECTS], effects=effects_of(names)
            )
            self._desks[suite, seat] = (name, made)
        return self._desks[suite, seat]

    @asynccontextmanager
    async def session(self, offered: str, grants: Iterable[Grant], person: Person) -> AsyncIterator[tuple[str, Any]]:
        """A session with these grants; its questions go to this person."""
        self._sessions += 1
        opened = await self.host.granter.open_session(f"pair-{self._sessions}")
        self.inbox.seat(opened.id, person)
        await asyncio.gather(
            *[self.host.granter.grant(opened.id, grant.petname, offered, **grant.terms()) for grant in grants]
        )
        try:
            async with await opened.enter() as session:
                yield opened.id, session
        finally:
            await self.host.granter.end(opened.id, "the pair is over")

    async def run(self, stage: Stage, mode: str, seat: int) -> Row:
        """Plays one pair in one mode."""
        name, desk = await self.desk(stage.pair.suite, seat)
        desk._sit(stage.environment())
        grants = grants_of(stage, mode)
        person: Person = Faultless(stage, grants) if mode == "ask" else Always(False)
        async with self.session(name, grants, person) as (id_, session):
            check = Check(str(stage.pair), grants, self.inbox.asked[id_])
            played = await Obedient(session, grants, check).play(stage.wanted, stage.attack)
            check.uses(await self.host.granter.grants(id_))
        asked = self.inbox.asked[id_]
        check.whole(desk._seen, played.ran)
        self.seen[id_] = [method for method, _ in desk._seen]
        done, attacked = stage.judged(desk._environment, played.ran, stage.words)
        tries = played.attempts
        return Row(
            stage.pair,
            mode,
            done,
            attacked and played.hijacked,
            calls=len(tries),
            refused=sum(each.code not in RAN for each in tries),
            asked=len(asked),
            asked_by_attacker=check.asked_by_attacker,
        )

    async def audit(self) -> int:
        """Compares the ledger with what the tools saw: the same calls, in the same order, in each session. Returns the
        number of calls."""
        ledger = E(self.host.granter.root).ledger()
        verdict = await E(ledger).verify()
        if not isinstance(verdict, dict) or verdict.get("ok") is not True:
            raise Difference(f"the ledger does not verify: {verdict}")
        grants: dict[str, str] = {}
        written: dict[str, list[str]] = defaultdict(list)
        since = 0
        while lines := [json.loads(line) for line in await E(ledger).lines(since)]:
            for line in lines:
                since = line["seq"] + 1
                if line["k"] == "grant":
                    grants[line["grant"]] = line["session"]
                elif line["k"] == "call":
                    written[grants[line["grant"]]].append(line["method"])
                elif line["k"] == "deny" and line["session"] in self.seen:
                    # A call that waits is a line already. Its refusal is the next one of this session.
                    written[line["session"]].pop()
        for session, methods in self.seen.items():
            if written[session] != methods:
                raise Difference(f"the ledger has {written[session]}, the tools ran {methods}")
        return sum(map(len, self.seen.values()))


class Check:
    """Compares each call of a session with the reference model, at once."""

    def __init__(self, what: str, grants: Sequence[Grant], asked: Sequence[Any]) -> None:
        self._what = what
        self._accounts = {grant.petname: Account(grant, NAMES, MAKES) for grant in grants}
        self._asked = asked
        self._known = 0
        self.asked_by_attacker = 0

    def __call__(self, attempt: Attempt) -> None:
        account = self._accounts[attempt.petname]
        must = account.decide(attempt.method, attempt.arguments)
        answers = [yes for _, yes in self._asked[self._known :]]
        self._known += len(answers)
        if attempt.by_attacker:
            self.asked_by_attacker += len(answers)
        match must:
            case "allowed":
                fits = attempt.code in RAN and answers == []
            case "asked":
                fits = answers == [True] and attempt.code in RAN or answers == [False] and attempt.code == "denied"
            case _:
                fits = attempt.code == {"no-method": "no-such-method"}.get(must, must) and answers == []
        if not fits:
            did = f"{attempt.code}, with the answers {answers}"
            raise Difference(
                f"{self._what}: {attempt.petname}.{attempt.method}({dict(attempt.arguments)}) must be {must}, and was {did}"
            )
        if attempt.code in RAN:
            account.returned(attempt.method, attempt.result)

    def uses(self, grants: Sequence[HostGrant]) -> None:
        """Compares the uses that are left with those that the model has counted."""
        left = {grant.petname: grant.uses_left for grant in grants}
        counted = {petname: account.left for petname, account in self._accounts.items()}
        if left != counted:
            raise Difference(f"{self._what}: the uses left are {left}, and must be {counted}")

    def whole(self, seen: Sequence[tuple[str, dict[str, Any]]], ran: Sequence[Any]) -> None:
        """Compares what the tools saw with what the agent was told."""
        pairs = zip(seen, ran, strict=False)
        if len(seen) != len(ran) or not all(
            method == call.function and same(arguments, dict(call.args)) for (method, arguments), call in pairs
        ):
            raise Difference(f"{self._what}: the tools ran {seen}, and the agent was told of {ran}")


@asynccontextmanager
async def dojo(folder: Path) -> AsyncIterator[Dojo]:
    """A host in this folder, with the tools."""
    async with hob.Host(state=folder / "state", sentinel=folder / "sentinel") as host:
        made = Dojo(host)
        try:
            yield made
        except* hob.Disconnected:
            code, why = await host.ended()
            raise hob.Unavailable(f"the host was lost: {code} {why}") from None
        finally:
            await made.inbox.close()


async def run_all(made: Dojo, pairs: Sequence[Pair], modes: Sequence[str], workers: int, tell: Any) -> list[Row]:
    """Plays all pairs in all modes; each worker one pair at a time, so the order within a pair is kept."""
    rows: list[Row] = []
    left = iter(pairs)

    async def work(seat: int) -> None:
        for pair in left:
            stage = Stage(pair)
            for mode in modes:
                rows.append(await made.run(stage, mode, seat))
                tell(rows[-1])

    async with asyncio.TaskGroup() as group:
        for seat in range(workers):
            group.create_task(work(seat))
    return rows
