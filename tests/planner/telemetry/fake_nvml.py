"""A fake of the module pynvml, in this process: GPUs we make up, and a fault for any call we name.

It knows the traps of the real one: strings as bytes, calls that older drivers lack, GPUs that get lost and come back,
MIG slots with holes, process lists without memory, counters that begin anew, and slow calls.
"""

import time
from dataclasses import dataclass, field
from types import SimpleNamespace as Box

import pynvml

GIB = 2**30


@dataclass
class Gpu:
    uuid: str
    name: str | bytes = b"NVIDIA H100 80GB HBM3"
    used: int = 40 * GIB
    total: int = 80 * GIB
    reserved: int = 600 * 2**20
    util: int = 97
    power: int = 650_000
    temperature: int = 61
    reasons: int = 0
    energy: int = 5_000_000
    sm_clock: int = 1755
    sent_kib: int = 0
    received_kib: int = 0
    width: int = 16
    integrated: bool = False
    mig: list["Gpu | None"] | None = None
    processes: list = field(default_factory=list)
    gpm: dict[str, float] | None = None
    lost: bool = False
    instance: int = 0


class FakeNvml:
    """Constants are pynvml's own; calls are answered from `gpus`. `failing`: (call or call and UUID) to error."""

    def __init__(self, gpus=None, failing=None, slow=None, missing=()):
        self.gpus = gpus if gpus is not None else [Gpu("GPU-1"), Gpu("GPU-2")]
        self.failing, self.slow, self.missing = failing or {}, slow or {}, set(missing)
        self.calls: list[tuple[str, str]] = []
        self.started = 0
        self.xids: list[tuple[Gpu, int]] = []
        self.samples = 0

    def __getattr__(self, name):
        if name in object.__getattribute__(self, "missing"):
            raise AttributeError(name)
        if not name.startswith("nvml") or name in {"nvmlMemory_v2", "nvmlEventTypeXidCriticalError"}:
            return getattr(pynvml, name)
        answer = getattr(type(self), f"_{name}", None)

        def call(*arguments, **named):
            gpu = next((one for one in arguments if isinstance(one, Gpu)), None)
            uuid = gpu.uuid if gpu else ""
            self.calls.append((name, uuid))
            if name in self.slow:
                time.sleep(self.slow[name])
            for key in (name, (name, uuid)):
                if key in self.failing:
                    raise pynvml.NVMLError(self.failing[key])
            if gpu and gpu.lost:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
            if answer is None:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
            return answer(self, *arguments, **named)

        return call

    def count_of(self, name, uuid=None):
        return sum(1 for call, of in self.calls if call == name and uuid in (None, of))

    def refuse(self):
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    def _nvmlInit(self):
        self.started += 1

    def _nvmlShutdown(self):
        self.started -= 1

    def _nvmlDeviceGetCount(self):
        return len(self.gpus)

    def _nvmlSystemGetDriverVersion(self):
        return b"590.48.01"

    def _nvmlSystemGetCudaDriverVersion_v2(self):
        return 13010

    def _nvmlDeviceGetHandleByIndex(self, index):
        return self.gpus[index]

    def _nvmlDeviceGetUUID(self, gpu):
        return gpu.uuid

    def _nvmlDeviceGetName(self, gpu):
        return gpu.name

    def _nvmlDeviceGetMemoryInfo(self, gpu, version=None):
        if gpu.integrated:
            self.refuse()
        if version is None:
            return Box(used=gpu.used + gpu.reserved, total=gpu.total)
        return Box(used=gpu.used, total=gpu.total, reserved=gpu.reserved)

    def _nvmlDeviceGetUtilizationRates(self, gpu):
        return self.refuse() if gpu.mig is not None else Box(gpu=gpu.util, memory=20)

    def _nvmlDeviceGetTemperature(self, gpu, _):
        return gpu.temperature

    def _nvmlDeviceGetTemperatureThreshold(self, gpu, _):
        return 87

    def _nvmlDeviceGetPowerUsage(self, gpu):
        return gpu.power

    def _nvmlDeviceGetEnforcedPowerLimit(self, gpu):
        return 700_000

    def _nvmlDeviceGetPowerManagementDefaultLimit(self, gpu):
        return 700_000

    def _nvmlDeviceGetTotalEnergyConsumption(self, gpu):
        return gpu.energy

    def _nvmlDeviceGetClockInfo(self, gpu, domain):
        return gpu.sm_clock if domain == pynvml.NVML_CLOCK_SM else 2619

    def _nvmlDeviceGetMaxClockInfo(self, gpu, _):
        return 1980

    def _nvmlDeviceGetCurrentClocksEventReasons(self, gpu):
        return gpu.reasons

    def _nvmlDeviceGetCurrentClocksThrottleReasons(self, gpu):
        return gpu.reasons

    def _nvmlDeviceGetPerformanceState(self, gpu):
        return 0

    def _nvmlDeviceGetCurrPcieLinkGeneration(self, gpu):
        return self.refuse() if gpu.integrated else 5

    _nvmlDeviceGetMaxPcieLinkGeneration = _nvmlDeviceGetCurrPcieLinkGeneration

    def _nvmlDeviceGetCurrPcieLinkWidth(self, gpu):
        return gpu.width

    def _nvmlDeviceGetMaxPcieLinkWidth(self, gpu):
        return 16

    def _nvmlDeviceGetPcieThroughput(self, gpu, direction):
        return 1000 if direction == pynvml.NVML_PCIE_UTIL_TX_BYTES else 3000

    def _nvmlDeviceGetTotalEccErrors(self, gpu, *_):
        return 0

    def _nvmlDeviceGetRemappedRows(self, gpu):
        return 0, 0, 0, 0

    def _nvmlDeviceGetEncoderUtilization(self, gpu):
        return [12, 167_000]

    def _nvmlDeviceGetCudaComputeCapability(self, gpu):
        return 9, 0

    def _nvmlDeviceGetFieldValues(self, gpu, fields):
        values = {
            pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX: gpu.sent_kib,
            pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX: gpu.received_kib,
            pynvml.NVML_FI_DEV_MEMORY_TEMP: 70,
        }
        found = []
        for one in fields:
            name = one[0] if isinstance(one, tuple) else one
            code = pynvml.NVML_SUCCESS if name in values else pynvml.NVML_ERROR_NOT_SUPPORTED
            found.append(Box(nvmlReturn=code, valueType=3, value=Box(ullVal=values.get(name, 0))))
        return found

    # Processes

    def _nvmlDeviceGetComputeRunningProcesses(self, gpu):
        return gpu.processes

    def _nvmlDeviceGetGraphicsRunningProcesses(self, gpu):
        return gpu.processes[:1]

    def _nvmlDeviceGetProcessUtilization(self, gpu, since):
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)

    # MIG

    def _nvmlDeviceGetMigMode(self, gpu):
        return (0, 0) if gpu.mig is None else (1, 1)

    def _nvmlDeviceGetMaxMigDeviceCount(self, gpu):
        return len(gpu.mig)

    def _nvmlDeviceGetMigDeviceHandleByIndex(self, gpu, slot):
        if gpu.mig[slot] is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return gpu.mig[slot]

    def _nvmlDeviceGetGpuInstanceId(self, gpu):
        return gpu.instance

    # Activity

    def _nvmlGpmQueryDeviceSupport(self, gpu):
        return Box(isSupportedDevice=int(gpu.gpm is not None))

    def _nvmlGpmSampleAlloc(self):
        return Box(gpu=None)

    def _nvmlGpmSampleGet(self, gpu, sample):
        sample.gpu = gpu

    def _nvmlGpmMigSampleGet(self, gpu, instance, sample):
        sample.gpu = next(one for one in gpu.mig if one and one.instance == instance)

    def _nvmlGpmMetricsGet(self, query):
        for place in range(query.numMetrics):
            one = query.metrics[place]
            found = query.sample2.gpu.gpm.get(one.metricId)
            one.nvmlReturn = pynvml.NVML_SUCCESS if found is not None else pynvml.NVML_ERROR_NOT_SUPPORTED
            one.value = found or 0.0

    def c_nvmlGpmMetricsGet_t(self):
        return Box(metrics=[Box(metricId=0, nvmlReturn=0, value=0.0) for _ in range(200)])

    # Events

    def _nvmlEventSetCreate(self):
        return "events"

    def _nvmlDeviceRegisterEvents(self, gpu, kind, events):
        return None

    def _nvmlEventSetWait_v2(self, events, milliseconds):
        if not self.xids:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_TIMEOUT)
        gpu, xid = self.xids.pop(0)
        return Box(device=gpu, eventData=xid)


class Clock:
    """A clock that we control."""

    def __init__(self, now: float = 1_000_000.0):
        self.now = now

    def __call__(self) -> float:
        return self.now

    def tick(self, seconds: float = 1.0) -> float:
        self.now += seconds
        return self.now
