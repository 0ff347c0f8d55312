"""The address of a host: `ws://127.0.0.1:4711`, `wss://hob.example.org`, or `ws+unix:/run/hob/socket:/`."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from websockets.exceptions import WebSocketException
from websockets.uri import WebSocketURI, parse_uri

from .errors import Invalid

UNIX: Final = re.compile(r"ws\+unix:(?://)?(/[^/:\0][^:\0]*)(?::/)?")


@dataclass(frozen=True, slots=True)
class Address:
    uri: WebSocketURI
    """Its host is the name that the client says."""
    path: str | None
    """The path of a Unix socket."""

    @classmethod
    def parse(cls, url: str) -> Self:
        """Raises `Invalid`."""
        unix = UNIX.fullmatch(url)
        if unix is not None:
            # A host on a Unix socket has this name for its clients.
            return cls(parse_uri("ws://localhost/"), unix[1])
        try:
            return cls(parse_uri(url), None)
        except WebSocketException:
            raise Invalid(
                "the address of a host looks like ws://127.0.0.1:4711 or ws+unix:/run/hob/socket:/"
            ) from None

    async def dial(
        self, loop: asyncio.AbstractEventLoop, protocol: Callable[[], asyncio.Protocol]
    ) -> asyncio.Transport:
        """Raises `OSError`."""
        if self.path is not None:
            transport, _ = await loop.create_unix_connection(protocol, self.path)
        else:
            tls = ssl.create_default_context() if self.uri.secure else None
            transport, _ = await loop.create_connection(protocol, self.uri.host, self.uri.port, ssl=tls)
        return transport
