"""The package as it is installed from the folder."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import hob
import pytest
from host_process import LONG
from wheel import needs_hatchling

HERE = Path(__file__).parent.parent


@needs_hatchling
def test_the_wheel_and_the_sdist_have_the_licence_and_the_version(tmp_path: Path) -> None:
    for kind in ("wheel", "sdist"):
        subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(tmp_path)], cwd=HERE, check=True, timeout=LONG, capture_output=True)  # fmt: skip
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    licence = (HERE.parents[1] / "LICENSE").read_bytes()
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (each for each in packed.namelist() if each.endswith("/LICENSE"))
        assert packed.read(name) == licence
        assert not [each for each in packed.namelist() if each.startswith("tests/")]
    with tarfile.open(sdist) as packed_source:
        names = {each.partition("/")[2] for each in packed_source.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "src/hob/__init__.py", "src/hob/py.typed"} <= names
    assert f"-{hob.__version__}-" in wheel.name and sdist.name.endswith(f"-{hob.__version__}.tar.gz")


def test_the_readme_links_to_nothing_outside_the_package() -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", (HERE / "README.md").read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#][^)]*)\)", text)
    assert [link for link in links if "://" not in link and not (HERE / link).exists()] == []
    assert [link for link in links if link.startswith("..")] == []


def test_no_module_changes_another_one_when_it_is_imported() -> None:
    changed = []
    for file in (HERE / "src").rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            changed += [f"{file.name}:{node.lineno}" for each in targets if isinstance(each, ast.Attribute)]
    assert changed == []


def test_each_public_definition_says_what_it_is_for() -> None:
    """In the whole package. A name that begins with `_` is not public."""
    silent = []

    def visit(node: ast.Module | ast.ClassDef, prefix: str) -> None:
        for each in node.body:
            if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or each.name[0] == "_":
                continue
            if not ast.get_docstring(each):
                silent.append(f"{prefix}{each.name}")
            if isinstance(each, ast.ClassDef):
                visit(each, f"{prefix}{each.name}.")

    package = HERE / "src" / "hob"
    files = list(package.rglob("*.py"))
    assert files
    for file in files:
        visit(ast.parse(file.read_text()), f"{file.relative_to(package)}: ")
    assert silent == []


def test_importing_it_opens_no_socket_and_starts_no_thread() -> None:
    look = "import sys, hob; print([name for name in ('websockets', 'ssl', 'http', 'inspect_') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(HERE / "src")})  # fmt: skip
    assert done.stdout.strip() in ("[]", "['ssl']")


def test_every_public_name_has_types() -> None:
    for name in hob.__all__:
        assert getattr(hob, name) is not None
    with pytest.raises(AttributeError):
        hob.nothing  # noqa: B018
