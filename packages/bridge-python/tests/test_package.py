"""What somebody gets who installs the folder."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent


@pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="needs hatchling (pip install -e '.[test]')")
def test_it_installs_from_its_folder_typed_and_with_one_dependency(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(tmp_path), str(HERE)], check=True, timeout=60)
    assert (tmp_path / "hob" / "py.typed").exists()
    look = "import hob, importlib.metadata as m; print(hob.__file__, m.requires('hob-caps'), hob.E)"
    done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {look}"], capture_output=True, text=True, check=True)  # fmt: skip
    assert str(tmp_path) in done.stdout
    assert [line for line in done.stdout.split("'") if line.startswith("websockets")] == ["websockets>=13"]


def test_it_is_there_without_a_socket_or_a_thread() -> None:
    look = "import sys, hob; print([name for name in ('websockets', 'ssl', 'http', 'inspect_') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(HERE / "src")})  # fmt: skip
    assert done.stdout.strip() in ("[]", "['ssl']")


def test_the_types_of_all_are_there() -> None:
    import hob

    for name in hob.__all__:
        assert getattr(hob, name) is not None
    with pytest.raises(AttributeError):
        hob.nothing  # noqa: B018
