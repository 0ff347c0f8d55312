"""Limits on the work and memory that a peer can cause.

The receiver decides them. A peer cannot read or change them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..data import DEPTH


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one connection."""

    frame_bytes: int = 1 << 20
    """Bytes of a frame."""
    tokens: int = 200_000
    """Structural characters of a text frame. They are counted before parsing."""
    depth: int = DEPTH
    """Nesting depth of a value."""
    bigint_digits: int = 16_384
    """Digits of one bigint."""
    questions: int = 65_536
    """Unanswered calls of the peer. Further calls fail with `limit`."""
    exports: int = 65_536
    """Exports, and separately imports, of one connection. More are refused with `limit`."""
    buffered_bytes: int = 16 << 20
    """Bytes that may wait in the socket. Above this, the peer counts as one that does not read."""
    memory_bytes: int = 64 << 20
    """Approximate memory that this connection may use. Above this, it closes."""
    errors: int = 1000
    """Errors as values, in one frame."""


DEFAULT: Final = Limits()

OPERATIONS: Final = 4096
"""Operations in one frame."""
PROMISES: Final = 4096
"""New promises in one frame."""
FREE_KEYS: Final = 4096
"""Keys of records in one frame that count as one token each."""
NEW_KEY: Final = 39
"""Tokens added for each further key that is new among those after the free ones."""
FREE_STRINGS: Final = 40_000
"""Short strings in one frame, without keys, that add no tokens."""
SHORT: Final = 10
"""Letters of a string that counts as short."""
MORE_STRING: Final = 8
"""Tokens added for each further short string."""
FREE_LISTS: Final = 32_768
"""Lists and records in one frame that count as one token each."""
MORE_LIST: Final = 2
"""Tokens added for each further list or record."""
BIGINTS: Final = 8
"""Longest bigints that fit in one frame. Reading and writing them costs the square of their digits."""
BROKEN_AT_ONCE: Final = 4096
"""Promises that are broken in one go when a connection ends. The others follow after other work has run."""

# Approximate memory of a table entry and of what it keeps alive (tracemalloc over 10,000 of each, rounded
# up).
CALL: Final = 2000
ANSWER: Final = 600
QUESTION: Final = 800
EXPORT: Final = 500
IMPORT: Final = 800
PROMISE: Final = 1200


class Account:
    """Memory of one session over all its connections, one after the other."""

    __slots__ = ("outliving",)

    def __init__(self) -> None:
        self.outliving = 0
        """Approximate bytes of calls that came by earlier connections and still run."""
