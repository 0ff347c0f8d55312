"""What a peer may make us do and keep. Decisions of the receiver: a peer cannot learn or change them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    frame_bytes: int = 1 << 20
    """Bytes of a frame."""
    tokens: int = 200_000
    """Structural characters of a text frame, counted before it is parsed."""
    depth: int = 128
    """Nesting of a value."""
    bigint_digits: int = 16_384
    questions: int = 65_536
    """Calls of the peer that are not answered yet: more are answered with `limit`."""
    exports: int = 65_536
    """References and promises given to the peer, and those taken from it."""
    buffered_bytes: int = 16 << 20
    """Bytes that may wait in the socket before the peer counts as one that does not read."""
    memory_bytes: int = 64 << 20
    """About all that this connection may make us keep: over it, it closes."""
    errors: int = 1000
    """Errors as values, in a frame."""


DEFAULT: Final = Limits()

OPERATIONS: Final = 4096
"""Operations of one frame."""
PROMISES: Final = 4096
"""Promises that one frame may bring."""
FREE_KEYS: Final = 4096
"""Keys of the records of a frame that cost no more than their colon."""
NEW_KEY: Final = 39
"""What each further one costs beside, in tokens, that is not among those after them yet."""
FREE_STRINGS: Final = 40_000
"""Short strings of a frame, keys left out, that cost no more than what stands between them."""
SHORT: Final = 10
MORE_STRING: Final = 8
FREE_LISTS: Final = 32_768
"""Lists and records of a frame that count as one token each."""
MORE_LIST: Final = 2
BIGINTS: Final = 8
"""Of the longest ones so many may be in a frame: reading and writing them costs the square of their digits."""

# About what an entry of a table takes, with what hangs on it (tracemalloc over 10,000 of each, rounded up).
CALL: Final = 2000
ANSWER: Final = 600
QUESTION: Final = 800
EXPORT: Final = 500
IMPORT: Final = 800
PROMISE: Final = 1200
