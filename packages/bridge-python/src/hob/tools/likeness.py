"""Names that an agent loop might take for one another.

Some loops repair an unknown tool name by likeness: Hermes takes the nearest offered name by `difflib`. So no
two verbs may be so close that one, or one with a typo of one letter, is taken for the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

CUTOFF: Final = 0.7
"""Hermes takes an unknown name for an offered one from this likeness on (`difflib`)."""


def too_close(names: Sequence[str]) -> tuple[str, str] | None:
    """Returns two names of which one may be taken for the other, and None if there are none.

    This holds also if only one of the two is offered: a call for a revoked cap must not become a call of
    another.
    """
    plain = [_plain(name) for name in names]
    for at, a in enumerate(plain):
        for other in range(at + 1, len(plain)):
            if _mistaken(a, plain[other]) or _mistaken(plain[other], a):
                return names[at], names[other]
    return None


@lru_cache(4096)
def _mistaken(a: str, b: str) -> bool:
    """True if `a`, or `a` with one typo, is taken for `b`."""
    if a == b:
        return True
    # Most names are so far apart that no typo needs to be tried.
    if _most_alike(a, b) < CUTOFF:
        return False
    return any(SequenceMatcher(None, b, typo).ratio() >= CUTOFF for typo in (a, *_typos(a, {*b, "-"})))


def _typos(name: str, letters: Iterable[str]) -> Iterator[str]:
    """Yields the name with one letter changed, left out or added, or two swapped. All letters that the other
    name lacks act alike, so one of them is enough."""
    for at in range(len(name) + 1):
        before, after = name[:at], name[at:]
        yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in letters:
            yield before + letter + after
            yield before + letter + after[1:]


def _plain(name: str) -> str:
    """Removes the differences that such repair ignores: case, - and _, and "tool" at the end."""
    return name.lower().replace("-", "_").removesuffix("_tool")


def _most_alike(a: str, b: str) -> float:
    """Upper bound of the likeness of `b` and `a` with one typo."""
    common = _common(a, b)
    kept = max(len(a) + len(b), 1)
    return max(2 * (common + 1) / kept, 2 * common / max(kept - 1, 1))


def _common(a: str, b: str) -> int:
    """Length of the longest common subsequence. `difflib` finds no more."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for at, y in enumerate(b):
            before, row[at + 1] = row[at + 1], before + 1 if x == y else max(row[at + 1], row[at])
    return row[-1]
