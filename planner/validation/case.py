"""One measured row: the request that it describes, what was measured, and what had to be assumed."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from planner.workload import Request


class Quantity(StrEnum):
    """What rows measure. Bytes, seconds, and rates over all GPUs together unless said."""

    ALLOCATED = "peak_allocated"  # torch.cuda.max_memory_allocated
    RESERVED = "peak_reserved"  # torch.cuda.max_memory_reserved
    DEVICE = "peak_device"  # nvidia-smi
    UNSTATED = "peak_unstated"  # a peak whose counter isn't told: compared with what is reserved
    AFTER = "allocated_after"  # allocated between steps
    WEIGHTS = "weights"
    KV_TOKENS = "kv_tokens"
    KV_BYTES = "kv_bytes"
    ACTIVATION = "activation"
    ENGINE_OTHER = "engine_other"  # engine memory beyond tensors: libraries, communication buffers
    GRAPHS = "graphs"
    TOKENS_RATE = "tokens_per_second"
    SAMPLES_RATE = "samples_per_second"
    STEP_TIME = "step_time"
    TTFT = "ttft"
    TPOT = "tpot"
    OUTPUT_RATE = "output_tokens_per_second"
    PREFILL_RATE = "prefill_tokens_per_second"
    DECODE_RATE = "decode_tokens_per_second"  # of one sequence


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: cells by column."""

    line: int
    cells: Mapping[str, str]

    def text(self, name: str) -> str:
        """A cell, stripped; empty where the column or the value is missing."""
        return (self.cells.get(name) or "").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A row that can be predicted."""

    id: str
    line: int
    source: str  # whose conventions it shares: a repository, else a title
    url: str
    date: str
    model: str
    gpu: str
    domain: str
    quality: str
    request: Request
    measured: Mapping[Quantity, float]
    assumed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # measured, but not comparable, and why
    ran: bool | None = None  # whether it fitted; None: not told, or settings that decide memory aren't
    engine_version: tuple[int, ...] = ()
    max_length: int = 0
    whole_machine: bool = False  # memory is told summed over GPUs
    whole_request: bool = False  # a sequence's rate counts the time of reading its prompt


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that cannot be predicted, with a short reason: a code and what it is about."""

    id: str
    line: int
    quality: str
    reason: str
    detail: str = ""
