"""An object that this program offers, as the host reaches it.

Promise: others reach the methods that were offered and nothing else. When a grant of a call ends, its coroutine is
cancelled; the host learns that the call has ended at the latest after five seconds. When the connection ends, all
calls are cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from ..errors import CapError, Invalid
from ..far import Far
from ..message import Answer, no_method
from ..reference import Promise, promise
from .kinds import Tool
from .values import outward

PATIENCE_S: Final = 5.0
"""A coroutine that was cancelled may clean up for as long before the revoker is told that it has ended."""


class Face(Far):
    """The object that the host calls. Its methods are `call`, `cancel` and `withdrawn`."""

    def __init__(self, object_: object, tools: dict[str, Tool]) -> None:
        self._object = object_
        self._tools = tools
        self._running: dict[int, tuple[asyncio.Task[Any], Answer]] = {}
        self._leaving = asyncio.Event()
        # Methods that are no coroutines run in threads, one at a time, so an object needs no locks.
        self._alone = asyncio.Lock()

    def call(self, number: int, method: str, args: list[Any]) -> Promise:
        """Starts a call of a method, with its arguments as one record. `number` names the call for `cancel`. Returns a
        promise of the result. Raises `NoSuchMethod`, and `Invalid` for arguments that do not fit."""
        tool = self._tools.get(method)
        if tool is None:
            raise no_method(method)
        given = tool.arguments(args)
        answer, resolver = promise()
        task = asyncio.get_running_loop().create_task(self._run(tool, given))
        self._running[number] = (task, resolver)
        task.add_done_callback(lambda done: self._ended(number, done))
        return answer

    def cancel(self, number: int) -> None:
        """Cancels a call. If it has not ended after `PATIENCE_S`, its promise breaks. Changes nothing after its end."""
        running = self._running.get(number)
        if running is not None:
            running[0].cancel()
            late = CapError("the call was cancelled, and has not ended yet", "error")
            asyncio.get_running_loop().call_later(PATIENCE_S, running[1].break_, late)

    async def withdrawn(self) -> None:
        """Returns when the program withdraws the object. Then, and when the host is gone, the calls that still run are
        cancelled."""
        try:
            await self._leaving.wait()
        finally:
            # Nobody is there any more who waits for them.
            for task, _ in list(self._running.values()):
                task.cancel()

    def _run(self, tool: Tool, given: dict[str, Any]) -> Coroutine[Any, Any, Any]:
        method = getattr(self._object, tool.name)
        return self._awaited(method(**given)) if tool.is_async else self._in_thread(method, given)

    async def _awaited(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return outward(await coroutine)

    async def _in_thread(self, method: Any, given: dict[str, Any]) -> Any:
        async with self._alone:
            return outward(await asyncio.to_thread(method, **given))

    def _ended(self, number: int, task: asyncio.Task[Any]) -> None:
        _, answer = self._running.pop(number)
        if task.cancelled():
            answer.break_(CapError("the call was cancelled", "error"))
        elif (error := task.exception()) is not None:
            answer.break_(error)
        else:
            answer.fulfil(task.result())

    def _leave(self) -> None:
        self._leaving.set()


EFFECTS: Final = ("A", "B", "C", "D")


def effects_on_the_wire(effects: Any) -> dict[str, Any]:
    """Returns side effects as the host expects them: `"C"` is `{"class": "C"}`. Raises `Invalid`."""
    said = {name: {"class": each} if isinstance(each, str) else dict(each) for name, each in effects.items()}
    for name, each in said.items():
        if each.get("class") not in EFFECTS:
            raise Invalid(f'the effect of "{name}" is one of the classes {", ".join(EFFECTS)}, or a record with "class"')
    return said
