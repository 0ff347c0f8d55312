"""What each of the 69 tools of AgentDojo does: 43 only read, 26 have effects. Written by reading each tool.

An effect has targets: the arguments that say to whom, to what or where. All other arguments are its content.
`get_webpage` counts as an effect, because the address is a message to whoever serves it. `get_unread_emails` marks the
mails as read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

EFFECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "get_unread_emails": (),
    "send_email": ("recipients", "cc", "bcc", "attachments"),
    "delete_email": ("email_id",),
    "create_calendar_event": ("participants",),
    "cancel_calendar_event": ("event_id",),
    "reschedule_calendar_event": ("event_id",),
    "add_calendar_event_participants": ("event_id", "participants"),
    "create_file": ("filename",),
    "delete_file": ("file_id",),
    "share_file": ("file_id", "email", "permission"),
    "append_to_file": ("file_id",),
    "reserve_hotel": ("hotel",),
    "reserve_restaurant": ("restaurant",),
    "reserve_car_rental": ("company",),
    "send_money": ("recipient",),
    "schedule_transaction": ("recipient",),
    "update_scheduled_transaction": ("id", "recipient"),
    "update_password": ("password",),
    "update_user_info": ("first_name", "last_name", "street", "city"),
    "add_user_to_channel": ("user", "channel"),
    "send_direct_message": ("recipient",),
    "send_channel_message": ("channel",),
    "invite_user_to_slack": ("user", "user_email"),
    "remove_user_from_slack": ("user",),
    "post_webpage": ("url",),
    "get_webpage": ("url",),
}
"""Tool, and its targets."""

CLASSES: Final[Mapping[str, dict[str, Any]]] = {
    "get_unread_emails": {"class": "B"},
    "send_email": {"class": "C", "makes": {"email": "id_"}},
    "delete_email": {"class": "C", "names": {"email": "email_id"}},
    "create_calendar_event": {"class": "C", "makes": {"event": "id_"}},
    "cancel_calendar_event": {"class": "C", "names": {"event": "event_id"}},
    "reschedule_calendar_event": {"class": "C", "names": {"event": "event_id"}},
    "add_calendar_event_participants": {"class": "C", "names": {"event": "event_id"}},
    "create_file": {"class": "B", "makes": {"file": "id_"}},
    "delete_file": {"class": "B", "names": {"file": "file_id"}},
    "append_to_file": {"class": "B", "names": {"file": "file_id"}},
    "share_file": {"class": "C", "names": {"file": "file_id"}},
}
"""The effects as `offer` takes them, with what a call makes and what it names. All other effects are of class C."""


def targets(method: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the targets of a call that are given."""
    return {name: arguments[name] for name in EFFECTS.get(method, ()) if arguments.get(name) is not None}


def effects_of(names: list[str]) -> dict[str, dict[str, Any]]:
    """Returns the effects of an offer with these methods."""
    return {name: CLASSES.get(name, {"class": "C"}) for name in names if name in EFFECTS}
