"""A parallel layout: how many ways each kind of parallelism divides the work, and what it divides."""

from dataclasses import dataclass
from enum import StrEnum

from planner.numeric import Number, maximum, where


class Sharding(StrEnum):
    """How the data-parallel group shares its copy of the training state."""

    NONE = "none"  # DDP: every rank holds all of it
    ZERO1 = "zero1"  # optimizer states divided
    ZERO2 = "zero2"  # and gradients
    ZERO3 = "zero3"  # and parameters (DeepSpeed)
    FSDP = "fsdp"  # the same three, PyTorch FSDP/FSDP2 full shard
    HSDP = "hsdp"  # full shard within `shard_group` ranks, replicated over groups

    @property
    def divides_optimizer(self) -> bool:
        return self is not Sharding.NONE

    @property
    def divides_gradients(self) -> bool:
        return self in (Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP, Sharding.HSDP)

    @property
    def divides_parameters(self) -> bool:
        return self in (Sharding.ZERO3, Sharding.FSDP, Sharding.HSDP)


class Schedule(StrEnum):
    ONE_F_ONE_B = "1f1b"
    INTERLEAVED = "interleaved"
    GPIPE = "gpipe"


class Offload(StrEnum):
    NONE = "none"
    CPU = "cpu"
    NVME = "nvme"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Degrees of parallelism. Their product (expert parallel aside) is the number of GPUs; any may be an array.

    Expert parallel divides the routed experts over ranks of the data-parallel x context-parallel group, as
    Megatron-Core and DeepSpeed-MoE do; it does not multiply the number of GPUs.
    """

    data_parallel: Number = 1
    tensor_parallel: Number = 1
    pipeline_parallel: Number = 1
    context_parallel: Number = 1
    expert_parallel: Number = 1
    sequence_parallel: Number = False  # Megatron: norms and residuals divided over the tensor-parallel group
    sharding: Sharding = Sharding.NONE
    shard_group: Number = 0  # HSDP: ranks that share one copy; 0: a node
    schedule: Schedule = Schedule.ONE_F_ONE_B
    virtual_stages: Number = 1  # interleaved schedule: model chunks per rank
    offload_optimizer: Offload = Offload.NONE
    offload_parameters: Offload = Offload.NONE

    @property
    def gpus(self) -> Number:
        return self.data_parallel * self.tensor_parallel * self.pipeline_parallel * self.context_parallel

    @property
    def shard_degree(self) -> Number:
        """Ranks over which divided training state is shared: data x context parallel, or the HSDP shard group."""
        group = self.data_parallel * self.context_parallel
        if self.sharding is Sharding.HSDP:
            return maximum(1, self.shard_group)
        return group

    @property
    def residual_split(self) -> Number:
        """Ways that sequence parallel divides norms and the residual stream."""
        return where(self.sequence_parallel, self.tensor_parallel, 1)

    @property
    def chunks(self) -> Number:
        """Model chunks of a rank: more than one in the interleaved schedule alone."""
        return self.virtual_stages if self.schedule is Schedule.INTERLEAVED else 1
