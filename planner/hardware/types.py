"""What a machine is: an accelerator, the links between several, and the host around them. SI base units throughout."""

from dataclasses import dataclass, field

from planner.numeric import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One accelerator as the system sees it (a dual-die board that shows up as two devices is two).

    Throughputs are DENSE peaks in FLOP/s by compute dtype: fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4, int4.
    A missing key means that the value is unknown, never zero: ask `peak_flops`.
    """

    id: str  # stable, url-safe: "rtx-4090", "h100-sxm5-80gb"
    name: str
    vendor: str
    architecture: str
    aliases: tuple[str, ...] = ()
    compute_capability: str | None = None
    form_factor: str = ""
    release_date: str | None = None
    memory_marketed_gb: float = 0.0
    memory_bytes: int = 0  # usable, as the driver reports it; from the marketed size where no report is known
    memory_is_reported: bool = False  # whether memory_bytes is a driver's report
    memory_type: str = ""
    memory_bandwidth: float | None = None  # bytes/s
    peaks: dict[str, float] = field(default_factory=dict)  # FLOP/s
    nvlink_bandwidth: float | None = None  # bytes/s, both directions together, as marketed
    nvlink_version: str | None = None
    pcie_generation: int | None = None
    pcie_lanes: int | None = None
    power_watts: float | None = None
    sm_count: int | None = None
    l2_bytes: int | None = None
    sources: tuple[str, ...] = ()
    confidence: str = ""
    value_basis: str = ""
    as_of: str | None = None  # when the sources were read
    note: str = ""
    unified_memory: bool = False  # shares the host's memory (Apple, GB10, Jetson, APUs)

    def __hash__(self) -> int:
        """By id: equal cards have equal ids, and caches are asked often."""
        return hash(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link between devices: bandwidth of one direction per GPU in bytes/s, and latency of one hop in seconds.

    `collective_bandwidth` is the bus bandwidth that large collectives attain on it, where measured.
    """

    id: str
    name: str
    bandwidth: float
    latency: float
    collective_bandwidth: float | None = None
    per_node: bool = False  # one port that a node's GPUs share: bandwidths are then of the node
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    """A processor: as a host that feeds GPUs, and as a device that a model may run on instead."""

    id: str
    name: str
    cores: int
    peaks: dict[str, float] = field(default_factory=dict)  # FLOP/s by dtype: fp32, bf16, int8
    memory_bandwidth: float = 0.0  # bytes/s
    memory_bytes: int = 0
    power_watts: float = 0.0
    sources: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """By id, as `Gpu`."""
        return hash(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Equal GPUs in equal nodes. `gpus` may be an array (a curve against the number of GPUs)."""

    gpu: Gpu
    gpus: Number = 1
    gpus_per_node: int = 8
    intra_node: Link | None = None  # None: the GPU's own default (NVLink where it has it, else PCIe)
    inter_node: Link | None = None  # None: data-centre GPUs 400 Gb/s InfiniBand each, else 100 Gb/s a node
    price_per_gpu_hour: float | None = None  # US dollars; None: unknown
    price_source: str = ""
    price_date: str | None = None
