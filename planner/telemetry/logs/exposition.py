"""Scrapes of dcgm-exporter kept in a file: Prometheus's text format, one after the other.

A scrape ends where a series comes again. Its time is the timestamp of its lines, or a comment before it that is a time
("# 2026-01-31T10:00:00Z"); without either the scrapes are taken as one second apart.
"""

import re
from collections.abc import Mapping

from planner.telemetry.logs.cells import moment
from planner.telemetry.logs.rows import Row
from planner.telemetry.prometheus import samples_of
from planner.telemetry.sample import Kind

_LINE = re.compile(r"^(DCGM_\w+)\{([^}]*)\}\s+(\S+)(?:\s+(-?\d+))?$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Scrapes:
    """Takes lines, gives rows."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._now: list[tuple[Mapping[str, str], str]] = []
        self._seen: set[str] = set()
        self._time: float | None = None

    def take(self, line: str) -> bool:
        """Whether the line is one of a scrape."""
        found = _LINE.match(line)
        if found is None:
            return False
        name, labels, value, milliseconds = found.groups()
        key = f"{name}{{{labels}"
        if key in self._seen:
            self.end()
        self._seen.add(key)
        if milliseconds is not None:
            self._time = int(milliseconds) / 1000
        self._now.append(({"__name__": name, **dict(_LABEL.findall(labels))}, value))
        return True

    def comment(self, text: str) -> None:
        """A line that begins with "#": the time of the scrape that follows, or nothing to us."""
        time = moment(text.lstrip("# "))
        if time is not None:
            self.end()
            self._time = time

    def end(self) -> None:
        """The scrape so far is whole."""
        for sample in samples_of(self._now):
            device = sample.device
            self.rows.append(
                Row(
                    time=self._time,
                    values=dict(sample.values),
                    uuid=device.uuid,
                    index=None if device.kind is Kind.MIG else device.index,
                    name=f"{device.name} · {device.host}" if device.host else device.name,
                    parent=device.parent,
                )
            )
        self._now, self._seen, self._time = [], set(), None
