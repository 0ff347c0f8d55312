"""The shim as a child process over one version of Hermes: a line in, its verdict out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_env import SRC, VERSIONS, hermes
from host_process import LONG


class Shim:
    def __init__(self, version: str, root: Path, *, cwd: Path | None = None, **env: str) -> None:
        self.version = version
        self.root = root
        self.home = root / "home"
        self.work = root / "work"
        self.hermes_home = self.home / ".hermes"
        self.process = subprocess.Popen(
            [hermes(version), "-m", "hob.hermes_shim", "--root", str(root)],
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(SRC), **env},
        )

    def line(self, line: bytes) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the shim is gone"
        return json.loads(answer)

    def ask(self, op: str, /, **fields: Any) -> Any:
        sent = {"op": op, **fields}
        answer = self.line(json.dumps(sent).encode())
        verdict = answer.pop("verdict")
        assert answer == sent
        return verdict

    def error(self, op: str, /, **fields: Any) -> str:
        return str(self.ask(op, **fields)["error"]["code"])

    def close(self) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(LONG)
        self.process.stdout.close()
        return code


def made(version: str, root: Path, *, cwd: Path | None = None, **env: str) -> Iterator[Shim]:
    shim = Shim(version, root, cwd=cwd, **env)
    try:
        yield shim
        assert shim.close() == 0
    finally:
        if shim.process.poll() is None:
            shim.process.kill()
            shim.process.wait()


# In each test file: `shim = both()`.
def both() -> Any:
    @pytest.fixture(scope="module", params=VERSIONS)
    def shim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shim]:
        yield from made(request.param, tmp_path_factory.mktemp("shim"))

    return shim
