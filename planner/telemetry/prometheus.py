"""A fleet, through a Prometheus server that scrapes dcgm-exporter.

The address comes from the user. Answers are bounded in time and size, and no redirect leads elsewhere. DCGM's blanks
count as missing, an absent series as absent; old names, the names of DCGM 4.6 and both spellings of the host label
are understood.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import requests

from planner.telemetry.sample import Absent, Device, Kind, Metric, Missing, Reading, Sample
from planner.telemetry.trace import Trace, trace_of
from planner.units import MEGA, MIB

TIMEOUT_SECONDS = 5.0
MAXIMUM_BYTES = 32 * 2**20
MAXIMUM_POINTS = 10_000
"""Points of a series that a server gives at once are limited to 11,000."""

Get = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class _Series:
    metric: str
    scale: float
    names: tuple[str, ...]
    share: bool = False  # a ratio: 0 to 1 or 0 to 100, told by its name and its values


def _percent(metric: str, *names: str) -> _Series:
    return _Series(metric, 1.0, names, share=True)


_DEV, _PROF = "DCGM_FI_DEV_", "DCGM_FI_PROF_"
_SERIES: tuple[_Series, ...] = (
    _percent("utilization", _DEV + "GPU_UTIL", _DEV + "GPU_UTIL_RATIO"),
    _percent("memory_utilization", _DEV + "MEM_COPY_UTIL", _DEV + "MEM_COPY_UTIL_RATIO"),
    _percent("encoder", _DEV + "ENC_UTIL", _DEV + "ENC_UTIL_RATIO"),
    _percent("decoder", _DEV + "DEC_UTIL", _DEV + "DEC_UTIL_RATIO"),
    _percent("engine_active", _PROF + "GR_ENGINE_ACTIVE", _PROF + "GR_ENGINE_UTIL_RATIO"),
    _percent("sm_active", _PROF + "SM_ACTIVE", _PROF + "SM_UTIL_RATIO"),
    _percent("sm_occupancy", _PROF + "SM_OCCUPANCY", _PROF + "SM_OCCUPANCY_RATIO"),
    _percent("tensor_active", _PROF + "PIPE_TENSOR_ACTIVE", _PROF + "TENSOR_UTIL_RATIO"),
    _percent("dram_active", _PROF + "DRAM_ACTIVE", _PROF + "DRAM_UTIL_RATIO"),
    _Series("memory_used", MIB, (_DEV + "FB_USED",)),
    _Series("memory_reserved", MIB, (_DEV + "FB_RESERVED",)),
    _Series("memory_free", MIB, (_DEV + "FB_FREE",)),
    _Series("memory_total", MIB, (_DEV + "FB_TOTAL",)),
    _Series("power", 1.0, (_DEV + "POWER_USAGE", _DEV + "BOARD_POWER_WATTS")),
    _Series("power_limit", 1.0, (_DEV + "ENFORCED_POWER_LIMIT", _DEV + "POWER_MGMT_LIMIT")),
    _Series("temperature", 1.0, (_DEV + "GPU_TEMP", _DEV + "GPU_TEMP_CELSIUS")),
    _Series("memory_temperature", 1.0, (_DEV + "MEMORY_TEMP", _DEV + "MEMORY_TEMP_CELSIUS")),
    _Series("energy", 1e-3, (_DEV + "TOTAL_ENERGY_CONSUMPTION",)),
    _Series("sm_clock", MEGA, (_DEV + "SM_CLOCK",)),
    _Series("memory_clock", MEGA, (_DEV + "MEM_CLOCK",)),
    _Series("event_reasons", 1.0, (_DEV + "CLOCKS_EVENT_REASONS", _DEV + "CLOCK_THROTTLE_REASONS")),
    _Series("pcie_replays", 1.0, (_DEV + "PCIE_REPLAY_COUNTER",)),
    _Series("pcie_transmit", 1.0, (_PROF + "PCIE_TX_BYTES",)),
    _Series("pcie_receive", 1.0, (_PROF + "PCIE_RX_BYTES",)),
    _Series("nvlink_transmit", 1.0, (_PROF + "NVLINK_TX_BYTES",)),
    _Series("nvlink_receive", 1.0, (_PROF + "NVLINK_RX_BYTES",)),
    _Series("xid", 1.0, (_DEV + "XID_ERRORS", _DEV + "XID_ERROR")),
    _Series("ecc_uncorrected", 1.0, (_DEV + "ECC_DBE_VOL_TOTAL",)),
    _Series("remap_failed", 1.0, (_DEV + "ROW_REMAP_FAILURE",)),
    _Series("remap_pending", 1.0, (_DEV + "ROW_REMAP_PENDING",)),
)
_BY_NAME = {name: series for series in _SERIES for name in series.names}
_PATTERN = '{__name__=~"DCGM_FI_(DEV|PROF)_.*"}'


class ServerError(Exception):
    """The server cannot be used; `reason` says how."""

    def __init__(self, reason: Absent) -> None:
        super().__init__(reason)
        self.reason = reason


def checked_address(text: str) -> str | None:
    """The address of a server as typed, without its path's end; None where it is no http(s) address."""
    parts = urlsplit(text.strip())
    try:
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            return None
    except ValueError:
        return None
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def http_get(address: str, headers: Mapping[str, str] | None = None) -> bytes:
    """The body at an address: within `TIMEOUT_SECONDS` in all, at most `MAXIMUM_BYTES`, never redirected."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    try:
        with requests.Session() as session:
            session.trust_env = False  # no proxy and no stored password goes along
            asked = session.get(
                address, headers=dict(headers or {}), timeout=TIMEOUT_SECONDS, allow_redirects=False, stream=True
            )
            with asked as answer:  # closed at once, whatever is still to come
                body = bytearray()
                for chunk in answer.iter_content(65536):
                    body += chunk
                    if len(body) > MAXIMUM_BYTES or time.monotonic() > deadline:
                        raise ServerError(Absent.BAD_ANSWER)
    except requests.RequestException as error:
        raise ServerError(Absent.UNREACHABLE) from error
    if answer.status_code in (401, 403):
        raise ServerError(Absent.NO_PERMISSION)
    if answer.status_code != 200:
        raise ServerError(Absent.BAD_ANSWER)
    return bytes(body)


class PrometheusSource:
    """The GPUs that a server knows of, now (`read`) and in the past (`history`)."""

    def __init__(self, address: str, get: Get = http_get) -> None:
        self.name, self._address, self._get = address, address, get

    def read(self) -> Reading:
        """One reading, with the server's own times; never raises for what a server may do."""
        try:
            result = self._query("query", query=_PATTERN)
        except ServerError as error:
            return Reading(time=time.time(), absent=error.reason)
        newest = [(series["metric"], series.get("value", [])) for series in result]
        values = [(labels, float(pair[0]), pair[1]) for labels, pair in newest if len(pair) == 2]
        samples = samples_of((labels, text) for labels, _, text in values)
        if not samples:
            return Reading(time=time.time(), absent=Absent.NO_GPU)
        return Reading(time=max(moment for _, moment, _ in values), samples=samples)

    def history(self, start: float, end: float) -> Trace:
        """All GPUs from `start` to `end` (seconds since 1970), thinned to what one answer may hold."""
        step = max(1.0, math.ceil((end - start) / min(MAXIMUM_POINTS, 1500)))
        result = self._query("query_range", query=_PATTERN, start=start, end=end, step=step)
        by_time: dict[float, list[tuple[Mapping[str, str], str]]] = {}
        for series in result:
            for moment, text in series.get("values", []):
                by_time.setdefault(float(moment), []).append((series["metric"], text))
        readings = [Reading(time=moment, samples=samples_of(found)) for moment, found in sorted(by_time.items())]
        return trace_of(readings, self.name)

    def _query(self, kind: str, **parameters: Any) -> list[dict[str, Any]]:
        body = self._get(f"{self._address}/api/v1/{kind}?{urlencode(parameters)}")
        try:
            answer = json.loads(body)
            if answer["status"] != "success":
                raise ServerError(Absent.BAD_ANSWER)
            result = answer["data"]["result"]
        except (ValueError, KeyError, TypeError) as error:
            raise ServerError(Absent.BAD_ANSWER) from error
        if not isinstance(result, list):
            raise ServerError(Absent.BAD_ANSWER)
        return [one for one in result if isinstance(one, dict) and isinstance(one.get("metric"), dict)]


