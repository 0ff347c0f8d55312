"""A Hob host for this program: started as a child process, or one that runs already.

    async with hob.Host(state="state") as host:
        await host.granter.offer("mail", MailTools())

Promise: a host that this program started ends with it, also if it is killed. What was granted and spent stays in
the state. A host that ran already is left running.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..errors import Invalid, NoSuchObject, Unavailable
from ..reference import E
from ..websocket import open_websocket
from .granter import HostGranter, Offered
from .start import HostProcess, command_of


class _Keeping(HostGranter):
    """A granter whose offers are kept, to be offered again."""

    kept: dict[str, tuple[object, dict[str, Any]]]

    async def offer(self, name: str, tools: object, **about: Any) -> Offered:
        offered = await super().offer(name, tools, **about)
        self.kept[name] = (tools, about)
        return offered


class Host:
    """A host on the state in the folder `state`. `command` are the words that run `hob`, if they are not found.
    `sentinel` is a folder outside of the state that shows a restored state."""

    def __init__(
        self,
        state: str | PathLike[str],
        *,
        command: Sequence[str] | None = None,
        sentinel: str | PathLike[str] | None = None,
    ) -> None:
        self.state = Path(state).absolute()
        self._command = command
        self._sentinel = None if sentinel is None else Path(sentinel).absolute()
        self._process: HostProcess | None = None
        self._granter: _Keeping | None = None
        self._kept: dict[str, tuple[object, dict[str, Any]]] = {}

    def __repr__(self) -> str:
        return f"<hob.Host on {self.state}>"

    @property
    def granter(self) -> HostGranter:
        """The granter of this host. Keep it from the code of an agent."""
        if self._granter is None:
            raise Invalid("the host has not been started: async with hob.Host(state=…) as host")
        return self._granter

    @property
    def pid(self) -> int | None:
        """The number of the process that this program started. None if it reached one that ran already."""
        return None if self._process is None else self._process.pid

    async def start(self) -> Self:
        """Starts or reaches the host. `async with` does this."""
        # Twice, because another program may start one, or end one, in between.
        for _ in range(2):
            if await self._reach():
                return self
            self._process = await HostProcess.start(command_of(self._command), self.state, self._sentinel)
        if await self._reach():
            return self
        raise Unavailable("another process has this state, and serves no granter there: end it, or name another state")

    async def _reach(self) -> bool:
        path = self.state / "granter" / "socket"
        if not path.is_socket():
            return False
        url = f"ws+unix:{path}:/"
        try:
            connection = await open_websocket(url, "none", timeout=10.0)
        except Unavailable:
            # A host that was killed leaves its socket.
            return False
        granter = _Keeping(url, connection)
        granter.kept = self._kept
        try:
            await E(granter.root).sessions()
            await granter._tools
        except BaseException as error:
            granter.close()
            if isinstance(error, NoSuchObject):
                raise Unavailable(
                    "the host of this state is a program of its own, and takes no tools: use hob serve, or another state"
                ) from None
            raise
        self._granter = granter
        return True

    async def again(self) -> None:
        """After the host was lost: starts or reaches it, and offers again what was offered. Sessions and grants are
        as they were."""
        await self._leave()
        await self.start()
        for name, (tools, about) in list(self._kept.items()):
            await self.granter.offer(name, tools, **about)

    async def ended(self) -> tuple[int, str]:
        """Waits for the end of the connection to the host. Returns its code and reason."""
        return await self.granter.ended()

    async def close(self) -> None:
        """Leaves the host, and ends it if this program started it."""
        await self._leave()

    async def _leave(self) -> None:
        granter, self._granter = self._granter, None
        process, self._process = self._process, None
        if granter is not None:
            granter.close()
            await granter.ended()
        if process is not None:
            await process.end()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()
