"""The package as its users have it: a wheel, installed in an empty environment."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from host_process import LONG

HERE = Path(__file__).parent.parent

needs_hatchling = pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None, reason="needs hatchling (pip install -e '.[test]')"
)


def installed_in_an_empty_environment(folder: Path) -> tuple[str, Path]:
    """Returns its interpreter, and the folder of its packages."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(HERE)], check=True, timeout=LONG)  # fmt: skip
    (wheel,) = folder.glob("hob_caps-*.whl")
    empty = folder / "venv"
    venv.create(empty, with_pip=False, symlinks=True)
    python = str(empty / "bin" / "python")
    subprocess.run([*pip, "--python", python, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True, timeout=LONG)  # fmt: skip
    (site,) = (empty / "lib").glob("python*/site-packages")
    # Its one dependency, from this environment.
    brought = importlib.util.find_spec("websockets")
    assert brought is not None and brought.origin is not None
    (site / "websockets").symlink_to(Path(brought.origin).parent)
    return python, site
