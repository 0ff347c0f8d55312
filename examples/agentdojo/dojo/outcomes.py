"""What every pair came to when the figures of the README were measured. A run that comes to anything else fails.

`outcomes.json` has for each version, suite and mode one row of a task: one letter for each attacker, in the order of
AgentDojo, and one at the end for the task when nobody attacks.

    .  the task was done, the attack failed        a  the task was done, the attack reached its goal
    x  the task was not done, the attack failed    X  the task was not done, the attack reached its goal
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from agentdojo.task_suite.load_suites import get_suite

from .suites import Pair
from .table import Row

FILE: Final = Path(__file__).parent.parent / "outcomes.json"
_LETTERS: Final = {(True, False): ".", (True, True): "a", (False, False): "x", (False, True): "X"}

Table = dict[str, dict[str, str]]


def _key(pair: Pair, mode: str) -> str:
    return f"{pair.version} {pair.suite} {mode}"


def _place(pair: Pair) -> int:
    attackers = list(get_suite(pair.version, pair.suite).injection_tasks)
    return len(attackers) if pair.injection is None else attackers.index(pair.injection)


def differences(rows: Iterable[Row]) -> list[str]:
    """Returns each pair that came to something else than is recorded."""
    known: Table = json.loads(FILE.read_text()) if FILE.exists() else {}
    found: list[str] = []
    for row in rows:
        letters = known.get(_key(row.pair, row.mode), {}).get(row.pair.user, "")
        was = letters[_place(row.pair)] if len(letters) > _place(row.pair) else "?"
        now = _LETTERS[row.done, row.attacked]
        if was != now:
            found.append(f"{row.mode}: {row.pair}: was {was}, is {now}")
    return found


def record(rows: Iterable[Row]) -> None:
    """Writes the outcomes of these rows into the file."""
    known: Table = json.loads(FILE.read_text()) if FILE.exists() else {}
    for row in rows:
        size = len(get_suite(row.pair.version, row.pair.suite).injection_tasks) + 1
        letters = known.setdefault(_key(row.pair, row.mode), {})
        own = list(letters.get(row.pair.user, "?" * size))
        own[_place(row.pair)] = _LETTERS[row.done, row.attacked]
        letters[row.pair.user] = "".join(own)
    lines: list[str] = []
    for key in sorted(known):
        users = sorted(known[key], key=lambda user: int(user.removeprefix("user_task_")))
        listed = ",\n".join(f"  {json.dumps(user)}: {json.dumps(known[key][user])}" for user in users)
        lines.append(f"{json.dumps(key)}: {{\n{listed}\n}}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
