"""More sessions of Hermes than a session of Hob has connections. Each does its calls, none ends because it is
idle, and requests that wait keep no other session from its calls. Against a real host, whose clock is turned by
hand."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import hob
import pytest
from hob.errors import Limit, Unavailable
from hob.hermes import asking, places
from hob.hermes.places import PLACES, Link, Places
from hob.hermes.sessions import Behind, Sessions
from hob.hermes.settings import Settings
from hob.sessions import Child
from hob.tools import Result
from host_process import LONG, HostProcess, needs_node
from hypothesis import given
from hypothesis import strategies as st

MANY = 20
GRACE_S = 600
DIRECTORY: Any = ("directory", {"uses": 1000})
GATED: Any = ("directory", {"uses": 100, "gated": ["readText"]})
NOTES = Result("notes\n")


async def until(sees: Callable[[], Any]) -> Any:
    async with asyncio.timeout(LONG):
        while not (seen := sees()):
            await asyncio.sleep(0.02)
        return seen


class Hermes:
    """The plugin's sessions, as a Hermes that uses this configured session has them."""

    def __init__(self, host: HostProcess, id: str, secret: str, granter: hob.Granter, **more: Any) -> None:
        self.host = host
        self.id = id
        self.granter = granter
        self.sessions = Sessions(Settings(host.url, secret, wait=more.pop("wait", LONG)), **more)
        self.began: dict[str, Behind] = {}

    async def begin(self, name: str) -> Behind:
        self.began[name] = await self.sessions.stand(name, "cli", f"task-{name}")
        return self.began[name]

    async def begin_many(self, count: int) -> list[str]:
        names = [f"s{number}" for number in range(count)]
        await asyncio.gather(*map(self.begin, names))
        return names

    async def read(self, name: str, cap: str = "workspace") -> Result:
        behind = self.sessions.of(name)
        async with self.sessions.entered(behind):
            return await behind.tools.call("read", {"cap": cap, "path": "notes.txt"})

    def ask(self, name: str, cap: str = "directory") -> asyncio.Task[Result]:
        return asyncio.ensure_future(self.sessions.ask(self.sessions.of(name), {"cap": cap, "why": f"for {name}", "uses": 5}))

    async def ids(self) -> dict[str, str]:
        """The ids of Hob's sessions, by the names of Hermes'."""
        rows = [each["id"] for each in await self.granter.sessions()]
        children = {line["session"] for line in self.host.do("ledger") if line["k"] == "session" and line.get("parent") == self.id}
        return {row.removeprefix("hermes-").rsplit("-", 1)[0]: row for row in rows if row in children}

    async def asked(self, count: int) -> dict[str, dict[str, Any]]:
        """What waits for a person, by the names of Hermes' sessions, as soon as it is so much."""
        async with asyncio.timeout(LONG):
            while True:
                ids = await self.ids()
                found = {name: each for each in await self.granter.inbox() for name, id in ids.items() if each["asker"][-1] == id}
                if len(found) == count:
                    return found
                await asyncio.sleep(0.02)

    def connected(self) -> int:
        """Connections of the configured session and its children, as the host sees it."""
        family = {self.id, *(line["session"] for line in self.host.do("ledger") if line["k"] == "session" and line.get("parent") == self.id)}
        return sum(each["session"] in family for each in self.host.do("connections"))


@contextlib.asynccontextmanager
async def hermes(host: HostProcess, *, workspace: Any = DIRECTORY, **more: Any) -> AsyncIterator[Hermes]:
    id_, secret = host.session()
    async with await hob.connect_granter(host.url, host.granter_secret) as granter:
        offered, terms = workspace
        await granter.grant(id_, "workspace", offered, **terms)
        made = Hermes(host, id_, secret, granter, **more)
        try:
            yield made
        finally:
            await made.sessions.close()
            await until(lambda: made.connected() == 0)


class Pretended(Link):
    """A session whose connection is a flag."""

    def __init__(self) -> None:
        super().__init__(Child("x", "x", "ws://127.0.0.1:1"))
        self.open = False
        self.cut = False

    @property
    def connected(self) -> bool:
        return self.open

    async def enter(self) -> Any:
        await asyncio.sleep(0)
        self.open = True

    def close(self) -> None:
        self.cut = self.cut or (self.open and self.users > 0)
        self.open = False


