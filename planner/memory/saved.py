"""How many bytes a part of a model keeps for its backward pass, as coefficients that layouts are put into later."""

from dataclasses import dataclass

from planner.numeric import Number, minimum


@dataclass(frozen=True, slots=True)
class Shape:
    """What the coefficients meet: may all be arrays."""

    tokens: Number  # of one micro-batch on one GPU (context parallel divides them)
    keys: Number  # tokens that a query can attend to
    tensor: Number  # tensor-parallel degree
    sequence: Number  # ways that sequence parallel divides norms and residuals
    rank: Number  # of the adapters


@dataclass(frozen=True, slots=True)
class Saved:
    """Bytes per token."""

    whole: float = 0.0  # on every tensor-parallel rank, unless sequence parallel divides it
    split: float = 0.0  # divided by tensor parallel
    kv: float = 0.0  # divided by tensor parallel up to `kv_heads`
    kv_heads: int = 1
    scores: float = 0.0  # and per key, divided by tensor parallel
    masks: float = 0.0  # and per key, shared by the heads
    rank: float = 0.0  # and per unit of the adapters' rank

    def __add__(self, other: "Saved") -> "Saved":
        return Saved(
            self.whole + other.whole,
            self.split + other.split,
            self.kv + other.kv,
            max(self.kv_heads, other.kv_heads),
            self.scores + other.scores,
            self.masks + other.masks,
            self.rank + other.rank,
        )

    def times(self, factor: float) -> "Saved":
        """`factor` times as much of everything."""
        return Saved(
            self.whole * factor,
            self.split * factor,
            self.kv * factor,
            self.kv_heads,
            self.scores * factor,
            self.masks * factor,
            self.rank * factor,
        )

    def bytes(self, shape: Shape) -> Number:
        """Bytes on one GPU."""
        per_token = self.whole / shape.sequence + self.split / shape.tensor
        if self.kv:
            per_token = per_token + self.kv / minimum(shape.tensor, self.kv_heads)
        if self.scores or self.masks:
            per_token = per_token + (self.scores / shape.tensor + self.masks) * shape.keys
        if self.rank:
            per_token = per_token + self.rank * shape.rank
        return shape.tokens * per_token


NOTHING = Saved()
