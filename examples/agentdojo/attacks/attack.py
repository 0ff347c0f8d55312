"""An attack by somebody who knows about caps, and the scene in which it is played.

AgentDojo's attackers do not know that there are caps. These do: they use what the session holds. Each attack runs
against a real host. It names what stops it, or None: then it reaches its goal, and the run fails if it does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import hob
from hob import E

from dojo.agent import RAN, Attempt
from dojo.desk import Desk
from dojo.grants import grants_of
from dojo.model import Grant
from dojo.people import Always, Faultless, Person
from dojo.runner import Check, Dojo
from dojo.suites import Pair, Stage

Call = tuple[str, Mapping[str, Any]]

STOPPERS: Mapping[str, str] = {
    "exhausted": "uses",
    "no-such-method": "methods",
    "invalid": "form",
    "limit": "limit",
    "expired": "time",
    "revoked": "revoked",
    "no-such-object": "ended",
}
"""The code of a refusal, and what it means. `denied` means a bound, or a person's no if one was asked."""


@dataclass(frozen=True)
class Attack:
    """One attack. `task` names the user's task, whose grants the session has by the rule in `mode`."""

    kind: str
    name: str
    task: str
    """Suite and number, such as `travel 3`."""
    play: Sequence[Call] | Callable[[Scene], Awaitable[None]]
    """Calls of the attacker, each with every cap that has the method; or a script."""
    reached: Callable[[Scene], bool]
    """Whether the attacker has reached the goal."""
    stopped: str | None
    """What stops it: `bounds`, `uses`, `methods`, `person`, … None: nothing does."""
    mode: str = "fine"
    grants: Sequence[Grant] | None = None
    """Grants by hand, in place of those of the rule."""
    person: Callable[[Stage], Person] | None = None
    """Without it, one without faults in the mode `ask`, and a no to everything in others."""
    prepare: Callable[[Any], object] | None = None
    """Puts the attacker's data into the environment."""


class Scene:
    """A session with the caps of a task, and what becomes of the attacker's calls."""

    def __init__(
        self, dojo: Dojo, stage: Stage, desk: Desk, offered: str, grants: Sequence[Grant], session: Any, id_: str
    ) -> None:
        self.dojo = dojo
        self.stage = stage
        self.desk = desk
        self.offered = offered
        self.grants = grants
        self.session = session
        self.id = id_
        self.stops: list[str] = []
        """What stopped the attacker's calls."""
        self.user_refused: list[str] = []
        """The codes with which the user's own calls were refused."""
        self._check = Check(str(stage.pair), grants, dojo.inbox.asked[id_])

    @property
    def env(self) -> Any:
        """The data of the tools as they are now."""
        return self.desk._environment

    @property
    def asked(self) -> list[tuple[hob.Question, bool | None]]:
        """The questions of this session."""
        return self.dojo.inbox.asked[self.id]

    @property
    def granter(self) -> Any:
        """The granter of the host."""
        return self.dojo.host.granter

    async def attack(self, method: str, **arguments: Any) -> Any:
        """The attacker calls each cap that has the method, until one lets it through. Returns the result."""
        ran, result, stops = await self._try(method, arguments)
        if not ran:
            self.stops.append(stops[-1])
        return result

    async def user(self, method: str, **arguments: Any) -> Any:
        """The user's own call."""
        ran, result, stops = await self._try(method, arguments)
        if not ran:
            self.user_refused.append(stops[-1])
        return result

    async def _try(self, method: str, arguments: Mapping[str, Any]) -> tuple[bool, Any, list[str]]:
        stops: list[str] = []
        for grant in [each for each in self.grants if method in each.methods] or self.grants[:1]:
            before = len(self.asked)
            code, result = await outcome(E(self.session[grant.petname])[method](**arguments))
            self._check(Attempt(grant.petname, method, arguments, code, result, by_attacker=True))
            if code in RAN:
                return True, result, stops
            stops.append(self.meaning(code, asked=len(self.asked) > before))
        return False, None, stops

    def meaning(self, code: str, *, asked: bool) -> str:
        """What stopped a call with this code."""
        return ("person" if asked else "bounds") if code == "denied" else STOPPERS.get(code, code)

    async def raw(self, petname: str, method: str, arguments: Mapping[str, Any], *, asks: bool = False) -> str:
        """One call of one cap, which the reference model does not judge. Notes what stopped it. Returns the code."""
        code, _ = await outcome(E(self.session[petname])[method](**arguments))
        if code not in RAN:
            self.stops.append(self.meaning(code, asked=asks))
        return code

    async def until(self, count: int) -> None:
        """Waits until so many questions have been shown."""
        while len(self.asked) < count:
            await asyncio.sleep(0.005)


async def outcome(result: Awaitable[Any]) -> tuple[str, Any]:
    """Returns the code and the value of a call."""
    try:
        return "ok", await result
    except hob.CapError as error:
        return error.code, None


async def played(dojo: Dojo, attack: Attack) -> tuple[str | None, Scene]:
    """Plays an attack. Returns what stopped it, and the scene."""
    suite, number = attack.task.split()
    stage = Stage(Pair("v1.1.2", suite, f"user_task_{number}", None))
    name, desk = await dojo.desk(suite, 0)
    environment = stage.environment()
    if attack.prepare is not None:
        attack.prepare(environment)
    desk._sit(environment)
    grants = grants_of(stage, attack.mode) if attack.grants is None else list(attack.grants)
    faultless = Faultless(stage, grants) if attack.mode == "ask" else Always(False)
    person = faultless if attack.person is None else attack.person(stage)
    async with dojo.session(name, grants, person) as (id_, session):
        scene = Scene(dojo, stage, desk, name, grants, session, id_)
        if callable(attack.play):
            await attack.play(scene)
        else:
            for method, arguments in attack.play:
                await scene.attack(method, **arguments)
    if attack.reached(scene):
        return None, scene
    return scene.stops[-1] if scene.stops else "nothing, and it has not reached its goal", scene
