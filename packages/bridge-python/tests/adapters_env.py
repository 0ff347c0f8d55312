"""Finds the agent frameworks in the virtual environment that `scripts/adapters.mjs` makes for the tests.

`adapters()` returns its interpreter. If it is missing, the test is skipped with the reason, or fails if
HOB_REQUIRE says that this machine has it.
"""

from __future__ import annotations

import hashlib
import os

import pytest
from hermes_env import BRIDGE, TOOLCHAIN


def adapters() -> str:
    wanted = hashlib.sha256((BRIDGE / "adapters" / "adapters.txt").read_bytes()).hexdigest()
    for folder in sorted(TOOLCHAIN.glob("adapters-*")):
        stamp, python = folder / "hob-stamp", folder / "bin" / "python"
        if stamp.is_file() and python.exists() and stamp.read_text() == wanted:
            return str(python)
    reason = TOOLCHAIN / "adapters-missing"
    said = reason.read_text() if reason.is_file() else "npm run test:deep installs them"
    missing = f"needs the agent frameworks of Python in .toolchain/ ({said})"
    if "adapters" in [name.strip() for name in os.environ.get("HOB_REQUIRE", "").split(",")]:
        pytest.fail(f"HOB_REQUIRE names adapters, which this machine lacks: {missing}")
    pytest.skip(missing)
