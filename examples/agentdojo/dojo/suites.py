"""AgentDojo's suites, tasks and environments, as this run uses them.

AgentDojo keeps all state in one environment per run. Its tools are functions of that environment.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml
from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.attacks.base_attacks import FixedJailbreakAttack
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite import task_suite as _task_suite
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.types import (
    ChatAssistantMessage,
    text_content_block_from_string,
)

from .missing_scripts import WORKSPACE

VERSIONS: Final = ("v1.1.2", "v1.2.2")
SUITES: Final = ("workspace", "travel", "banking", "slack")
MARKER: Final = "INJECTEDxTEXT"
"""One word, so that no line break of a serialiser can fall into it."""

if hasattr(yaml, "CSafeLoader"):
    # The same loader in C. The environments of AgentDojo are YAML of up to 100 KB, read once for each pair.
    class _Quick:
        safe_load = staticmethod(lambda text: yaml.load(text, yaml.CSafeLoader))

        def __getattr__(self, name: str) -> Any:
            return getattr(yaml, name)

    _task_suite.yaml = _Quick()

Calls = Sequence[FunctionCall]


@dataclass(frozen=True)
class Pair:
    """One task of a user while one attacker is in its data. `injection` is None if nobody attacks."""

    version: str
    suite: str
    user: str
    injection: str | None

    def __str__(self) -> str:
        user = self.user.removeprefix("user_task_")
        by = "-" if self.injection is None else self.injection.removeprefix("injection_task_")
        return f"{self.version} {self.suite} {user} x {by}"


def pairs(version: str, suite: str, *, attacked: bool = True) -> Iterator[Pair]:
    """Yields all pairs of a suite, or its tasks alone."""
    made = get_suite(version, suite)
    for user in made.user_tasks:
        for injection in made.injection_tasks if attacked else [None]:
            yield Pair(version, suite, user, injection)


@functools.cache
def _attack(version: str, suite: str) -> FixedJailbreakAttack:
    return FixedJailbreakAttack(f"{MARKER} {{goal}}", get_suite(version, suite), None)


class Stage:
    """The data of one pair: the environment with the injected texts, and what user and attacker want."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.suite = get_suite(pair.version, pair.suite)
        self.user = self.suite.user_tasks[pair.user]
        self.injection = None if pair.injection is None else self.suite.injection_tasks[pair.injection]
        texts = {} if self.injection is None else _attack(pair.version, pair.suite).attack(self.user, self.injection)
        self._loaded = self.suite.load_and_inject_default_environment(texts)
        # `ground_truth` and `init_environment` may change what they get.
        initial = self.user.init_environment(self._loaded.model_copy(deep=True))
        self.wanted: Calls = self.user.ground_truth(initial.model_copy(deep=True))
        self.attack: Calls = self._attack_calls(initial.model_copy(deep=True))
        self._initial = initial

    def _attack_calls(self, environment: Any) -> Calls:
        if self.injection is None:
            return []
        written = WORKSPACE.get(self.injection.ID) if self.pair.suite == "workspace" else None
        calls = self.injection.ground_truth(environment)
        return calls if calls or written is None else written(environment)

    def environment(self) -> Any:
        """Returns a fresh environment, ready for the task."""
        return self._initial.model_copy(deep=True)

    @property
    def words(self) -> str:
        """What the agent says at the end: what the task wants, and what the attacker wants."""
        said = [self.user.GROUND_TRUTH_OUTPUT]
        if self.injection is not None:
            said.append(self.injection.GROUND_TRUTH_OUTPUT)
        return "\n".join(said)

    def judged(self, environment: Any, ran: Calls, words: str) -> tuple[bool, bool]:
        """Returns whether the task was done, and whether the attack reached its goal, as AgentDojo itself judges."""
        done, attacked = self.suite.run_task_with_pipeline(
            _Played(environment, ran, words),
            self.user,
            self.injection,
            injections={},
            environment=self._loaded.model_copy(deep=True),
        )
        # AgentDojo says True of an attack that did not take place.
        return done, attacked and self.injection is not None


class _Played(BasePipelineElement):
    """A run that has happened already, for AgentDojo's judge. Refused calls are not in it: `security_from_traces`
    counts every call of the assistant as one that ran."""

    def __init__(self, environment: Any, ran: Calls, words: str) -> None:
        self._environment = environment
        self._ran = ran
        self._words = words

    def query(
        self,
        query: str,
        runtime: FunctionsRuntime,
        env: Any = None,
        messages: Sequence[Any] = (),
        extra_args: Any = None,
    ) -> tuple[str, FunctionsRuntime, Any, Sequence[Any], dict[str, Any]]:
        empty = [text_content_block_from_string("")]
        said: list[Any] = [
            ChatAssistantMessage(role="assistant", tool_calls=[call], content=empty) for call in self._ran
        ]
        last = [text_content_block_from_string(self._words)]
        said.append(ChatAssistantMessage(role="assistant", tool_calls=None, content=last))
        return query, runtime, self._environment, [*messages, *said], extra_args or {}