@given(st.lists(st.tuples(st.integers(0, 11), st.booleans(), st.integers(0, 4)), min_size=1, max_size=40), st.integers(0, 3))
def test_however_calls_and_looks_follow_each_other_none_loses_its_connection_and_there_are_never_too_many(
    steps: list[tuple[int, bool, int]], apart: int
) -> None:
    async def run() -> None:
        links = [Pretended() for _ in range(12)]
        of = Places()

        async def one(which: int, is_look: bool, lasts: int) -> None:
            async with of.look(links[which]) if is_look else of.use(links[which]):
                for _ in range(lasts + 1):
                    assert links[which].open and not links[which].cut
                    assert sum(link.open for link in links) <= PLACES + 1 < 8
                    await asyncio.sleep(0)

        running = []
        for step in steps:
            running.append(asyncio.ensure_future(one(*step)))
            for _ in range(apart):
                await asyncio.sleep(0)
        await asyncio.gather(*running)
        assert not any(link.open or link.users for link in links)

    asyncio.run(run())


@needs_node
async def test_twenty_sessions_are_open_and_each_does_its_calls_with_its_own_caps(host: HostProcess) -> None:
    async with hermes(host) as of:
        names = await of.begin_many(MANY)
        ids = await of.ids()
        assert sorted(ids) == sorted(names)
        for name in names:
            await of.granter.grant(ids[name], f"own-{name}", "directory", uses=1)
        before = len(host.do("ledger"))
        calls = [(name, cap) for name in names for cap in ("workspace", f"own-{name}", f"own-{names[names.index(name) - 1]}")]
        random.Random(7).shuffle(calls)
        for at in range(0, len(calls), 15):
            for (name, cap), result in zip(calls[at : at + 15], await asyncio.gather(*(of.read(*each) for each in calls[at : at + 15])), strict=True):
                if cap in ("workspace", f"own-{name}"):
                    assert result == NOTES, (name, cap, result)
                else:
                    # A grant of one session belongs to no other session.
                    assert result.code == "no-such-object" and f"You hold: own-{name}, workspace." in result.text, (name, cap, result)
        # The ledger names the session of each call.
        lines = host.do("ledger")
        whose = {line["grant"]: line["session"] for line in lines if line["k"] == "grant"}
        called = [whose[line["grant"]] for line in lines[before:] if line["k"] == "call" and "grant" in line]
        assert {id: called.count(id) for id in ids.values()} == dict.fromkeys(ids.values(), 2)
        # Connections that no call uses are given back.
        await until(lambda: of.connected() == 0)


@needs_node
async def test_seven_requests_that_wait_for_a_person_do_not_keep_an_eighth_session_from_its_calls(
    host: HostProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "LOOK_S", 0.05)
    async with hermes(host) as of:
        *seven, eighth = await of.begin_many(8)
        waiting = {name: of.ask(name) for name in seven}
        asked = await of.asked(7)
        for _ in range(3):
            assert await of.read(eighth) == NOTES
            # Those that wait may call, too; and another one may begin.
            assert await of.read(seven[0]) == await of.read(seven[-1]) == NOTES
        await of.begin("ninth")
        assert await of.read("ninth") == NOTES
        assert not any(task.done() for task in waiting.values())
        # The first ones hear a no.
        await of.granter.refuse(asked[seven[0]], "not now")
        result = await waiting.pop(seven[0])
        assert result.code == "denied" and "not now" in result.text
        for name in waiting:
            await of.granter.approve(asked[name], uses=2)
        for name, task in waiting.items():
            result = await task
            assert not result.is_error and "granted" in result.text and "directory" in result.text, (name, result)
            assert await of.read(name, "directory") == NOTES
        assert (await of.read(eighth, "directory")).code == "no-such-object"


