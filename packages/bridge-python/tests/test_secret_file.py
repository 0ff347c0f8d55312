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
