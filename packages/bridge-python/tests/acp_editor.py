"""A scripted editor. It speaks ACP (JSON-RPC 2.0, one line each) with Hermes over its stdin and stdout."""

from __future__ import annotations

import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import Any

from hermes_env import hermes
from hermes_world import VERSION, Home
from host_process import LONG


class Editor:
    """Answers every request with yes: a permission of an editor is none of Hob's."""

    def __init__(self, home: Home, command: Sequence[str] = ("-m", "hob.hermes.doctor", "acp")) -> None:
        self.updates: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [hermes(VERSION), *command], cwd=home.work, env=home.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, bufsize=1
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._last = 0

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def call(self, method: str, **params: Any) -> Any:
        """Raises `EOFError` if Hermes ends instead of answering."""
        self._last += 1
        try:
            self._send({"id": self._last, "method": method, "params": params})
        except BrokenPipeError:
            raise EOFError from None
        while True:
            line = self._lines.get(timeout=LONG)
            if line is None:
                raise EOFError
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if said.get("id") == self._last and "method" not in said:
                assert "error" not in said, said
                return said["result"]
            if said.get("method") == "session/request_permission":
                self.asked.append(said["params"])
                option = said["params"]["options"][0]["optionId"]
                self._send({"id": said["id"], "result": {"outcome": {"outcome": "selected", "optionId": option}}})
            elif "method" in said and "id" in said:
                self._send({"id": said["id"], "error": {"code": -32601, "message": "not offered"}})
            elif "method" in said:
                self.updates.append(said["params"])

    def session(self, cwd: str, *servers: dict[str, Any]) -> str:
        if self._last == 0:
            self.call("initialize", protocolVersion=1, clientCapabilities={"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False})
        return str(self.call("session/new", cwd=cwd, mcpServers=list(servers))["sessionId"])

    def prompt(self, session: str, text: str) -> Any:
        return self.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def end(self) -> tuple[int, str]:
        """Closes its stdin. Returns its exit code and its standard error."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            code = self._process.wait(LONG)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        self._errors.seek(0)
        said = self._errors.read()
        self._errors.close()
        return code, said
