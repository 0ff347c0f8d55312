"""`python -m dojo`: see `--help`, and README.md beside this folder."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from .grants import MODES
from .outcomes import differences, record
from .runner import dojo, run_all
from .suites import SUITES, VERSIONS, Pair, pairs
from .table import Row, report


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        prog="npm run agentdojo --",
        description="AgentDojo through a real Hob host",
    )
    parser.add_argument("--version", choices=VERSIONS, action="append", help="v1.1.2 has 629 pairs, v1.2.2 has 949")
    parser.add_argument("--suite", choices=SUITES, action="append", help="without it: travel, banking, slack")
    parser.add_argument("--mode", choices=MODES, action="append", help="without it: all four")
    parser.add_argument(
        "--task", type=int, action="append", metavar="N", help="the user's tasks with these numbers only"
    )
    parser.add_argument("--attacker", type=int, action="append", metavar="N", help="these attackers only")
    parser.add_argument("--all", action="store_true", help="both versions, all suites (about half an hour)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth pair only")
    parser.add_argument(
        "--show", action="store_true", help="name the pairs: of none the attacks that failed, else those that did not"
    )
    parser.add_argument(
        "--record", action="store_true", help="write the outcomes into outcomes.json, and compare with nothing"
    )
    parser.add_argument("--workers", type=int, default=4)
    return parser.parse_args(words)


def number(task: str | None) -> int | None:
    """The number of a task of a user or an attacker."""
    return None if task is None else int(task.rpartition("_")[2])


def chosen(options: argparse.Namespace) -> list[Pair]:
    """The pairs that the options name: first those without an attack, then the others."""
    suites = options.suite or (SUITES if options.all else SUITES[1:])
    versions = options.version or (VERSIONS if options.all else VERSIONS[:1])
    found = [
        pair
        for version in versions
        for suite in suites
        for attacked in (False, True)
        for pair in pairs(version, suite, attacked=attacked)
        if options.task is None or number(pair.user) in options.task
        if options.attacker is None or number(pair.injection) in options.attacker
    ]
    return found[:: options.every]


def shown(rows: Sequence[Row]) -> list[str]:
    """The pairs that a reader of the table asks for."""
    lines: list[str] = []
    for row in rows:
        odd = row.attacked == (row.mode != "none") and row.pair.injection is not None and not row.words
        if odd or (not row.done and row.mode in ("coarse", "ask")):
            lines.append(
                f"{row.mode}: {row.pair}: {'attacked' if row.attacked else 'not attacked'}, {'done' if row.done else 'not done'}"
            )
    return sorted(lines)


async def main(options: argparse.Namespace) -> int:
    """Runs, and prints the table. Returns the exit code."""
    begun = time.monotonic()
    wanted = chosen(options)
    modes = [mode for mode in MODES if options.mode is None or mode in options.mode]
    print(f"{len(wanted)} pairs and tasks, in {', '.join(modes)}", flush=True)
    count = 0

    def tell(_row: Row) -> None:
        nonlocal count
        count += 1
        if count % 200 == 0:
            print(
                f"  {count} of {len(wanted) * len(modes)} ({time.monotonic() - begun:.0f} s)",
                file=sys.stderr,
                flush=True,
            )

    rows: list[Row] = []
    calls = 0
    for (_, suite), own in itertools.groupby(wanted, lambda pair: (pair.version, pair.suite)):
        # The path of a socket is short. Each suite has a host of its own.
        folder = Path(tempfile.mkdtemp(prefix=f"hob-{suite}-"))
        try:
            async with dojo(folder) as made:
                rows += await run_all(made, list(own), modes, options.workers, tell)
                calls += await made.audit()
            if options.record:
                record(rows)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(report(rows))
    if options.show:
        print("\n".join(shown(rows)))
    tried = sum(row.calls for row in rows)
    print(
        f"\n{tried} calls: {tried - sum(row.refused for row in rows)} reached a tool, {sum(row.refused for row in rows)} were refused."
        f"\nEach was as the reference model says. The ledgers verify, and have the {calls} calls that the tools ran."
        f"\n{time.monotonic() - begun:.0f} s"
    )
    if options.record:
        return 0
    changed = differences(rows)
    print("Each pair came to what outcomes.json says." if not changed else "\n".join(["CHANGED:", *changed]))
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(arguments(sys.argv[1:]))))