@needs_node
async def test_a_request_beyond_those_that_hear_says_at_once_what_is_wrong_and_waits_no_longer_than_it_may(
    host: HostProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "HEARING", 0)
    monkeypatch.setattr(asking, "LOOK_S", 0.05)
    async with hermes(host) as of:
        await of.begin_many(2)
        assert (await of.ask("s0", "no-such-offer")).code == "no-such-object"
        asked = of.ask("s0")
        await of.asked(1)
        # The person interrupts Hermes, whose model asks again.
        asked.cancel()
        of.sessions._wait = 0.01
        result = await of.ask("s0")
        assert result.code == "unavailable" and "nobody has said yes" in result.text
        # A yes that comes later counts.
        await of.granter.approve((await of.asked(1))["s0"], uses=1)
        assert await of.read("s0", "directory") == NOTES
        of.sessions._wait = LONG
        asked = of.ask("s1")
        await of.asked(1)
        await of.sessions.leave("s1")
        with contextlib.suppress(hob.CapError):
            assert (await asked).is_error


@needs_node
async def test_calls_that_wait_for_a_person_keep_their_connections_and_the_next_one_is_told_what_to_do(
    host: HostProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hermes(host, workspace=GATED) as of:
        names = await of.begin_many(PLACES + 2)
        waiting = {name: asyncio.ensure_future(of.read(name)) for name in names[:PLACES]}
        asked = await of.asked(PLACES)
        monkeypatch.setattr(places, "PATIENCE_S", 0.2)
        with pytest.raises(Limit, match="ask the person to answer what waits"):
            await of.read(names[PLACES])
        # A sign of life needs none of these places.
        for _ in range(4):
            host.do("sleep", GRACE_S / 2)
            await of.sessions.show_life()
        monkeypatch.setattr(places, "PATIENCE_S", LONG)
        late = asyncio.ensure_future(of.read(names[PLACES]))
        for request in asked.values():
            await of.granter.approve(request)
        assert [await task for task in waiting.values()] == [NOTES] * PLACES
        await of.granter.approve((await of.asked(1))[names[PLACES]])
        assert await late == NOTES
        assert set(await of.ids()) == set(names)


@needs_node
async def test_a_session_that_is_idle_longer_than_the_grace_time_is_still_there(host: HostProcess) -> None:
    passes = 0

    class Counted(Sessions):
        async def show_life(self) -> None:
            nonlocal passes
            await super().show_life()
            passes += 1

    async with hermes(host) as of:
        # By itself, with no call: as the plugin does.
        of.sessions = Counted(Settings(host.url, of.sessions._configured._child.secret), sign_s=0.05)
        names = await of.begin_many(MANY // 2)
        ids = await of.ids()
        for name in names:
            # After that the configured session is not connected either.
            assert await of.read(name) == NOTES
        for _ in range(5):
            host.do("sleep", GRACE_S / 2)
            seen = passes
            await until(lambda seen=seen: passes >= seen + 2)  # type: ignore[misc]
        assert await of.ids() == ids
        for name in names:
            assert await of.read(name) == NOTES
        # One that the person ended is not there, and says so.
        await of.granter.end(ids["s3"])
        with pytest.raises(hob.Revoked, match="begin a new one of Hermes"):
            await of.read("s3")
        assert await of.read("s4") == NOTES


@needs_node
async def test_two_hermes_with_the_same_configured_session_do_their_calls(host: HostProcess) -> None:
    async with hermes(host) as of:
        other = Hermes(host, of.id, of.sessions._configured._child.secret, of.granter)
        try:
            for number in range(8):
                await of.begin(f"a{number}")
                await other.begin(f"b{number}")
            results = await asyncio.gather(*(one.read(name) for one in (of, other) for name in one.began for _ in range(2)))
            assert results == [NOTES] * 32
        finally:
            await other.sessions.close()


@needs_node
async def test_what_is_left_is_closed_and_ends_after_the_grace_time(host: HostProcess) -> None:
    async with hermes(host) as of:
        names = await of.begin_many(MANY)
        ids = await of.ids()
        await of.sessions.leave(names[0])
        with pytest.raises(Unavailable):
            of.sessions.of(names[0])
        await of.sessions.close()
        await until(lambda: of.connected() == 0)
        # Nothing enters any more, also not for a sign of life.
        await of.sessions.show_life()
        with pytest.raises(Unavailable):
            await of.read(names[1])
        assert of.connected() == 0
        host.do("sleep", GRACE_S + 1)
        ended = {*ids.values(), of.id}
        sees_ended = lambda: {line["session"] for line in host.do("ledger") if line["k"] == "session" and line["what"] == "end"}  # noqa: E731
        await until(lambda: ended <= sees_ended())
