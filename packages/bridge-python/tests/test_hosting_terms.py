"""The terms of a grant on an offered Python object: bounds of its arguments by name, and what the session made
itself. The attacker is the agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import hob
import pytest
from hob import E
from hob.terms import on_the_wire
from host_process import needs_node
from test_hosting import fails, folder, host_on

__all__ = ["folder"]


class Calendar:
    def __init__(self) -> None:
        self.events: dict[str, str] = {}
        self.shared: list[tuple[str, str]] = []

    def create(self, title: str, guests: list[str] | None = None) -> dict[str, str]:
        """Makes an event."""
        name = f"event-{len(self.events) + 1}"
        self.events[name] = title
        return {"id": name, "title": title}

    def share(self, event: str, person: str) -> None:
        """Shows an event to somebody."""
        self.shared.append((event, person))


@needs_node
async def test_bounds_by_name_take_what_they_say_and_nothing_else(folder: Path) -> None:
    calendar = Calendar()
    async with host_on(folder) as host:
        await host.granter.offer("calendar", calendar)
        session = await host.granter.open_session("agent")
        where = {"create": {"title": {"like": "Dinner at {place}"}, "guests": {"optional": {"is": ["ann"]}}}}
        await host.granter.grant(session.id, "calendar", "calendar", uses=2, where=where)
        async with await session.enter() as agent:
            cap = agent["calendar"]
            for attack in (
                {"title": "Dinner at Luigi\nand send the money to eve"},
                {"title": "Pay eve"},
                {"title": "Dinner at Luigi", "guests": ["eve"]},
                {"title": "Dinner at Luigi", "guests": ["ann", "eve"]},
                {"title": "Dinner at Luigi", "to": "eve"},
                {"guests": ["ann"]},
                {},
            ):
                assert await fails(cap.create(**attack)) == "denied"
            assert await fails(cap.create("Dinner at Luigi")) == "denied"
            assert await fails(cap.share(event="event-1", person="eve")) == "no-such-method"
            # Nothing of that cost a use.
            assert (await E(cap).create(title="Dinner at Luigi"))["id"] == "event-1"
            assert (await E(cap).create(title="Dinner at Anna", guests=["ann"]))["id"] == "event-2"
            assert await fails(cap.create(title="Dinner at Luigi")) == "exhausted"
    assert list(calendar.events.values()) == ["Dinner at Luigi", "Dinner at Anna"]


@needs_node
async def test_create_and_then_share_takes_one_grant_and_asks_for_what_others_made(folder: Path) -> None:
    calendar = Calendar()
    calendar.events["event-0"] = "the boss's"
    async with host_on(folder) as host:
        effects = {
            "create": {"class": "B", "makes": {"event": "id"}},
            "share": {"class": "C", "names": {"event": "event"}},
        }
        await host.granter.offer("calendar", calendar, effects=effects)
        session = await host.granter.open_session("agent")
        await host.granter.grant(session.id, "calendar", "calendar", gated=["share"], own=True)
        async with await session.enter() as agent:
            cap = agent["calendar"]
            made = await E(cap).create(title="Dinner")
            await asyncio.wait_for(cap.share(event=made["id"], person="ann"), 60)
            asked = asyncio.ensure_future(fails(cap.share(event="event-0", person="eve")))
            async for question in host.granter.questions():
                assert question.arguments == {"event": "event-0", "person": "eve"}
                await question.refuse("not yours")
                break
            assert await asked == "denied"
    assert calendar.shared == [("event-2", "ann")]


class Event:
    def __init__(self, title: str) -> None:
        self.title = title
        self.shared: list[str] = []

    def share(self, person: str) -> None:
        """Shows it to somebody."""
        self.shared.append(person)

    def cancel(self) -> None:
        """Ends it."""
        raise AssertionError("nobody may")


class Diary:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def create(self, title: str) -> Any:
        """Makes an event."""
        self.events.append(Event(title))
        return hob.far(self.events[-1], "share", "cancel")


@needs_node
async def test_what_a_once_grant_makes_has_a_lifetime_of_its_own(folder: Path) -> None:
    diary = Diary()
    async with host_on(folder) as host:
        await host.granter.offer("diary", diary)
        session = await host.granter.open_session("agent")
        made = {"uses": 2, "methods": ["share"], "seconds": 3600}
        grant = await host.granter.grant(session.id, "diary", "diary", scope="once", methods=["create"], made=made)
        async with await session.enter() as agent:
            event = await E(agent["diary"]).create(title="Dinner")
            assert await fails(agent["diary"].create(title="Lunch")) == "exhausted"
            assert await fails(E(event).cancel()) == "no-such-method"
            await E(event).share("ann")
            (live,) = await host.granter.grants(live=True)
            assert (live.id, live.state) == (grant.id, "exhausted")
            assert live.made_until is not None
            await host.granter.revoke(grant.id)
            assert await fails(E(event).share("bob")) == "revoked"
    assert [(event.title, event.shared) for event in diary.events] == [("Dinner", ["ann"])]


def test_terms_are_written_as_the_host_reads_them() -> None:
    assert on_the_wire({"made": {"uses": 2, "seconds": 1.5}}) == {"made": {"uses": 2, "for": 1500}}
    for made in ("once", 1, {"often": 1}):
        with pytest.raises(hob.Invalid):
            on_the_wire({"made": made})
    said: dict[str, Any] = on_the_wire({"own": True, "person_only": True, "drafts": ("write",), "level": "low"})
    assert said == {"own": True, "personOnly": True, "drafts": ["write"], "level": "low"}
    assert on_the_wire({"own": False, "person_only": None}) == {}
    for wrong in ({"own": "yes"}, {"person_only": 1}, {"personOnly": True}):
        with pytest.raises(hob.Invalid):
            on_the_wire(wrong)
