"""Edits under ACP: the change that an editor would be shown for a call, and whether it is asked."""

from __future__ import annotations

from typing import Any

from .ops import Fields, hermes, op, text, typed_field


@op(
    "acp_edit",
    {
        "tool": "write_file, patch or another tool",
        "args": "its arguments",
        "policy?": "ask, workspace_session, session (ask)",
        "cwd?": "the session's directory",
        "answer?": "what the editor's user answers: true, false, or null where the editor is gone (false)",
    },
    "{proposal: {path, old_text, new_text}, automatic, asked, refused}: refused is what the model would get instead of the call; no proposal: the call goes on unasked",
)
def acp_edit(fields: Fields) -> Any:
    """Has Hermes decide about an edit, with the answer of the line as that of the editor's user. Returns
    `{proposal, automatic, asked, refused}`. Raises `Refusal`."""
    edits = hermes("acp_adapter.edit_approval")
    tool, args = text(fields, "tool"), typed_field(fields, "args", dict)
    policy, cwd = text(fields, "policy", "ask"), text(fields, "cwd") if "cwd" in fields else None
    answer = fields.get("answer", False)
    shown: list[Any] = []
    automatic: list[bool] = []

    # In the order of Hermes' own requester: the policy first, then the person.
    def editor(proposal: Any) -> bool:
        shown.append(proposal)
        automatic.append(bool(edits.should_auto_approve_edit(proposal, policy, cwd)))
        if automatic[-1]:
            return True
        if answer is None:
            raise ConnectionError("the editor is gone")
        return answer is True

    token = edits.set_edit_approval_requester(editor)
    try:
        refused = edits.maybe_require_edit_approval(tool, args)
    finally:
        edits.reset_edit_approval_requester(token)
    proposal = {name: getattr(shown[0], name) for name in ("path", "old_text", "new_text")} if shown else None
    by_policy = any(automatic)
    return {"proposal": proposal, "automatic": by_policy, "asked": bool(shown) and not by_policy, "refused": refused}
