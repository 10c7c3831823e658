"""One thread a process that reads a source while someone watches or records, and keeps the last hour."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from planner.telemetry.alerts import AlertWatch
from planner.telemetry.host import Host
from planner.telemetry.sample import Absent, Reading
from planner.telemetry.trace import Event, Ring

WATCHED_SECONDS = 15.0
"""How long after the last look the thread goes on reading."""
HISTORY_SECONDS = 3600

_log = logging.getLogger("gpu_planner")


class Source(Protocol):
    """Anything that can be read again and again."""

    @property
    def name(self) -> str: ...

    def read(self) -> Reading: ...


class Poller:
    """Reads `source` every `interval` seconds, the next reading never before the last one ended.

    `watch` starts the thread when needed and gives the newest reading; without a call for `WATCHED_SECONDS`, and
    without a listener that keeps it alive (a recording), the thread ends.
    """

    def __init__(
        self,
        source: Source,
        *,
        interval: float = 1.0,
        host: Host | None = None,
        history: int = HISTORY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.source, self.interval = source, interval
        self.ring = Ring(int(history / interval), source.name)
        self._host, self._clock = host, clock
        self._lock = threading.Lock()
        self._latest = Reading(time=0.0)
        self._listeners: list[Callable[[Reading], None]] = []
        self.alerts = AlertWatch()
        self.on_event: list[Callable[[Event], None]] = []
        self._looked = -WATCHED_SECONDS
        self._thread: threading.Thread | None = None
        self._first = threading.Event()
        self.seconds_spent = 0.0  # inside `read`, of the last reading

    def watch(self, wait: float = 1.0) -> Reading:
        """The newest reading; waits for the first one, at most `wait` seconds."""
        with self._lock:
            self._looked = self._clock()
            self._start()
        self._first.wait(wait)
        return self._latest

    def listen(self, listener: Callable[[Reading], None]) -> None:
        """Give every reading to `listener`, and go on reading until it is taken away."""
        with self._lock:
            self._listeners.append(listener)
            self._start()

    def unlisten(self, listener: Callable[[Reading], None]) -> None:
        """Stop giving readings to `listener`."""
        with self._lock:
            self._listeners = [one for one in self._listeners if one != listener]

    @property
    def running(self) -> bool:
        """Whether the thread reads now."""
        return self._thread is not None and self._thread.is_alive()

    def poll(self) -> Reading:
        """Read once, now. A source that fails gives a reading that says so: the thread survives everything."""
        started = time.perf_counter()
        try:
            reading = self.source.read()
        except Exception:
            _log.exception("reading %s failed", self.source.name)
            reading = Reading(time=time.time(), absent=Absent.FAILED)
        if self._host is not None:
            reading = replace(reading, samples=(*reading.samples, self._host.sample()))
        self.ring.add(reading)
        for listener in tuple(self._listeners):
            if not self._give(listener, reading):
                self.unlisten(listener)
        for event in self.alerts.see(reading):
            self.ring.note(event)
            for hear in tuple(self.on_event):
                self._give(hear, event)
        self._latest = reading
        self.seconds_spent = time.perf_counter() - started
        self._first.set()
        return reading

    @staticmethod
    def _give(listener: Callable[[Any], None], what: Any) -> bool:
        """Whether the listener took it."""
        try:
            listener(what)
        except Exception:
            _log.exception("a listener failed")
            return False
        return True

    def _start(self) -> None:
        if not self.running:
            self._first.clear()
            self._thread = threading.Thread(target=self._run, name=f"poller-{self.source.name}", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            began = self._clock()
            self.poll()
            with self._lock:
                if not self._listeners and self._clock() - self._looked > WATCHED_SECONDS:
                    self._thread = None
                    return
            time.sleep(max(0.05 * self.interval, self.interval - (self._clock() - began)))
