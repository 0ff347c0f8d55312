"""How a program finds its session: `HOB_URL` names the host, and the secret comes by a file or from a person.

Promise: the secret is in no command line and in no environment. Once the session is entered, no program that
this one starts finds the way into it: the file is removed, and both variables are gone. It is what
`npm run agent` does for programs of TypeScript.
"""

from __future__ import annotations

import getpass
import os
import sys

from .captp.limits import Limits
from .errors import Invalid
from .secret_file import read_secret
from .sessions import Session, connect


async def enter(*, limits: Limits | None = None, timeout: float = 30.0, ca: str | None = None) -> Session:
    """Enters the session of this program, as `hob start` sets it up: on the host of `HOB_URL`, with the secret
    in the file that `HOB_SECRET_FILE` names. The file is removed. Without one, the secret is asked for on the
    terminal, or is the first line of the standard input. Raises what `connect` raises."""
    url, secret = take()
    return await connect(url, secret, limits=limits, timeout=timeout, ca=ca)


def take() -> tuple[str, str]:
    """Returns the address and the secret, and removes both from where they were. Raises `Invalid`."""
    url, file = os.environ.pop("HOB_URL", ""), os.environ.pop("HOB_SECRET_FILE", "")
    if not url:
        raise Invalid("HOB_URL says which host to enter: set it to the address that the host prints")
    if file:
        secret = read_secret(file, "HOB_SECRET_FILE", links=False)
        try:
            os.remove(file)
        except OSError:
            # A secret that stays in a file is read again by somebody.
            raise Invalid("the file of HOB_SECRET_FILE cannot be removed: put it in a folder that you may write") from None
    elif sys.stdin.isatty():
        secret = getpass.getpass("The session's secret (its host showed it once): ").strip()
    else:
        secret = sys.stdin.readline().strip()
    if not secret:
        raise Invalid("no secret was given: type it, pipe it in as the first line, or name its file in HOB_SECRET_FILE")
    return url, secret
