"""The protocol of the shim: one line out for each line in, for any input, and no access to anything of the
user."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path

import pytest

from hermes_env import SRC, VERSIONS, hermes
from shim import Shim, both, made

shim = both()


def test_a_bad_line_is_echoed_with_a_code_and_the_next_one_goes_on(shim: Shim) -> None:
    assert shim.line(b"nonsense") | {"verdict": 0} == {"line": "nonsense", "verdict": 0}
    for line, code in [
        (b"nonsense", "not-json"),
        (b"\xff\xfe", "not-json"),
        (b"[" * 100_000, "not-json"),
        (b"1" * 5_000, "not-json"),
        (b"[1]", "bad-input"),
        (b"null", "bad-input"),
        (b"{}", "unknown-op"),
        (b'{"op": ["detect"]}', "unknown-op"),
        (b'{"op": "rm"}', "unknown-op"),
        (b'{"op": "detect"}', "bad-input"),
        (b'{"op": "detect", "command": 1}', "bad-input"),
        (b'{"op": "detect", "command": "ls", "seconds": -1}', "bad-input"),
        (b'{"op": "detect", "command": "ls", "env": {"PATH": "/x"}}', "bad-input"),
        (b'{"op": "detect", "command": "ls", "config": []}', "bad-input"),
        (b'{"op": "tool", "name": "web_search", "args": {}}', "bad-input"),
    ]:
        assert shim.line(line)["verdict"]["error"]["code"] == code, line[:80]
    assert shim.ask("detect", command="ls")["dangerous"] is False


def test_fields_that_nobody_knows_come_back_too(shim: Shim) -> None:
    line = {"op": "detect", "command": "ls \ud800", "case": {"n": [1, None]}}
    assert {**shim.line(json.dumps(line).encode()), "verdict": 0} == {**line, "verdict": 0}


def test_every_operation_is_described(shim: Shim) -> None:
    said = subprocess.run([hermes(shim.version), "-m", "hob.hermes_shim", "--ops"], env={"PYTHONPATH": str(SRC)}, capture_output=True, check=True)
    ops = json.loads(said.stdout)["ops"]
    assert {"detect", "validate_path", "write_denied", "read_blocked", "cross_profile", "sandbox_mirror", "tool"} <= ops.keys()
    for name, each in ops.items():
        assert each["verdict"]
        # A missing field is reported.
        if any(not field.endswith("?") for field in each["fields"]):
            assert shim.error(name) == "bad-input", name


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_of_the_users_is_seen(version: str, tmp_path: Path) -> None:
    user = tmp_path / "user"
    (user / ".hermes").mkdir(parents=True)
    (user / ".hermes" / "config.yaml").write_text("approvals: {mode: off}\ncommand_allowlist: ['recursive delete']\n")
    (user / "tools").mkdir()
    (user / "tools" / "__init__.py").write_text("raise SystemExit('a folder of the working directory was taken for Hermes')")
    before = {path: path.stat().st_mtime_ns for path in user.rglob("*")}
    secrets = {"HOME": str(user), "HERMES_HOME": str(user / ".hermes"), "HERMES_YOLO_MODE": "1", "OPENAI_API_KEY": "sk-secret", "MY_TOKEN": "s3"}
    for shim in made(version, tmp_path / "world", cwd=user, **secrets):
        said = shim.ask("tool", name="terminal", args={"command": "env; rm -rf ./nothing"})
        assert [each["answer"] for each in said["asked"]] == ["deny"]
        output = shim.ask("tool", name="terminal", args={"command": "env"})["result"]["output"]
        assert "sk-secret" not in output and "MY_TOKEN" not in output and str(user) not in output
        assert f"HOME={shim.home}" in output
    assert {path: path.stat().st_mtime_ns for path in user.rglob("*")} == before


def test_hermes_gets_no_line_of_ours_and_prints_none(shim: Shim) -> None:
    said = shim.ask("tool", name="terminal", args={"command": "cat; echo out; echo err >&2"})
    assert said["result"]["output"].split() == ["out", "err"]
    # A prompt that reads the terminal gets nothing either: the process has no terminal.
    said = shim.ask("tool", name="terminal", args={"command": "readlink /proc/$PPID/fd/0"})
    assert said["result"]["output"].strip() == "/dev/null"


def test_a_call_that_hangs_or_kills_its_process_costs_its_own_line_only(shim: Shim) -> None:
    assert shim.error("tool", name="terminal", args={"command": "sleep 60"}, seconds=1) == "timeout"
    assert shim.error("tool", name="terminal", args={"command": "kill -9 $PPID"}) == "died"
    assert shim.ask("tool", name="terminal", args={"command": "echo on"})["result"]["output"].strip() == "on"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_world_of_its_own_goes_with_the_shim(version: str, tmp_path: Path) -> None:
    lines = b'{"op": "tool", "name": "write_file", "args": {"path": "a.txt", "content": "x"}}\n'
    env = {"PYTHONPATH": str(SRC), "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([hermes(version), "-m", "hob.hermes_shim"], input=lines, capture_output=True, env=env, check=True)
    written = json.loads(done.stdout)["verdict"]["result"]["resolved_path"]
    assert written.startswith(str(tmp_path)) and not Path(written).exists()
    assert not list(tmp_path.glob("hob-shim-*"))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_process_of_the_shim_connects_nowhere(version: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        code = (
            "import runpy, socket, sys\n"
            "try: runpy.run_module('hob.hermes_shim', run_name='__main__')\n"
            "except SystemExit: pass\n"
            f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))\n"
        )
        done = subprocess.run([hermes(version), "-c", code], stdin=subprocess.DEVNULL, env={"PYTHONPATH": str(SRC), "TMPDIR": str(tmp_path)}, capture_output=True, text=True)
        assert "PermissionError: the shim opens no connection" in done.stderr
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_verdict_has_a_time_limit(shim: Shim) -> None:
    assert shim.error("detect", command="ls", seconds=1e-6) == "timeout"
    assert shim.error("guard", steps=[], seconds=1e-6) == "timeout"
    assert shim.ask("detect", command="ls")["dangerous"] is False
