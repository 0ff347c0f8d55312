"""Finds the real Hermes in the virtual environments that `scripts/hermes.mjs` makes for the tests.

`hermes(version)` returns the interpreter. If it is missing, the test is skipped with the reason, or fails if
HOB_REQUIRE says that this machine has Hermes.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

import hob

VERSIONS = ("0.17.0", "0.19.0")
BRIDGE = Path(__file__).resolve().parent.parent
TOOLCHAIN = BRIDGE.parent.parent / ".toolchain"
# The package under test, which may be a copy.
SRC = Path(hob.__file__).resolve().parent.parent


def hermes(version: str) -> str:
    wanted = hashlib.sha256((BRIDGE / "hermes" / f"{version}.txt").read_bytes()).hexdigest()
    for folder in sorted(TOOLCHAIN.glob(f"hermes-{version}-*")):
        stamp, python = folder / "hob-stamp", folder / "bin" / "python"
        if stamp.is_file() and python.exists() and stamp.read_text() == wanted:
            return str(python)
    reason = TOOLCHAIN / "hermes-missing"
    said = reason.read_text() if reason.is_file() else "npm run test:deep installs it"
    missing = f"needs hermes-agent {version} in .toolchain/ ({said})"
    if "hermes" in [name.strip() for name in os.environ.get("HOB_REQUIRE", "").split(",")]:
        pytest.fail(f"HOB_REQUIRE names hermes, which this machine lacks: {missing}")
    pytest.skip(missing)
