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


def test_terms_are_written_as_the_host_reads_them() -> None:
    said: dict[str, Any] = on_the_wire({"own": True, "person_only": True, "drafts": ("write",), "level": "low"})
    assert said == {"own": True, "personOnly": True, "drafts": ["write"], "level": "low"}
    assert on_the_wire({"own": False, "person_only": None}) == {}
    for wrong in ({"own": "yes"}, {"person_only": 1}, {"personOnly": True}):
        with pytest.raises(hob.Invalid):
            on_the_wire(wrong)
