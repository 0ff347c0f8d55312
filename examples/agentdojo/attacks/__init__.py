"""Attacks by somebody who knows about caps, in five kinds. See `attack.py`."""

from __future__ import annotations

from . import content, data, flooded, spent, swapped
from .attack import Attack, played

ATTACKS: list[Attack] = [*content.ATTACKS, *data.ATTACKS, *swapped.ATTACKS, *spent.ATTACKS, *flooded.ATTACKS]

__all__ = ["ATTACKS", "Attack", "played"]
