"""`python -m attacks [WORD …]`: plays the attacks, or those whose name has a word, and fails if one came to something
else than it states."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dojo.runner import dojo

from . import ATTACKS, played


async def main(words: Sequence[str]) -> int:
    """Plays the attacks one after the other. Returns the exit code."""
    folder = Path(tempfile.mkdtemp(prefix="hob-dojo-"))
    counts: Counter[tuple[str, str]] = Counter()
    wrong = 0
    chosen = [each for each in ATTACKS if not words or any(word in each.name for word in words)]
    try:
        async with dojo(folder) as made:
            kind = ""
            for attack in chosen:
                if attack.kind != kind:
                    kind = attack.kind
                    print(f"\n{kind}")
                stopped, scene = await asyncio.wait_for(played(made, attack), 120)
                said = "NOT STOPPED" if stopped is None else stopped
                fits = stopped == attack.stopped
                wrong += not fits
                counts[kind, said if fits else "wrong"] += 1
                print(
                    f"  {said:12} {attack.task:13} {attack.name}"
                    + ("" if fits else f"   EXPECTED {attack.stopped}, {scene.stops}"),
                    flush=True,
                )
            await made.audit()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print()
    for kind in dict.fromkeys(each.kind for each in chosen):
        own = {said: count for (of, said), count in counts.items() if of == kind}
        print(f"{kind}: {sum(own.values())}, " + ", ".join(f"{count} {said}" for said, count in sorted(own.items())))
    print(
        f"{len(chosen)} attacks, {sum(count for (_, said), count in counts.items() if said == 'NOT STOPPED')} of them not stopped, {wrong} other than stated"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
