"""What would be noticed: each mechanism left out of a copy of `hob`, and the tests that must fail then.

By hand, it takes a minute: pytest -m breakages
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROWS: list[tuple[str, str, str, str, str]] = [
    ("embargo", "captp/waiting.py", "return not (isinstance(target, Remote) and target.exit is self._exit)", "return False", "test_wire.py"),
    ("flush", "captp/flush.py", "return target.post(Message(FLUSH, [], answer))", "return answer.fulfil(undefined)", "test_wire.py"),
    ("mentions", "captp/exports.py", "if known.mentions > 0:", "if False:", "test_wire.py"),
    ("drop", "captp/speech.py", "self._drops += (number, mentions)", "pass", "test_peer.py"),
    ("told again", "captp/giving.py", "elif known.told and isinstance(known.value, Vow):", "elif False:", "test_wire.py"),
    ("tokens", "captp/structure.py", "if tokens > limits.tokens:", "if tokens > limits.tokens * 99:", "test_wire.py"),
    ("nesting", "captp/structure.py", "if level > deepest:", "if False:", "test_wire.py"),
    ("frame size", "captp/structure.py", "if len(text) > limits.frame_bytes or (", "if False and (", "test_wire.py"),
    ("rising questions", "captp/answer_table.py", "if number <= self._last_heard:", "if False:", "test_wire.py"),
    ("memory", "captp/line.py", "> self.limits.memory_bytes:\n            self.close", "> 1 << 60:\n            self.close", "test_wire.py"),
    ("room", "captp/values.py", "if self._left < 0:", "if False:", "test_wire.py"),
    ("own methods", "far.py", "if base is Far or not issubclass(base, Far) or", "if base is Far or base is object or", "test_peer.py"),
    ("underscore", "far.py", 'if name.startswith("_"):\n                    continue', "pass", "test_peer.py"),
    ("text of errors", "captp/values.py", "if isinstance(error, CapError) and CODE.match(error.code):\n        return error.code, error.message[:LONGEST]", "if True:\n        return getattr(error, 'code', 'error'), str(error)", "test_peer.py"),
    ("disconnected", "captp/waiting.py", "question.answer.break_(why)", "pass", "test_peer.py"),
    ("thread", "captp/connection.py", "if threading.get_ident() != self._thread:", "if False:", "test_peer.py"),
    ("cancel", "captp/answer_table.py", "answer.running.cancel()", "pass", "test_peer.py"),
    ("bytes once", "captp/values.py", "if self.taken > self.length:", "if False:", "test_wire.py"),
    ("cycle", "vow.py", "if end.waits_for(self):", "if end is self:", "test_rings.py"),
    ("told at once", "captp/giving.py", "if not again or vow.path is not None:", "if False:", "test_rings.py"),
    ("told once", "captp/giving.py", "known is None or known.told or self._line.closed is not None:\n            return\n        known.told", "known is None or self._line.closed is not None:\n            return\n        known.told", "test_rings.py"),
    ("new keys", "captp/structure.py", "len(set(named[FREE_KEYS:])) * NEW_KEY", "0", "test_limits.py"),
    ("keys said", "captp/speech.py", "not has_room(text, limits)", "False", "test_limits.py"),
    ("promises of a frame", "captp/imports.py", "if self._brought > PROMISES:", "if False:", "test_limits.py"),
    ("copies of a frame", "captp/answer_table.py", "if self._copies >", "if False and self._copies >", "test_limits.py"),
    ("portions", "captp/waiting.py", "AT_ONCE: Final = 4096", "AT_ONCE: Final = 1 << 30", "test_limits.py"),
    ("asks nothing", "captp/connection.py", "type(answer) is PeersQuestion and answer.number == 0", "False", "test_limits.py"),
    ("full frame", "captp/speech.py", "if self._length > 0 and self._length + len(text) > FULL:", "if False:", "test_limits.py"),
    ("reader gone", "captp/readers.py", 'target.post(Message("return", [], None))', "pass", "test_readers.py"),
    ("an editor without the plugin", "hermes/editor.py", "    if missing is not None:", "    if False:", "test_hermes_acp.py"),
    ("a child with nothing", "hermes/sessions.py", 'f"child-{_plain(id)}", {})', 'f"child-{_plain(id)}", {each: each for each in await above.session.caps()})', "test_hermes_sessions.py"),
    ("exact petname", "tools.py", "if petname not in self._held:\n                return", "if False:\n                return", "test_tools.py"),
    ("far apart", "tools.py", "CUTOFF: Final = 0.7\n", "CUTOFF: Final = 0.7\nlru_cache = lambda _: lambda __: lambda a, b: a == b\n", "test_tools.py"),
    ("shim: own environment", "hermes_shim/world.py", "    os.environ.clear()\n", "", "test_shim_lines.py"),
    ("shim: own path", "hermes_shim/world.py", '    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]\n', "", "test_shim_lines.py"),
    ("shim: no connection", "hermes_shim/world.py", "    sys.addaudithook(_no_network)\n", "", "test_shim_lines.py"),
    ("shim: own streams", "hermes_shim/__main__.py", "    os.dup2(nothing, 0)\n", "", "test_shim_lines.py"),
    ("shim: fresh modules", "hermes_shim/serve.py", "    worlds.anew()\n", "", "test_shim_guards.py"),
    ("shim: configuration back", "hermes_shim/serve.py", "            _write(self.world, before)\n", "            pass\n", "test_shim_guards.py"),
    ("shim: time limit", "hermes_shim/serve.py", "            signal.setitimer(signal.ITIMER_REAL, seconds)\n", "", "test_shim_lines.py"),
    ("shim: no tools beyond", "hermes_shim/tools.py", "    if name not in EXECUTED:", "    if False:", "test_shim_tools.py"),
    ("shim: scripted guardian", "hermes_shim/guards.py", '    sys.modules["agent.auxiliary_client"] = stub\n', "", "test_shim_guards.py"),
]  # fmt: skip


@pytest.mark.breakages
@pytest.mark.parametrize(("name", "file", "old", "new", "tests"), ROWS, ids=[row[0] for row in ROWS])
def test_a_mechanism_that_is_left_out_is_noticed(tmp_path: Path, name: str, file: str, old: str, new: str, tests: str) -> None:
    shutil.copytree(HERE.parent / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / "src" / "hob" / file
    text = source.read_text()
    assert text.count(old) == 1, f"{name}: the text to leave out is there {text.count(old)} times"
    source.write_text(text.replace(old, new))
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "HOB_TEST_REPORT": ""}
    command = [sys.executable, "-m", "pytest", "-x", "-q", str(HERE / tests)]
    done = subprocess.run(command, cwd=HERE.parent, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, f"{name}: nobody noticed\n{done.stdout[-2000:]}"
    assert "FAILURES" in done.stdout
