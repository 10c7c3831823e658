"""GGUF files: bits of each GGML block type, and which tensors llama.cpp's quantiser keeps at which type.

A GGUF "file type" such as Q4_K_M is a mixture: a base type for most matrices, and better types where rounding hurts
most (attention values, the MLP's down projection, the first and last layers, the output). The mixture depends on the
layer, on how many query heads share a key/value head, and on the number of experts, so bits per weight differ by model.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planner.models.readers.ggml import TYPES

SOURCE = "llama.cpp, src/llama-quant.cpp and ggml/src/ggml-common.h (2026)"

BLOCKS: Mapping[str, tuple[int, int]] = {name: (weights, size) for name, weights, size in TYPES.values()}
"""Weights and bytes of one block, by type."""

_NARROW = {"Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}
"""What replaces a 256-wide block type on rows that 256 doesn't divide; `_narrow` has the rest."""


def block_bits(block: str) -> float:
    """Bits per weight of a GGML block type, scales included."""
    weights, size = BLOCKS[block]
    return size * 8 / weights


@dataclass(frozen=True, slots=True)
class Shape:
    """The facts about a model that the quantiser looks at."""

    query_groups: int = 1  # query heads per key/value head
    experts: int = 0
    layers: int = 0
    falcon: bool = False

    @property
    def seventy_billion(self) -> bool:
        """llama.cpp's name for an 80-layer model whose key/value heads serve eight query heads each."""
        return self.layers == 80 and self.query_groups == 8