def samples_of(found: Iterable[tuple[Mapping[str, str], str]]) -> tuple[Sample, ...]:
    """Series of one moment (labels with "__name__", and the value's text) by device.

    Nothing is keyed on a metric that may be missing.
    """
    devices: dict[str, Device] = {}
    values: dict[str, dict[str, Metric]] = {}
    for labels, text in found:
        series = _BY_NAME.get(labels.get("__name__", ""))
        device = _device(labels)
        if series is None or device is None:
            continue
        devices.setdefault(device.uuid, device)
        own = values.setdefault(device.uuid, {})
        value = _value(series, labels["__name__"], text)
        if isinstance(value, float) or series.metric not in own:
            own[series.metric] = value
    partitioned = {device.parent for device in devices.values() if device.parent}
    for uuid, own in values.items():
        _complete(own, devices[uuid], partitioned)
    return tuple(Sample(device=devices[uuid], values=own) for uuid, own in values.items())


def _device(labels: Mapping[str, str]) -> Device | None:
    uuid = labels.get("UUID") or labels.get("exported_UUID") or labels.get("uuid")
    if not uuid:
        return None
    host = labels.get("Hostname") or labels.get("hostname") or labels.get("exported_hostname") or labels.get("instance")
    instance = labels.get("GPU_I_ID", "")
    number = labels.get("gpu", "")
    name = labels.get("modelName") or labels.get("device") or "GPU"
    if instance:
        name = f"{name} MIG {labels.get('GPU_I_PROFILE', '')}".strip()
    return Device(
        uuid=f"{uuid}/{instance}" if instance else uuid,
        name=name,
        kind=Kind.MIG if instance else Kind.GPU,
        index=int(number) if number.isdigit() else None,
        host=host or "",
        parent=uuid if instance else "",
    )


