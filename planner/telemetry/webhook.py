"""Alerts to an address that the user configured: one short POST each, never redirected, never waited for."""

import threading
from collections.abc import Mapping
from typing import Any

import requests

from planner.telemetry.trace import Event

TIMEOUT_SECONDS = 5.0


def body_of(event: Event) -> Mapping[str, Any]:
    """What is sent: JSON, with a `text` that chat services show."""
    alert = event.parameters.get("alert", "")
    name = event.parameters.get("name", event.uuid)
    return {
        "text": f"{event.code}: {alert} ({name})",
        "event": event.code,
        "alert": alert,
        "gpu": event.uuid,
        "time": event.time,
    }


def send(address: str, event: Event) -> bool:
    """Send one event; whether the other side took it."""
    try:
        with requests.Session() as session:
            session.trust_env = False
            answer = session.post(address, json=body_of(event), timeout=TIMEOUT_SECONDS, allow_redirects=False)
            return bool(answer.status_code < 300)
    except requests.RequestException:
        return False


def send_later(address: str, event: Event) -> None:
    """Send one event without holding up the readings."""
    threading.Thread(target=send, args=(address, event), daemon=True).start()
