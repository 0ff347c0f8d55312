"""Reads a secret from a file that only its owner may read. No error has the secret or the name of the file."""

from __future__ import annotations

import os
import stat

from .errors import Invalid


def read_secret(path: str, named: str, *, links: bool = True) -> str:
    """Returns the secret in a file. `named` is where its name came from, for the error. With `links=False` the
    name must be that of the file itself, so that whoever removes it removes the secret. Raises `Invalid`."""
    follow = 0 if links else os.O_NOFOLLOW
    try:
        descriptor = os.open(os.path.expanduser(path), os.O_RDONLY | os.O_NONBLOCK | follow)
    except OSError:
        raise Invalid(f"the file of the secret ({named}) cannot be read: check its name and its owner") from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
            raise Invalid(f"the file of the secret ({named}) must belong to you, and nobody else may read it: chmod 600")
        return os.read(descriptor, 4096).decode(errors="replace").strip()
    finally:
        os.close(descriptor)
