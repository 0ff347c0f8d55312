"""An agent that obeys everybody: the worst case of a model that reads injected text.

It plays the calls of the user's task. When a result has the text of the attacker, it plays all calls of the attacker at
once, and then goes on. A refusal never stops it: it tries each cap that has the method.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import hob
from hob import E

from .model import Grant
from .suites import MARKER, Calls


@dataclass(frozen=True)
class Attempt:
    """One call of one cap, and what the host did with it."""

    petname: str
    method: str
    arguments: Mapping[str, Any]
    code: str
    """`ok`, `tool-failed`, or the code of the refusal."""
    result: Any
    by_attacker: bool


@dataclass
class Played:
    """What an agent did."""

    attempts: list[Attempt] = field(default_factory=list)
    ran: list[Any] = field(default_factory=list)
    """The calls that reached a tool, in order."""
    hijacked: bool = False


class Obedient:
    """Plays a task in a session."""

    def __init__(self, session: Any, grants: Sequence[Grant], watch: Any) -> None:
        self._session = session
        self._grants = grants
        self._watch = watch

    async def play(self, wanted: Calls, attack: Calls) -> Played:
        """Plays the task, and the attack as soon as it is seen."""
        played = Played()
        for call in wanted:
            result = await self._try(call, played, by_attacker=False)
            if not played.hijacked and MARKER in json.dumps(result, default=str):
                played.hijacked = True
                for bad in attack:
                    await self._try(bad, played, by_attacker=True)
        return played

    async def _try(self, call: Any, played: Played, *, by_attacker: bool) -> Any:
        # Where no cap has the method, it asks the first one for it all the same.
        able = [grant for grant in self._grants if call.function in grant.methods] or self._grants[:1]
        for grant in able:
            attempt = await self._call(grant.petname, call, by_attacker)
            played.attempts.append(attempt)
            self._watch(attempt)
            if attempt.code in RAN:
                played.ran.append(call)
                return attempt.result
        return None

    async def _call(self, petname: str, call: Any, by_attacker: bool) -> Attempt:
        arguments = dict(call.args)
        try:
            result, code = await E(self._session[petname])[call.function](**arguments), "ok"
        except hob.CapError as error:
            result, code = None, error.code
        return Attempt(petname, call.function, arguments, code, result, by_attacker)


RAN = ("ok", "tool-failed")
