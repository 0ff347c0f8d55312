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

from .errors import Invalid, Unavailable

UNIX: Final = re.compile(r"ws\+unix:(?://)?(/[^/:\0][^:\0]*)(?::/)?")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a host listens, taken apart."""

    uri: WebSocketURI
    """Its host is the name that the client says."""
    path: str | None
    """The path of a Unix socket."""
    ca: str | None = None
    """Certificates (PEM) that may sign the host's, besides those of the machine."""

    @classmethod
    def parse(cls, url: str, ca: str | None = None) -> Self:
        """Raises `Invalid`, also if `ca` has no certificate."""
        if ca is not None:
            _trusting(ca)
        unix = UNIX.fullmatch(url)
        if unix is not None:
            # A host on a Unix socket has this name for its clients.
            return cls(parse_uri("ws://localhost/"), unix[1])
        try:
            return cls(parse_uri(url), None, ca)
        except WebSocketException:
            raise Invalid(
                "the address of a host looks like ws://127.0.0.1:4711 or ws+unix:/run/hob/socket:/"
            ) from None

    async def dial(
        self, loop: asyncio.AbstractEventLoop, protocol: Callable[[], asyncio.Protocol]
    ) -> asyncio.Transport:
        """Raises `OSError`, `Unavailable` (nobody that is trusted here signed the certificate of the host)."""
        if self.path is not None:
            transport, _ = await loop.create_unix_connection(protocol, self.path)
        else:
            tls = _trusting(self.ca) if self.uri.secure else None
            try:
                transport, _ = await loop.create_connection(protocol, self.uri.host, self.uri.port, ssl=tls)
            except ssl.SSLError:
                raise Unavailable(
                    "the certificate of this host is not trusted here: give that of its authority as ca, in PEM"
                ) from None
        return transport


def _trusting(ca: str | None) -> ssl.SSLContext:
    tls = ssl.create_default_context()
    if ca is None:
        return tls
    try:
        # Bytes would be read as DER.
        tls.load_verify_locations(cadata=str(ca))
    except (ssl.SSLError, ValueError):
        raise Invalid("ca has the certificates of a private authority in PEM, as text") from None
    return tls
