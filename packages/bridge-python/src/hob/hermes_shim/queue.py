"""The queue of a gateway: threads of agents that wait in Hermes until somebody in a chat answers."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any

from .ops import Fields, Refusal, text, typed_field

# Far above Hermes' own limits. Only a guard that loses its waiting calls reaches it.
STUCK = 20.0


class Gateway:
    """The queue of one line. `notify` `none`: nobody is connected. `raises`: a message to the chat cannot be sent."""

    def __init__(self, approval: Any, notify: str) -> None:
        self._approval = approval
        self._notify = notify
        self._sessions: set[str] = set()
        self._notified: list[dict[str, Any]] = []

    def run(self, calls: list[tuple[str, Callable[[], Any]]], answers: list[Any]) -> dict[str, Any]:
        """Starts each call when the one before it waits or has ended. Then gives the answers in order."""
        self._notified = []
        results: list[Any] = [None] * len(calls)
        threads = []
        for index, (session, call) in enumerate(calls):
            self._connect(session)
            seen = len(self._notified)
            thread = threading.Thread(target=self._live, args=(session, call, results, index), daemon=True)
            threads.append(thread)
            thread.start()
            while thread.is_alive() and len(self._notified) == seen:
                time.sleep(0.001)
        resolved = [self._answer(each) for each in answers]
        until = time.monotonic() + STUCK
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        told = [each if each is not None else {"approved": False, "stuck": True} for each in results]
        return {"results": told, "notified": list(self._notified), "resolved": resolved}

    def close(self) -> None:
        """Unregisters its sessions from Hermes."""
        for session in self._sessions:
            self._approval.unregister_gateway_notify(session)

    def _live(self, session: str, call: Callable[[], Any], results: list[Any], index: int) -> None:
        def inside() -> None:
            self._approval.set_current_session_key(session)
            try:
                results[index] = call()
            except Exception as error:
                results[index] = {"approved": False, "raised": type(error).__name__, "message": str(error)}

        contextvars.copy_context().run(inside)

    def _connect(self, session: str) -> None:
        if session in self._sessions or self._notify == "none":
            return
        self._sessions.add(session)
        self._approval.register_gateway_notify(session, lambda request: self._send(session, request))

    def _send(self, session: str, request: Any) -> None:
        if self._notify == "raises":
            raise ConnectionError("the message cannot be sent")
        self._notified.append({"session": session, "command": request.get("command"), "description": request.get("description")})

    def _answer(self, answer: Any) -> Any:
        if not isinstance(answer, dict):
            raise Refusal("bad-input", "an answer is {choice, session?, all?}")
        fields: Fields = answer
        choice, session = text(fields, "choice"), text(fields, "session", "s1")
        return self._approval.resolve_gateway_approval(session, choice, resolve_all=typed_field(fields, "all", bool, False))
