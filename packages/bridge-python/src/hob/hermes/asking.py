"""A model asks a person for more, and waits for the answer.

Promise: requests that wait keep no other session from its calls. The first `HEARING` keep their connections
and hear the answer at once. Each further one gives its connection back when the host has the request. It
then looks every `LOOK_S` whether its session holds a new cap. It does not hear a no: its model is told that
nobody has said yes. A session learns of a no only in the call that asked. If it asked again, the person would
see a second request.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from ..errors import Limit
from ..tools import REQUEST, Result, Tools
from .places import Link, Places

HEARING: Final = 3
"""Half of the places: the others are for calls."""
LOOK_S: Final = 5.0
_MOMENT_S: Final = 1.0


class Asking:
    """The requests of models that wait for a person. `places` has their connections."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._hearing = 0

    async def ask(self, link: Link, tools: Tools, args: Any, wait: float) -> Result:
        """Waits for `wait` seconds at most. The request itself goes on: a yes that comes later counts."""
        try:
            async with asyncio.timeout(wait):
                if self._hearing < HEARING:
                    return await self._hear(link, tools, args)
                return await self._watch(link, tools, args)
        except TimeoutError:
            text = "nobody has said yes so far: go on with something else, and ask the same again later"
            return Result(text, True, "unavailable")

    async def _hear(self, link: Link, tools: Tools, args: Any) -> Result:
        self._hearing += 1
        try:
            async with self._places.use(link):
                return await tools.call(REQUEST, args)
        finally:
            self._hearing -= 1

    async def _watch(self, link: Link, tools: Tools, args: Any) -> Result:
        async with self._places.use(link) as session:
            before = await session.caps()
            asking = asyncio.ensure_future(tools.call(REQUEST, args))
            try:
                # This step sends the request. Messages arrive in order: when the host answers the next one, it
                # has the request.
                await asyncio.sleep(0)
                await session.caps()
                # A request that is wrong is refused by now, or in a moment.
                await asyncio.wait([asking], timeout=_MOMENT_S)
                if asking.done():
                    return asking.result()
            finally:
                asking.cancel()
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                async with self._places.look(link) as session:
                    held = await session.caps()
            except Limit:
                continue
            new = [petname for petname in held if petname not in before]
            if new:
                return Result(f"granted: {', '.join(new)}. You hold: {', '.join(held)}")