@dataclass(frozen=True, slots=True)
class Rule:
    """The type of one kind of tensor: by layer first, then by grouped heads, then in general (None: the base)."""

    general: str | None = None
    grouped: str | None = None  # at least four query heads share a key/value head
    more: str | None = None  # first and last eighth of the layers, and every third between
    early: str | None = None
    early_layers: int = 0  # `early` applies to this many first layers,
    early_share: int = 0  # or to this fraction of them (8: the first eighth)
    middle: str | None = None  # between the first and the last eighth

    def block(self, base: str, layer: int, shape: Shape) -> str:
        """The block type in layer `layer` (from 0)."""
        eighth, last = shape.layers // 8, 7 * shape.layers // 8
        outer = layer < eighth or layer >= last
        if self.more and (outer or (layer - eighth) % 3 == 2):
            return self.more
        first = self.early_layers or (shape.layers // self.early_share if self.early_share else 0)
        if self.early and layer < first:
            return self.early
        if self.middle and not outer:
            return self.middle
        if self.grouped and shape.query_groups >= 4:
            return self.grouped
        return self.general or base


_BASE = Rule()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileType:
    """A GGUF mixture: base block type and the exceptions to it."""

    base: str
    output: str = "Q6_K"
    embedding: str | None = None  # None: base
    v: Rule = _BASE  # attention values, and fused query-key-value matrices
    q: Rule = _BASE
    k: Rule = _BASE
    o: Rule = _BASE
    up: Rule = _BASE  # gate and up
    down: Rule = _BASE
    eight_experts_o: str | None = None  # models of exactly eight experts (Mixtral)
    eight_experts_down: Rule | None = None
    experts: str | None = None  # routed experts, where they differ from everything else
    low: bool = False  # under three bits: values get four bits in any mixture of experts
    plain: bool = False  # one type for all

    def block(self, role: str, layer: int, shape: Shape, *, routed: bool = False) -> str:
        """Block type of the matrix with `role` in `layer`; `routed` for the experts behind a router."""
        if self.plain:
            return self.base
        if self.experts is not None:
            return self.experts if routed else self.base
        eight = shape.experts == 8
        if role in ("v", "qkv"):
            return self._value_block(layer, shape)
        if role == "k":
            return ("Q4_K" if self.low else "Q8_0") if eight else self.k.block(self.base, layer, shape)
        if role == "o":
            return (self.eight_experts_o or self.base) if eight else self.o.block(self.base, layer, shape)
        if role in ("gate", "up", "gate_up"):
            return self.up.block(self.base, layer, shape)
        down = self.eight_experts_down if eight and self.eight_experts_down else self.down
        rule = {"q": self.q, "down": down}.get(role, _BASE)
        return rule.block(self.base, layer, shape)

    def _value_block(self, layer: int, shape: Shape) -> str:
        if self.low:
            return "Q4_K" if shape.experts >= 4 else self.v.block(self.base, layer, shape)
        if shape.experts == 8:
            return "Q8_0"
        block = self.v.block(self.base, layer, shape)
        return "Q5_K" if shape.seventy_billion and block in ("Q3_K", "Q4_K") else block

    def table_block(self, *, output: bool, shape: Shape) -> str:
        """Block type of the output matrix (a tied embedding too), or of the token embedding."""
        if self.plain:
            return self.base
        if output:
            return "Q8_0" if shape.falcon or "Q8_0" in (self.base, self.output) else self.output
        return self.embedding or self.base


def fitting(block: str, columns: int) -> str:
    """`block`, or what the quantiser falls back to where rows of `columns` weights hold no whole number of blocks."""
    if columns % BLOCKS[block][0] == 0:
        return block
    narrow = _NARROW.get(block, "IQ4_NL" if block.startswith("IQ") else "Q4_0")
    return narrow if columns % 32 == 0 else "F16"


def _low(base: str, embedding: str, other: str, attention: str | None) -> FileType:
    """The mixtures under three bits, which need an importance matrix."""
    return FileType(
        base=base,
        output="Q5_K",
        embedding=embedding,
        v=Rule(other, grouped="Q4_K"),
        o=Rule(attention),
        down=Rule(early=other, early_share=8),
        eight_experts_o="Q5_K",
        low=True,
    )


_MORE_Q6 = Rule(more="Q6_K")
_EARLY_Q5 = Rule(early="Q5_K", early_share=8)
_GROUPED_Q4, _GROUPED_Q5 = Rule(grouped="Q4_K"), Rule(grouped="Q5_K")

FILE_TYPES: Mapping[str, FileType] = MappingProxyType(
    {
        "F32": FileType(base="F32", plain=True),
        "F16": FileType(base="F16", plain=True),
        "BF16": FileType(base="BF16", plain=True),
        "Q4_0": FileType(base="Q4_0"),
        "Q4_1": FileType(base="Q4_1"),
        "Q5_0": FileType(base="Q5_0"),
        "Q5_1": FileType(base="Q5_1"),
        "Q8_0": FileType(base="Q8_0"),
        "Q2_K": FileType(
            base="Q2_K", v=Rule("Q3_K", grouped="Q4_K"), o=Rule("Q3_K"), down=Rule("Q3_K"), eight_experts_o="Q5_K"
        ),
        "Q2_K_S": FileType(base="Q2_K", v=_GROUPED_Q4, down=Rule(early="Q4_K", early_share=8)),
        "Q3_K_S": FileType(base="Q3_K", eight_experts_o="Q5_K"),
        "Q3_K_M": FileType(
            base="Q3_K",
            v=Rule("Q4_K", early="Q5_K", early_layers=2),
            o=Rule("Q4_K"),
            down=Rule("Q4_K", early="Q5_K", early_share=16),
            eight_experts_o="Q5_K",
        ),
        "Q3_K_L": FileType(base="Q3_K", v=Rule("Q5_K"), o=Rule("Q5_K"), down=Rule("Q5_K")),
        "Q4_K_S": FileType(base="Q4_K", v=Rule(early="Q5_K", early_layers=4), down=_EARLY_Q5, eight_experts_o="Q5_K"),
        "Q4_K_M": FileType(base="Q4_K", v=_MORE_Q6, down=_MORE_Q6, eight_experts_o="Q5_K"),
        "Q5_K_S": FileType(base="Q5_K"),
        "Q5_K_M": FileType(base="Q5_K", v=_MORE_Q6, down=_MORE_Q6),
        "Q6_K": FileType(base="Q6_K"),
        "IQ1_S": _low("IQ1_S", "Q2_K", "Q2_K", "IQ2_XXS"),
        "IQ1_M": _low("IQ1_M", "Q2_K", "Q2_K", "IQ2_XXS"),
        "IQ2_XXS": _low("IQ2_XXS", "Q2_K", "Q2_K", None),
        "IQ2_XS": _low("IQ2_XS", "Q2_K", "Q2_K", None),
        "IQ2_S": _low("IQ2_XS", "IQ3_S", "IQ3_S", "IQ3_S"),
        "IQ2_M": _low("IQ2_S", "IQ3_S", "IQ3_S", "IQ3_S"),
        "IQ3_XXS": FileType(
            base="IQ3_XXS",
            output="Q5_K",
            embedding="IQ3_S",
            v=_GROUPED_Q4,
            q=Rule("IQ2_S"),
            k=Rule("IQ2_S"),
            o=Rule("IQ3_S"),
            eight_experts_o="Q5_K",
        ),
        "IQ3_XS": FileType(
            base="IQ3_S",
            v=_GROUPED_Q4,
            q=Rule("IQ3_XXS"),
            k=Rule("IQ3_XXS"),
            up=Rule(middle="IQ3_XXS"),
            eight_experts_o="Q5_K",
        ),
        "IQ3_S": FileType(base="IQ3_S", v=_GROUPED_Q4, eight_experts_o="Q5_K"),
        "IQ3_M": FileType(
            base="IQ3_S",
            v=Rule("Q4_K"),
            o=Rule("Q4_K"),
            down=Rule(early="Q4_K", early_share=8),
            eight_experts_down=Rule(more="Q4_K"),
            eight_experts_o="Q5_K",
        ),
        "IQ4_NL": FileType(base="IQ4_NL", v=_GROUPED_Q5, down=_EARLY_Q5, eight_experts_o="Q5_K"),
        "IQ4_XS": FileType(base="IQ4_XS", v=_GROUPED_Q5, down=_EARLY_Q5, eight_experts_o="Q5_K"),
        "TQ1_0": FileType(base="TQ1_0", embedding="Q4_K"),
        "TQ2_0": FileType(base="TQ2_0", embedding="Q4_K"),
        "MXFP4": FileType(base="Q8_0", output="Q8_0", experts="MXFP4"),
    }
)
"""Every mixture that llama.cpp writes, by its name. Made with an importance matrix, as published files mostly are."""
