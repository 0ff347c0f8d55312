"""The package in an empty environment, and type checkers of its users. Each test takes seconds: `npm run test:deep` runs them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from host_process import LONG
from wheel import installed_in_an_empty_environment, needs_hatchling

HERE = Path(__file__).parent.parent

USERS = """
import asyncio
import hob
from hob import E

async def main() -> None:
    async with await hob.connect("ws://127.0.0.1:4711", "secret") as session:
        names: list[str] = await session.caps()
        cap: hob.Promise = session["workspace"]
        print(names, await E(cap).readText("a.txt"))
"""


@needs_hatchling
def test_it_installs_from_its_folder_into_an_empty_environment_typed_and_with_one_dependency(tmp_path: Path) -> None:
    python, site = installed_in_an_empty_environment(tmp_path)
    look = "import hob, hob.sync, hob.tools, importlib.metadata as m; hob.connect; print(hob.__file__, [r for r in m.requires('hob-caps') if 'extra' not in r])"
    done = subprocess.run([python, "-I", "-c", look], capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 0, done.stderr
    assert str(site) in done.stdout and done.stdout.strip().endswith("['websockets>=13']")
    # Its users have its types.
    user = tmp_path / "user.py"
    user.write_text(USERS)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", str(tmp_path / "mypy"), str(user)]
    checked = subprocess.run(mypy, capture_output=True, text=True, cwd=tmp_path, timeout=LONG)
    assert checked.returncode == 0, checked.stdout
    user.write_text(USERS.replace("list[str]", "list[int]"))
    assert subprocess.run(mypy, capture_output=True, text=True, cwd=tmp_path, timeout=LONG).returncode == 1


PYRIGHT = HERE.parents[1] / "node_modules" / "pyright" / "index.js"


@pytest.mark.skipif(not PYRIGHT.exists() or shutil.which("node") is None, reason="needs node and pyright (npm run check)")
def test_pyright_finds_no_error() -> None:
    done = subprocess.run(["node", str(PYRIGHT), "--pythonpath", sys.executable], cwd=HERE, capture_output=True, text=True, timeout=LONG)  # fmt: skip
    assert done.returncode == 0, done.stdout
