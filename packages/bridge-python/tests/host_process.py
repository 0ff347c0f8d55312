"""A real host in a process of its own: `packages/host/test/host-for-python.ts`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
LONG = 400.0
"""Seconds after which a test that hangs ends. No machine is so busy."""


def node_is_missing() -> str:
    """Returns why no host can be started here; empty if one can."""
    node = shutil.which("node")
    if node is None or not (ROOT / "node_modules").exists():
        return "needs Node 24 and the packages of the checkout (npm test sets them up)"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return "" if int(version[1:].split(".")[0]) >= 24 else "needs Node 24 first in PATH (npm test sets it up)"


class HostProcess:
    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hob-py-"))
        self.root = self.folder / "root"
        (self.root / "src").mkdir(parents=True)
        (self.root / "notes.txt").write_text("notes\n")
        (self.root / "src" / "a.txt").write_text("text of a\n")
        (self.root / "big.bin").write_bytes(bytes(range(256)) * 4096)
        (self.folder / "state").mkdir()
        self.process = subprocess.Popen(
            ["node", str(ROOT / "packages/host/test/host-for-python.ts"), str(self.folder / "state"), str(self.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "")},
        )
        said = self._read()
        self.url: str = said["url"]
        self.granter_secret: str = said["granter"]
        self._sessions = 0
        self._alone = threading.Lock()

    def _read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the host ended"
        return json.loads(line)

    def do(self, *what: Any) -> Any:
        assert self.process.stdin is not None
        with self._alone:
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()
            said = self._read()
        assert "value" in said, said
        return said["value"]

    def session(self) -> tuple[str, str]:
        """Makes a session. Returns its id and secret."""
        self._sessions += 1
        made = self.do("open", f"agent-{'abcdefghjkmnpqrtuvwxy'[self._sessions % 21]}{self._sessions * 7}")
        return made["id"], made["secret"]

    def until(self, sees: Callable[[list[dict[str, Any]]], bool]) -> None:
        """Waits until a line of the ledger matches."""
        end = time.monotonic() + LONG
        while not sees(self.do("ledger")):
            assert time.monotonic() < end, "it was not to be seen in the ledger"
            time.sleep(0.05)

    def kill(self) -> None:
        """kill -9"""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            try:
                self.process.wait(LONG)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.process.stdout is not None:
            self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def skips_without_node() -> bool:
    """True if tests without a host are skipped. If HOB_REQUIRE names Python, they fail instead."""
    required = [name.strip() for name in os.environ.get("HOB_REQUIRE", "").split(",")]
    return bool(node_is_missing()) and "python" not in required


needs_node = pytest.mark.skipif(skips_without_node(), reason=node_is_missing() or "it is there")
