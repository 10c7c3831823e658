"""One run of the measuring process: its results as they come, its progress, its end by itself, by time or by us."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_SECONDS = 90.0
"""Time that a whole run may take."""

_MOST_LINES = 2000
_WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One measurement. `kind`: "matmul" (FLOP/s), "copy" in one memory, "upload" and "upload-pinned" (bytes/s).

    `size` is the side of the square matrices, or bytes. `memory` is the device's, in bytes; 0 for a processor.
    """

    library: str
    device: str
    name: str
    memory: int
    kind: str
    dtype: str
    size: int
    seconds: float
    rate: float


class Run:
    """A measuring process and what it has said so far. Safe to read from any thread."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self._lock = threading.Lock()
        self._results: list[Result] = []
        self._missing: dict[str, str] = {}
        self._failures: list[str] = []
        self._planned = self._done = 0
        self.stopped = ""  # "cancelled" or "timed-out" where it did not end by itself
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        self._timer = threading.Timer(seconds, self._stop, ("timed-out",))
        self._timer.daemon = True
        self._timer.start()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def results(self) -> tuple[Result, ...]:
        with self._lock:
            return tuple(self._results)

    @property
    def missing(self) -> dict[str, str]:
        """Library -> why it measures nothing: "not-installed", "no-gpu", or its own error."""
        with self._lock:
            return dict(self._missing)

    @property
    def failures(self) -> tuple[str, ...]:
        """What single measurements failed with (out of memory, an unsupported type)."""
        with self._lock:
            return tuple(self._failures)

    @property
    def progress(self) -> float:
        """Share of the measurements that are done, 0 to 1."""
        with self._lock:
            return 1.0 if self.finished else self._done / self._planned if self._planned else 0.0

    @property
    def finished(self) -> bool:
        return not self._reader.is_alive()

    def cancel(self) -> None:
        """End it now; what was measured stays."""
        self._stop("cancelled")

    def wait(self, seconds: float | None = None) -> None:
        """Until it has ended, or `seconds` have passed."""
        self._reader.join(seconds)

    def _stop(self, why: str) -> None:
        if self._process.poll() is None:
            self.stopped = why
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for count, line in enumerate(self._process.stdout):
            if count > _MOST_LINES:
                self._stop("timed-out")
                break
            with contextlib.suppress(ValueError, TypeError, KeyError):
                self._take(json.loads(line))
        self._process.stdout.close()
        self._process.wait()
        self._timer.cancel()

    def _take(self, line: dict[str, Any]) -> None:
        event = line.pop("event")
        with self._lock:
            if event == "result":
                self._results.append(Result(**line))
            elif event == "missing":
                self._missing[str(line["library"])] = str(line["reason"])
            elif event == "failed":
                self._failures.append(str(line["reason"]))
            elif event == "planned":
                self._planned = int(line["count"])
            elif event == "done":
                self._done += 1


def start(python: str = sys.executable, seconds: float = LIMIT_SECONDS) -> Run:
    """Begin to measure with the libraries of `python`, for `seconds` at most. Raises `OSError` where it cannot run."""
    return Run([python, "-u", str(_WORKER)], seconds)
