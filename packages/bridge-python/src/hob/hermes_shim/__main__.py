"""`python3 -m hob.hermes_shim [--ops] [--root DIR] [--home DIR] [--hermes-home DIR] [--work DIR]`: JSON lines
in and out.

Promise: each line in gives one line out, in order, whatever the line contains and whatever Hermes does with
it. Text that Hermes prints or reads from a terminal never mixes with the lines.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from typing import IO, Any

from . import callers, edits, guards, hooks, loops, paths, patterns, tools  # noqa: F401  each enters its operations
from .ops import COMMON, OPS, Refusal
from .serve import Server
from .world import enter, make


def main() -> int:
    """Writes one line to stdout for each line of stdin that is not blank, until stdin ends. With `--ops`, prints the
    operations. Returns 0. Raises `SystemExit` if the arguments are wrong."""
    parser = argparse.ArgumentParser(prog="hob.hermes_shim", description="What the real Hermes says and does, one JSON line at a time.")
    parser.add_argument("--ops", action="store_true", help="print the operations with their fields, and leave")
    parser.add_argument("--root", help="where the world is made (default: a temporary directory, removed at the end)")
    parser.add_argument("--home", help="HOME (default: ROOT/home)")
    parser.add_argument("--hermes-home", help="HERMES_HOME (default: HOME/.hermes)")
    parser.add_argument("--work", help="the working directory (default: ROOT/work)")
    options = parser.parse_args()
    if options.ops:
        print(json.dumps({"ops": {each.name: {"fields": each.fields, "verdict": each.answers} for each in OPS.values()}, "common": COMMON}, indent=1))
        return 0
    lines, answers = _apart_from_the_terminal()
    logging.disable(logging.CRITICAL)
    world = make(options.root, options.home, options.hermes_home, options.work)
    enter(world)
    server = Server(world)
    try:
        for line in lines:
            if line.strip():
                answers.write(json.dumps(_answer(server, line), default=str) + "\n")
                answers.flush()
    finally:
        server.close()
        world.remove()
    return 0


def _answer(server: Server, line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError as error:  # also for bytes that are not UTF-8, and for numbers with too many digits
        return _refused({"line": line.decode("utf-8", "replace").rstrip("\n")}, Refusal("not-json", str(error)))
    except RecursionError:
        return _refused({"line": line.decode("utf-8", "replace").rstrip("\n")}, Refusal("not-json", "nested too deeply"))
    if not isinstance(fields, dict):
        return _refused({"line": fields}, Refusal("bad-input", "a line is an object with an op"))
    try:
        return {**fields, "verdict": server.ask(fields)}
    except Refusal as refusal:
        return _refused(fields, refusal)
    except Exception as error:  # a fault of the shim costs only its line
        return _refused(fields, Refusal("fault", f"{type(error).__name__}: {error}"))


def _refused(fields: dict[str, Any], refusal: Refusal) -> dict[str, Any]:
    return {**fields, "verdict": {"error": {"code": refusal.code, "message": str(refusal)}}}


def _apart_from_the_terminal() -> tuple[IO[bytes], IO[str]]:
    """Moves our two streams to descriptors of their own. Hermes and its children get an empty stdin, and
    print to stderr."""
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return lines, answers


if __name__ == "__main__":
    sys.exit(main())
