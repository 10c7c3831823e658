"""The execution path of a training step: every choice but numbers that decides what autograd keeps."""

from dataclasses import dataclass

from planner.memory.dtypes import ADAPTER_METHODS, Dtypes, dtypes
from planner.models.spec import Linear
from planner.workload import AttentionImplementation, MethodKind, Training

ATTENTION_ROLES = frozenset({"q", "k", "v", "o", "qkv", "q_a", "q_b", "kv_a", "kv_b"})
QV_ROLES = frozenset({"q", "v", "qkv", "q_b", "kv_b"})
UNADAPTED_ROLES = frozenset({"router", "shared_gate"})


@dataclass(frozen=True, slots=True)
class Path:
    """Hashable, so that the coefficients of a model are computed once for each path."""

    bytes: Dtypes
    attention: AttentionImplementation
    padding_mask: bool
    dropout: bool
    compiled: bool
    method: MethodKind
    targets: str
    adapter_dropout: bool

    @property
    def trains_base(self) -> bool:
        """Whether base weights get gradients (the frozen layers of `FROZEN` are left out by their count)."""
        return self.method not in ADAPTER_METHODS

    def adapts(self, linear: Linear) -> bool:
        """Whether a low-rank adapter sits on `linear`. Routed experts are stacked tensors, which peft leaves alone."""
        if self.method not in (MethodKind.LORA, MethodKind.DORA, MethodKind.QLORA) or linear.copies > 1:
            return False
        if self.targets == "attention":
            return linear.role in ATTENTION_ROLES
        if self.targets == "qv":
            return linear.role in QV_ROLES
        return linear.role not in UNADAPTED_ROLES


def path_of(request: Training) -> Path:
    """The execution path of `request`."""
    return Path(
        dtypes(request),
        request.attention,
        request.padding_mask,
        request.dropout,
        request.compiled,
        request.method.kind,
        request.method.targets,
        request.method.dropout,
    )
