"""The package as it is installed from the folder."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from host_process import LONG

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


@pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="needs hatchling (pip install -e '.[test]')")
def test_it_installs_from_its_folder_into_an_empty_environment_typed_and_with_one_dependency(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(HERE)], check=True, timeout=LONG)
    (wheel,) = tmp_path.glob("hob_caps-*.whl")
    empty = tmp_path / "venv"
    venv.create(empty, with_pip=False, symlinks=True)
    python = str(empty / "bin" / "python")
    subprocess.run([*pip, "--python", python, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True, timeout=LONG)
    (site,) = (empty / "lib").glob("python*/site-packages")
    # Its one dependency, from this environment.
    brought = importlib.util.find_spec("websockets")
    assert brought is not None and brought.origin is not None
    (site / "websockets").symlink_to(Path(brought.origin).parent)
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


def test_importing_it_opens_no_socket_and_starts_no_thread() -> None:
    look = "import sys, hob; print([name for name in ('websockets', 'ssl', 'http', 'inspect_') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(HERE / "src")})  # fmt: skip
    assert done.stdout.strip() in ("[]", "['ssl']")


def test_every_public_name_has_types() -> None:
    import hob

    for name in hob.__all__:
        assert getattr(hob, name) is not None
    with pytest.raises(AttributeError):
        hob.nothing  # noqa: B018
