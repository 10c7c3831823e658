"""NVIDIA GPUs of this machine, through NVML (the module `pynvml` of the nvidia-ml-py distribution).

One `NvmlSource` a process: NVML is started once, handles are kept, and each device answers for itself. A call that is
not supported is not made again until NVML is started anew; a lost GPU keeps its card and is left alone for a while.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from multiprocessing import current_process
from typing import Any

import pynvml

from planner.telemetry.gpm import Gpm
from planner.telemetry.nvml_processes import ProcessReader
from planner.telemetry.nvml_queries import PCIE_RATE, QUERIES, Query, nvlink_counters
from planner.telemetry.sample import Absent, Device, Kind, Metric, Missing, Process, Reading, Sample

SLOW_SECONDS = 5.0
"""How often the slow queries run."""
RETRY_SECONDS = 30.0
"""How long a lost GPU is left alone, and how soon a failed start is tried again."""
SLOW_CALL_SECONDS = 0.05
"""A fast query that takes longer joins the slow ones."""

_ABSENT = {
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: Absent.NO_LIBRARY,
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: Absent.NO_DRIVER,
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: Absent.VERSION_MISMATCH,
    pynvml.NVML_ERROR_NO_PERMISSION: Absent.NO_PERMISSION,
    pynvml.NVML_ERROR_OPERATING_SYSTEM: Absent.BLOCKED,
}
_MISSING = {
    pynvml.NVML_ERROR_NOT_SUPPORTED: Missing.NOT_SUPPORTED,
    pynvml.NVML_ERROR_DEPRECATED: Missing.NOT_SUPPORTED,
    pynvml.NVML_ERROR_NO_PERMISSION: Missing.NO_PERMISSION,
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND: Missing.DRIVER_TOO_OLD,
    pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH: Missing.DRIVER_TOO_OLD,
    pynvml.NVML_ERROR_GPU_IS_LOST: Missing.GPU_LOST,
    pynvml.NVML_ERROR_RESET_REQUIRED: Missing.GPU_LOST,
    pynvml.NVML_ERROR_NO_DATA: Missing.NOT_SAMPLED_YET,
    pynvml.NVML_ERROR_NOT_READY: Missing.NOT_SAMPLED_YET,
}
_FINAL = {Missing.NOT_SUPPORTED, Missing.DRIVER_TOO_OLD, Missing.UNDER_MIG}  # asking again would change nothing
_RESTART = {pynvml.NVML_ERROR_UNINITIALIZED, pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH}
_INITIAL_VALUES = {name: Missing.NOT_SAMPLED_YET for query in (*QUERIES, PCIE_RATE) for name in query.metrics}


class _Restart(Exception):
    """NVML must be started anew: the driver was reloaded under us."""


@dataclass
class _Card:
    """What is kept of one device between readings."""

    device: Device
    handle: Any
    values: dict[str, Metric] = field(default_factory=lambda: dict[str, Metric](_INITIAL_VALUES))
    refused: set[Query] = field(default_factory=set)
    lost: bool = False
    gpm: Gpm | None = None
    links: tuple[float, float, float] | None = None  # time, bytes sent, bytes received


class NvmlSource:
    """All NVIDIA GPUs here. `read` never raises for what a driver may do; it is called by one thread at a time."""

    name = "nvml"

    def __init__(self, nvml: Any = pynvml, clock: Callable[[], float] = time.time) -> None:
        self._nvml, self._clock = nvml, clock
        self._cards: list[_Card] = []
        self._absent: Absent | None = Absent.FAILED
        self._started_by: int | None = None  # the process that started NVML: a fork must start it anew
        self._next_start = self._next_slow = 0.0
        self._demoted: set[Query] = set()
        self._processes = ProcessReader(nvml)
        self._events: Any = None
        self._facts: dict[str, str] = {}

    def read(self) -> Reading:
        """One reading: every device with each of its metrics, or why there is no GPU."""
        now = self._clock()
        if self._started_by != current_process().pid or (now >= self._next_start and self._needs_start()):
            self._start(now)
        if self._absent is not None:
            return Reading(time=now, absent=self._absent, facts=self._facts)
        slow = now >= self._next_slow
        if slow:
            self._next_slow = now + SLOW_SECONDS
        try:
            self._read_events()
            samples = tuple(self._sample(card, now, slow) for card in self._cards)
            processes = self._read_processes(slow)
        except _Restart:
            self._absent, self._next_start = Absent.VERSION_MISMATCH, now
            return Reading(time=now, absent=self._absent, facts=self._facts)
        return Reading(time=now, samples=samples, processes=processes, facts=self._facts)

    # Starting

    def _needs_start(self) -> bool:
        return self._absent is not None or any(card.lost for card in self._cards)

    def _start(self, now: float) -> None:
        """Start NVML (anew) and find every device; cards of GPUs that no longer answer stay, marked as lost."""
        self._next_start, self._next_slow = now + RETRY_SECONDS, now
        before = {card.device.uuid: card for card in self._cards}
        if self._started_by == current_process().pid:
            self._try(self._nvml.nvmlShutdown)
        self._started_by = current_process().pid
        self._demoted, self._events = set(), None
        try:
            self._nvml.nvmlInit()
            count = self._nvml.nvmlDeviceGetCount()
        except self._nvml.NVMLError as error:
            self._absent = _ABSENT.get(error.value, Absent.FAILED)
            return
        self._facts = self._versions()
        found = [card for index in range(count) for card in self._open(index)]
        known = {card.device.uuid for card in found}
        gone = [self._mark_lost(card) for uuid, card in before.items() if uuid not in known and not card.device.parent]
        self._cards = found + gone
        self._absent = None if self._cards else Absent.NO_GPU if not count else Absent.NO_PERMISSION
        self._watch_events()

    def _versions(self) -> dict[str, str]:
        facts = {}
        for name, call in (("driver", "nvmlSystemGetDriverVersion"), ("nvml", "nvmlSystemGetNVMLVersion")):
            value = self._try(getattr(self._nvml, call, None))
            if value is not None:
                facts[name] = as_text(value)
        cuda = self._try(getattr(self._nvml, "nvmlSystemGetCudaDriverVersion_v2", None))
        if cuda is not None:
            facts["cuda"] = f"{cuda // 1000}.{cuda % 1000 // 10}"
        return facts

    def _open(self, index: int) -> list[_Card]:
        """The GPU at this index and its MIG instances; nothing where not even a name can be had."""
        handle = self._try(self._nvml.nvmlDeviceGetHandleByIndex, index)
        uuid = None if handle is None else self._try(self._nvml.nvmlDeviceGetUUID, handle)
        if uuid is None:
            return []
        name = self._try(self._nvml.nvmlDeviceGetName, handle)
        mode = self._try(getattr(self._nvml, "nvmlDeviceGetMigMode", None), handle)
        device = Device(
            uuid=as_text(uuid),
            name=as_text(name) if name is not None else "NVIDIA GPU",
            index=index,
            mig=bool(mode and mode[0]),
        )
        card = _Card(device, handle)
        if Gpm.supported(self._nvml, handle):
            card.gpm = Gpm(self._nvml, handle)
        return [card, *(self._open_instances(card) if device.mig else [])]

    def _open_instances(self, parent: _Card) -> list[_Card]:
        """The MIG instances of a partitioned GPU. Slots may be empty between used ones."""
        instances = []
        for slot in range(self._try(self._nvml.nvmlDeviceGetMaxMigDeviceCount, parent.handle) or 0):
            handle = self._try(self._nvml.nvmlDeviceGetMigDeviceHandleByIndex, parent.handle, slot)
            uuid = None if handle is None else self._try(self._nvml.nvmlDeviceGetUUID, handle)
            if uuid is None:
                continue
            name = self._try(self._nvml.nvmlDeviceGetName, handle)
            device = Device(
                uuid=as_text(uuid),
                name=as_text(name) if name is not None else "MIG",
                kind=Kind.MIG,
                index=slot,
                parent=parent.device.uuid,
            )
            instance = self._try(getattr(self._nvml, "nvmlDeviceGetGpuInstanceId", None), handle)
            gpm = None if parent.gpm is None or instance is None else Gpm(self._nvml, parent.handle, instance)
            instances.append(_Card(device, handle, gpm=gpm))
        return instances

    def _mark_lost(self, card: _Card) -> _Card:
        card.lost, card.gpm = True, None
        card.values = dict.fromkeys(card.values, Missing.GPU_LOST)
        return card

    # Reading

    def _sample(self, card: _Card, now: float, slow: bool) -> Sample:
        if not card.lost:
            self._refresh(card, now, slow)
        device = card.device
        if card.values.get("memory_used") is Missing.NOT_SUPPORTED and not device.shared_memory and not card.lost:
            device = card.device = replace(device, shared_memory=self._is_integrated(card))
        return Sample(device=device, values={"lost": float(card.lost), **card.values})

    def _refresh(self, card: _Card, now: float, slow: bool) -> None:
        instance = card.device.kind is Kind.MIG
        queries = QUERIES if card.gpm or instance else (*QUERIES, PCIE_RATE)
        for query in queries:
            if query in card.refused or (not slow and (query.slow or query in self._demoted)):
                continue
            if instance and not query.mig:
                card.values.update(dict.fromkeys(query.metrics, Missing.UNDER_MIG))
                card.refused.add(query)
                continue
            self._ask(card, query)
            if card.lost:
                return
        if card.gpm:
            card.values.update(card.gpm.read(now))
        elif slow and not instance:
            self._read_links(card, now)

    def _ask(self, card: _Card, query: Query) -> None:
        started = time.perf_counter()
        try:
            values: tuple[Metric, ...] = query.ask(self._nvml, card.handle)
        except self._nvml.NVMLError as error:
            values = (self._reason(card, error),) * len(query.metrics)
        except (AttributeError, TypeError, ValueError):  # an older binding without the call, or an unheard-of answer
            values = (Missing.DRIVER_TOO_OLD,) * len(query.metrics)
        if card.lost:
            return
        if not query.slow and time.perf_counter() - started > SLOW_CALL_SECONDS:
            self._demoted.add(query)
        if all(value in _FINAL for value in values):
            card.refused.add(query)
        card.values.update(zip(query.metrics, values, strict=True))

    def _reason(self, card: _Card, error: Any) -> Missing:
        """Why a call gave nothing; a lost GPU and a driver that was reloaded are more than one missing value."""
        if error.value in _RESTART:
            raise _Restart
        reason = _MISSING.get(error.value, Missing.FAILED)
        if reason is Missing.GPU_LOST:
            self._mark_lost(card)
            self._next_start = max(self._next_start, self._clock() + RETRY_SECONDS)
        if reason is Missing.NOT_SUPPORTED and card.device.mig:
            return Missing.UNDER_MIG
        return reason

    def _is_integrated(self, card: _Card) -> bool:
        """No memory of its own and no PCIe link: the GPU shares the system's memory (GB10, Jetson)."""
        return card.values.get("pcie_width_max") in (Missing.NOT_SUPPORTED, Missing.DRIVER_TOO_OLD)

    def _read_links(self, card: _Card, now: float) -> None:
        """NVLink rates from byte counters, on GPUs without GPM. A counter that fell begins anew."""
        rates: tuple[Metric, Metric] = (Missing.NOT_SAMPLED_YET, Missing.NOT_SAMPLED_YET)
        try:
            sent, received = nvlink_counters(self._nvml, card.handle)
        except (self._nvml.NVMLError, AttributeError) as error:
            reason = _MISSING.get(getattr(error, "value", None), Missing.FAILED)
            card.values.update(nvlink_transmit=reason, nvlink_receive=reason)
            return
        if card.links and now > card.links[0] and sent >= card.links[1] and received >= card.links[2]:
            seconds = now - card.links[0]
            rates = (sent - card.links[1]) / seconds, (received - card.links[2]) / seconds
        card.links = now, sent, received
        card.values.update(nvlink_transmit=rates[0], nvlink_receive=rates[1])

    def _read_processes(self, slow: bool) -> tuple[Process, ...] | Missing:
        open_cards = [card for card in self._cards if not card.lost and card.device.kind is Kind.GPU]
        if slow:
            self._processes.refresh([(c.device, c.handle, c.values.get("memory_used")) for c in open_cards])
        return self._processes.found

    # Xid events

    def _watch_events(self) -> None:
        """Ask to be told of critical Xid errors. They are delivered once, and only from now on."""
        self._events = self._try(getattr(self._nvml, "nvmlEventSetCreate", None))
        for card in self._cards:
            watched = None
            if self._events is not None and not card.lost and card.device.kind is Kind.GPU:
                kind = self._nvml.nvmlEventTypeXidCriticalError
                watched = self._try(self._nvml.nvmlDeviceRegisterEvents, card.handle, kind, self._events, default=0)
            card.values["xid"] = Missing.NOT_SUPPORTED if watched is None and not card.lost else 0.0

    def _read_events(self) -> None:
        for _ in range(16 if self._events is not None else 0):
            event = self._try(self._nvml.nvmlEventSetWait_v2, self._events, 0)
            if event is None:
                return
            uuid = self._try(self._nvml.nvmlDeviceGetUUID, event.device)
            for card in self._cards:
                if uuid is not None and card.device.uuid == as_text(uuid):
                    card.values["xid"] = float(event.eventData)

    def _try(self, function: Any, *arguments: Any, default: Any = None) -> Any:
        """The answer of a call, or None where it has none; `default` for a call that answers nothing."""
        if function is None:
            return None
        try:
            answer = function(*arguments)
        except (self._nvml.NVMLError, AttributeError, UnicodeDecodeError):
            return None
        return default if answer is None else answer


def as_text(value: str | bytes) -> str:
    """A string of NVML: bytes in old bindings, and in some calls still."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
