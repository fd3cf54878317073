"""A setting: what one verdict is about."""

from __future__ import annotations

SETTING = ["model", "task", "shots"]
