"""What a log says about memory, in bytes, whoever wrote it."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Part:
    """Memory that a log gives a name. `id`: weights, kv-cache, activations, graphs, other; `device`: GPU index."""

    id: str
    bytes: float
    device: int = 0


@dataclass(frozen=True, slots=True)
class Process:
    """What another process held on the same GPU."""

    pid: int
    bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run's memory, as far as its log tells. None: not said.

    `allocated`: in tensors. `cached`: held by the allocator beyond them. `held`: by this process in all. `limit`: what
    an engine allows itself. `where`: the moment, if the traceback shows it (loading, forward, attention, loss,
    backward, optimizer, cache, graphs).
    """

    source: str  # torch, vllm, sglang, llama.cpp
    form: str = ""  # which shape of message it was
    device: int | None = None
    failed: bool = True
    asked: float | None = None
    capacity: float | None = None
    free: float | None = None
    allocated: float | None = None
    cached: float | None = None
    private_pools: float | None = None  # of the allocated, in CUDA graphs' pools
    held: float | None = None
    limit: float | None = None
    others: tuple[Process, ...] = ()
    parts: tuple[Part, ...] = field(default_factory=tuple)
    where: str | None = None
    longest_tokens: int | None = None  # what the cache could hold, or the longest sequence that would fit
    wanted_tokens: int | None = None

    @property
    def held_by_us(self) -> float | None:
        """This process's share of the GPU: as stated, else the allocator's, else what its parts come to."""
        if self.held is not None:
            return self.held
        if self.allocated is not None:
            return self.allocated + (self.cached or 0)
        device = self.fullest
        return sum(part.bytes for part in self.parts if part.device == device) or None

    @property
    def fullest(self) -> int:
        """The device that holds most of the parts."""
        totals: dict[int, float] = {}
        for part in self.parts:
            totals[part.device] = totals.get(part.device, 0) + part.bytes
        return max(totals, key=lambda device: totals[device], default=0)

    @property
    def held_by_others(self) -> float | None:
        """What is neither free nor ours: named processes, else the rest of the GPU."""
        if self.others:
            return sum(process.bytes for process in self.others)
        if self.capacity is None or self.free is None or self.held is None:
            return None
        return max(0.0, self.capacity - self.free - self.held)
