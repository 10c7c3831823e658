"""Activity inside a GPU (SMs, tensor cores, memory) from NVML's GPU performance monitoring, on Hopper and newer.

Two samples at least 100 ms apart give the figures of the time between them; the first reading has none.
"""

from typing import Any

from planner.telemetry.nvml_queries import GPM_METRICS
from planner.telemetry.sample import Metric, Missing

_APART = 0.1  # seconds that two samples must be apart


class Gpm:
    """The two samples of one GPU, or of one MIG instance of it."""

    def __init__(self, nvml: Any, handle: Any, instance: int | None = None) -> None:
        self._nvml, self._handle, self._instance = nvml, handle, instance
        self._old: Any = None
        self._new: Any = None
        self._taken = 0.0
        self._values: dict[str, Metric] = dict.fromkeys(GPM_METRICS, Missing.NOT_SAMPLED_YET)

    @staticmethod
    def supported(nvml: Any, handle: Any) -> bool:
        """Whether this GPU has the counters and this user may read them."""
        try:
            return bool(nvml.nvmlGpmQueryDeviceSupport(handle).isSupportedDevice)
        except (nvml.NVMLError, AttributeError):
            return False

    def read(self, now: float) -> dict[str, Metric]:
        """The activity since the reading before."""
        if self._old is not None and 0 <= now - self._taken < _APART:
            return self._values
        try:
            self._read(now)
        except self._nvml.NVMLError as error:
            denied = error.value == self._nvml.NVML_ERROR_NO_PERMISSION
            reason = Missing.NO_PERMISSION if denied else Missing.FAILED
            self._values = dict.fromkeys(GPM_METRICS, reason)
        return self._values

    def _read(self, now: float) -> None:
        nvml = self._nvml
        if self._new is None:
            self._new = nvml.nvmlGpmSampleAlloc()
        if self._instance is None:
            nvml.nvmlGpmSampleGet(self._handle, self._new)
        else:
            nvml.nvmlGpmMigSampleGet(self._handle, self._instance, self._new)
        if self._old is not None:
            self._values = self._between()
        self._old, self._new, self._taken = self._new, self._old, now

    def _between(self) -> dict[str, Metric]:
        nvml = self._nvml
        query = nvml.c_nvmlGpmMetricsGet_t()
        query.version = nvml.NVML_GPM_METRICS_GET_VERSION
        query.sample1, query.sample2 = self._old, self._new
        query.numMetrics = len(GPM_METRICS)
        for place, (constant, _) in enumerate(GPM_METRICS.values()):
            query.metrics[place].metricId = getattr(nvml, constant)
        nvml.nvmlGpmMetricsGet(query)
        values: dict[str, Metric] = {}
        for place, (name, (_, scale)) in enumerate(GPM_METRICS.items()):
            one = query.metrics[place]
            good = one.nvmlReturn == nvml.NVML_SUCCESS
            values[name] = float(one.value) * scale if good else Missing.NOT_SUPPORTED
        return values