def _value(series: _Series, name: str, text: str) -> Metric:
    try:
        number = float(text)
    except ValueError:
        return Missing.BLANK
    if math.isnan(number) or _is_blank(number):
        return Missing.BLANK
    if series.share and not name.endswith("_RATIO") and (name.startswith(_DEV) or number > 2):
        number /= 100  # profiling fields are ratios, which may read a little over 1
    elif series.share and number > 2:
        number /= 100
    return number * series.scale


def _is_blank(number: float) -> bool:
    """DCGM's codes for "no value", of each width; 64-bit ones arrive rounded."""
    return 2147483632 <= number <= 2147483647 or 140737488355328 <= number <= 140737488355331 or number >= 9.2e18


def _complete(own: dict[str, Metric], device: Device, partitioned: set[str]) -> None:
    """Total memory from its parts, and why a partitioned GPU has no utilisation."""
    free = own.pop("memory_free", Missing.NOT_IN_SOURCE)
    used, reserved = own.get("memory_used"), own.get("memory_reserved")
    if "memory_total" not in own and isinstance(free, float) and isinstance(used, float):
        own["memory_total"] = free + used + (reserved if isinstance(reserved, float) else 0.0)
    if (device.kind is Kind.MIG or device.uuid in partitioned) and not isinstance(own.get("utilization"), float):
        own["utilization"] = Missing.UNDER_MIG
