"""`python -m dojo`: see `--help`, and README.md beside this folder."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from .grants import MODES
from .runner import dojo, run_all
from .suites import SUITES, VERSIONS, Pair, pairs
from .table import Row, report


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="npm run agentdojo --", description="AgentDojo through a real Hob host")
    parser.add_argument("--version", choices=VERSIONS, action="append", help="v1.1.2 has 629 pairs, v1.2.2 has 949")
    parser.add_argument("--suite", choices=SUITES, action="append", help="without it: travel, banking, slack")
    parser.add_argument("--mode", choices=MODES, action="append", help="without it: all four")
    parser.add_argument("--all", action="store_true", help="both versions, all suites (about half an hour)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth pair only")
    parser.add_argument("--workers", type=int, default=4)
    return parser.parse_args(words)


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
    ]
    return found[:: options.every]


async def main(options: argparse.Namespace) -> int:
    """Runs, and prints the table. Returns the exit code."""
    # The path of a socket is short.
    folder = Path(tempfile.mkdtemp(prefix="hob-dojo-"))
    begun = time.monotonic()
    wanted = chosen(options)
    modes = [mode for mode in MODES if options.mode is None or mode in options.mode]
    print(f"{len(wanted)} pairs and tasks, in {', '.join(modes)}", flush=True)
    count = 0

    def tell(_row: Row) -> None:
        nonlocal count
        count += 1
        if count % 200 == 0:
            print(f"  {count} of {len(wanted) * len(modes)} ({time.monotonic() - begun:.0f} s)", file=sys.stderr, flush=True)

    try:
        async with dojo(folder) as made:
            rows = await run_all(made, wanted, modes, options.workers, tell)
            calls = await made.audit()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(report(rows))
    tried = sum(row.calls for row in rows)
    print(
        f"\n{tried} calls: {tried - sum(row.refused for row in rows)} reached a tool, {sum(row.refused for row in rows)} were refused."
        f"\nEach was as the reference model says. The ledger verifies, and has the {calls} calls that the tools ran."
        f"\n{time.monotonic() - begun:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(arguments(sys.argv[1:]))))
