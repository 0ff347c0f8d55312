"""Where the plugin for Hermes finds the secret of its session. No program that Hermes starts finds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import hob
import pytest
from hob.hermes import settings
from host_process import LONG, HostProcess, needs_node


def config(**entry: Any) -> dict[str, Any]:
    return {"plugins": {"entries": {"hob": {"url": "ws://127.0.0.1:1", **entry}}}}


def test_the_secret_is_read_from_a_file_that_only_its_owner_may_read(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("hob1_abc\n")
    file.chmod(0o600)
    assert settings.read(config(secret_file=str(file)), {}).secret == "hob1_abc"
    assert settings.read(config(secret="other"), {"HOB_SECRET_FILE": str(file)}).secret == "hob1_abc"
    assert "hob1" not in repr(settings.read(config(secret_file=str(file)), {}))
    # It is configuration: the next start of Hermes reads it again.
    assert file.exists()


def test_a_file_that_others_may_read_or_that_is_no_file_is_refused_without_its_content(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("hob1_abc\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for mode in (0o644, 0o640, 0o604):
        file.chmod(mode)
        with pytest.raises(hob.Invalid, match="chmod 600") as refused:
            settings.read(config(secret_file=str(file)), {})
        assert "hob1" not in str(refused.value) and str(tmp_path) not in str(refused.value)
    for other in (tmp_path / "none", tmp_path, pipe):
        with pytest.raises(hob.Invalid):
            settings.read(config(secret_file=str(other)), {})


def test_a_secret_in_the_environment_is_removed_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOB_SECRET", "hob1_abc")
    assert settings.read(config()).secret == "hob1_abc"
    settings.forget_environment()
    seen = subprocess.run([sys.executable, "-c", "import os; print(dict(os.environ))"], capture_output=True, text=True, check=True)
    assert "hob1_abc" not in seen.stdout


ENTERS = """
import asyncio, os, hob, subprocess, sys
async def main():
    async with await hob.enter() as session:
        print(await session.caps())
asyncio.run(main())
left = "import os; print([name for name in os.environ if name.startswith('HOB')])"
print(subprocess.run([sys.executable, "-c", left], capture_output=True, text=True).stdout)
"""


def entering(environment: dict[str, str], said: str = "") -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment}
    return subprocess.run([sys.executable, "-c", ENTERS], env=env, input=said, capture_output=True, text=True, timeout=LONG)


@needs_node
def test_a_program_enters_with_the_file_which_is_removed_and_leaves_nothing_for_programs_that_it_starts(host: HostProcess, tmp_path: Path) -> None:
    session, secret = host.session()
    with hob.sync.connect_granter(host.url, host.granter_secret) as granter:
        granter.grant(session, "notes", "directory")
    file = tmp_path / "secret"
    file.write_text(f"{secret}\n")
    file.chmod(0o600)
    done = entering({"HOB_URL": host.url, "HOB_SECRET_FILE": str(file)})
    assert done.stdout.split("\n")[:2] == ["['notes']", "[]"], done.stderr
    assert not file.exists()
    # Or with the first line of the standard input.
    assert entering({"HOB_URL": host.url}, f"{secret}\n").stdout.startswith("['notes']")


def test_a_program_without_its_way_in_is_told_what_to_set_and_a_file_that_others_read_stays(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("hob1_abc\n")
    file.chmod(0o644)
    link = tmp_path / "link"
    link.symlink_to(file)
    url = {"HOB_URL": "ws://127.0.0.1:1"}
    for environment, says in (
        ({}, "HOB_URL says which host"),
        (url, "no secret was given"),
        ({**url, "HOB_SECRET_FILE": str(file)}, "chmod 600"),
        ({**url, "HOB_SECRET_FILE": str(tmp_path / "none")}, "cannot be read"),
        ({**url, "HOB_SECRET_FILE": str(link)}, "cannot be read"),
    ):
        done = entering(environment)
        assert done.returncode != 0 and says in done.stderr
        assert "hob1" not in done.stderr and str(tmp_path) not in done.stderr.splitlines()[-1]
    assert file.exists()
