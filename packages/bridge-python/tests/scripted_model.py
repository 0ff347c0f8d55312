"""A model on loopback that says what a test tells it: the APIs of OpenAI (chat completions and responses) and of
Anthropic, for the real SDKs. It keeps all that it was sent."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final


@dataclass(frozen=True)
class Call:
    """A call of a tool. `arguments` may be text that is no JSON."""

    name: str
    arguments: Any


Said = str | Sequence[Call]
Turn = str | Call | list[Call] | Callable[["ScriptedModel"], Call]
"""The next answer of the model: a text, which ends the work, or calls. A function is called when it is its turn."""


class ScriptedModel:
    def __init__(self, script: list[Turn]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.raw: list[str] = []
        """Each request as it came: path, headers and body."""
        self.strays: list[str] = []
        """Hosts that a program wanted to reach besides: this is its proxy, too."""
        model, turns = self, iter(script)

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_args: Any) -> None:
                pass

            def do_CONNECT(self) -> None:
                model.strays.append(self.path)
                self.send_error(502)

            def do_GET(self) -> None:
                self.do_CONNECT()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                model.raw.append(f"{self.path}\n{self.headers}\n{body}")
                model.bodies.append(json.loads(body))
                turn = next(turns, "nothing more to say")
                said = turn(model) if callable(turn) else turn
                data = json.dumps(_shape(self.path)([said] if isinstance(said, Call) else said, len(model.bodies))).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        address = f"http://127.0.0.1:{self._server.server_port}"
        self.environment: Final = {
            "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{address}/v1", "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": address,
            "HTTP_PROXY": address, "HTTPS_PROXY": address, "NO_PROXY": "127.0.0.1",
        }  # fmt: skip
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def offered(self) -> list[list[str]]:
        """Returns the names of the tools in each request."""
        return [[(tool.get("function") or tool).get("name", str(tool)) for tool in body.get("tools") or []] for body in self.bodies]

    def results(self) -> list[str]:
        """Returns the results of tools that the last request has, in order."""
        found: list[str] = []
        for item in self.bodies[-1].get("messages") or self.bodies[-1]["input"]:
            if item.get("role") in ("tool", "tool-response"):
                found.append(_plain(item["content"]))
            elif item.get("type") == "function_call_output":
                found.append(_plain(item["output"]))
            elif isinstance(item.get("content"), list):
                found += [_plain(block["content"]) for block in item["content"] if block.get("type") == "tool_result"]
                # smolagents sends results as messages of the user, several in one text.
                texts = [block["text"] for block in item["content"] if item.get("role") == "user" and block.get("type") == "text"]
                found += [part.removeprefix("Observation:\n") for text in texts for part in _OF_SMOLAGENTS.split(text) if _OF_SMOLAGENTS.match(part)]
        return found


_OF_SMOLAGENTS: Final = re.compile(r"^(?=Observation:|Error:|Call id:)", re.MULTILINE)


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _shape(path: str) -> Callable[[Said, int], dict[str, Any]]:
    if path.split("?")[0].endswith("/messages"):
        return _anthropic
    return _responses if path.endswith("/responses") else _chat


def _text_of(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _ids(turn: Said, number: int) -> list[tuple[str, Call]]:
    """Returns the calls with their ids, which are none for a text."""
    return [] if isinstance(turn, str) else [(f"call_{number}_{at}", call) for at, call in enumerate(turn)]


def _chat(turn: Said, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn if isinstance(turn, str) else None, "refusal": None}
    if not isinstance(turn, str):
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": call.name, "arguments": _text_of(call.arguments)}}
            for id_, call in _ids(turn, number)
        ]
    choice = {"index": 0, "finish_reason": "stop" if isinstance(turn, str) else "tool_calls", "logprobs": None, "message": message}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": f"chat_{number}", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice], "usage": usage}


def _responses(turn: Said, number: int) -> dict[str, Any]:
    if isinstance(turn, str):
        content = [{"type": "output_text", "text": turn, "annotations": []}]
        items: list[dict[str, Any]] = [{"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}]
    else:
        items = [
            {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": call.name, "arguments": _text_of(call.arguments), "status": "completed"}
            for id_, call in _ids(turn, number)
        ]
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{number}", "object": "response", "created_at": 1, "model": "scripted", "status": "completed", "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "output": items, "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details},
    }  # fmt: skip


def _anthropic(turn: Said, number: int) -> dict[str, Any]:
    if isinstance(turn, str):
        blocks: list[dict[str, Any]] = [{"type": "text", "text": turn}]
    else:
        blocks = [{"type": "tool_use", "id": id_, "name": call.name, "input": call.arguments} for id_, call in _ids(turn, number)]
    return {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": blocks,
        "stop_reason": "end_turn" if isinstance(turn, str) else "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
