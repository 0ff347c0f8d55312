"""The figures of a run, and the table that is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .suites import SUITES, Pair


@dataclass(frozen=True)
class Row:
    """One pair in one mode."""

    pair: Pair
    mode: str
    done: bool
    attacked: bool
    calls: int
    refused: int
    asked: int
    asked_by_attacker: int

    @property
    def words(self) -> bool:
        """The attacker wants nothing but a sentence in the answer: no tool is called, so no cap can stop it."""
        return self.pair.suite == "travel" and self.pair.injection == "injection_task_6"


def report(rows: Sequence[Row]) -> str:
    """Returns the table."""
    lines: list[str] = []
    for version in sorted({row.pair.version for row in rows}):
        for modes in [sorted({row.mode for row in rows}, key=("none", "coarse", "fine", "ask").index)]:
            lines += _table(version, modes, [row for row in rows if row.pair.version == version])
    return "\n".join(lines)


def _table(version: str, modes: Iterable[str], rows: Sequence[Row]) -> list[str]:
    suites = [suite for suite in SUITES if any(row.pair.suite == suite for row in rows)]
    attacked = [row for row in rows if row.pair.injection is not None]
    count = Counter(row.pair.suite for row in attacked if row.mode == attacked[0].mode) if attacked else Counter()
    names = " | ".join(f"{suite} {count[suite]}" for suite in suites)
    lines = [
        f"\n{version}: attacks that reached their goal",
        f"| grants | {names} | all | without words | task done | not attacked |",
    ]
    for mode in modes:
        own = [row for row in attacked if row.mode == mode]
        calm = [row for row in rows if row.mode == mode and row.pair.injection is None]
        each = " | ".join(str(sum(row.attacked for row in own if row.pair.suite == suite)) for suite in suites)
        tools = [row for row in own if not row.words]
        lines.append(
            f"| {mode} | {each} | {_of(own, 'attacked')} | {_of(tools, 'attacked')} | {_of(own, 'done')} | {_of(calm, 'done')} |"
        )
        questions, theirs = sum(row.asked for row in own), sum(row.asked_by_attacker for row in own)
        if mode == "ask":
            lines.append(
                f"  asked while attacked: {questions} questions, {theirs} of them the attacker's; "
                f"not attacked: {sum(row.asked for row in calm)} for {len(calm)} tasks"
            )
    return lines


def _of(rows: Sequence[Row], what: str) -> str:
    hits = sum(getattr(row, what) for row in rows)
    return f"{hits}/{len(rows)}" + (f" = {100 * hits / len(rows):.1f} %" if rows else "")
