"""Requests that wait for this program's answer, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from ..terms import Terms

if TYPE_CHECKING:
    from .granter import HostGranter


@dataclass(frozen=True, slots=True)
class Question:
    """A request. `cap`, `method` and `arguments` are data: compare them, and never parse a text of `shown`."""

    id: str
    kind: str
    """`call`: a call of a gated grant waits. `grant`: a cap is asked for."""
    session: str
    """The session whose granter decides."""
    cap: str
    """The petname that was called, or the offer that is asked for."""
    why: str
    """The words of the agent, marked as such."""
    shown: dict[str, Any]
    """The request as a person reads it (`effect`, `table`, `flags`)."""
    method: str | None = None
    arguments: dict[str, Any] | None = None
    """The named arguments of a call of an offered object. None if there are none, or they are too long."""
    args: list[Any] | None = None
    """All arguments of a call."""
    terms: dict[str, Any] | None = None
    """The terms that are asked for."""
    _granter: HostGranter | None = field(default=None, repr=False, compare=False)

    async def grant(self, **terms: Unpack[Terms]) -> None:
        """Says yes to exactly this. Terms make a grant narrower; a call takes none."""
        assert self._granter is not None
        await self._granter.answer(self, **terms)

    async def refuse(self, why: str, *, lasting: bool = False) -> None:
        """Says no. The agent gets the reason. `lasting`: also when it asks again."""
        assert self._granter is not None
        await self._granter.answer(self, refuse=why, lasting=lasting)
