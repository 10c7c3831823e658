"""The tensors of a checkpoint: names, shapes, dtypes and bytes, and the weights that quantised ones stand for."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from planner.models.readers.json_text import fail

MOST_TENSORS = 1_000_000
"""No published checkpoint has as many (the largest mixtures of experts, scales included, have under half)."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A weight as the model knows it: full precision's elements, whatever they are packed into."""

    name: str
    elements: int
    shape: tuple[int, ...] | None  # None where the packing forgets it
    packing: str = ""  # "", or how it is quantised


@dataclass(frozen=True)
class TensorTable:
    """What a weight file's header lists; one row a tensor. Shapes are in the order of the framework: rows first."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    bytes: tuple[int, ...]

    @classmethod
    def merge(cls, tables: Iterable["TensorTable"]) -> "TensorTable":
        """The table of a checkpoint in several files. Raises `InputError` where two hold the same tensor."""
        parts = tuple(tables)
        names = tuple(name for part in parts for name in part.names)
        if len(set(names)) != len(names):
            fail("duplicate-tensor", next(name for name in set(names) if names.count(name) > 1)[:200])
        return cls(
            names,
            tuple(shape for part in parts for shape in part.shapes),
            tuple(dtype for part in parts for dtype in part.dtypes),
            tuple(size for part in parts for size in part.bytes),
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """Row of each tensor."""
        return {name: row for row, name in enumerate(self.names)}

    @property
    def total_bytes(self) -> int:
        return sum(self.bytes)

    @cached_property
    def bytes_by_dtype(self) -> dict[str, int]:
        """Bytes stored in each dtype, largest first."""
        found: dict[str, int] = {}
        for dtype, size in zip(self.dtypes, self.bytes, strict=True):
            found[dtype] = found.get(dtype, 0) + size
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @cached_property
    def weights(self) -> tuple[Weight, ...]:
        """The model's weights: packed ones unpacked, scales and zero points left out."""
        return tuple(weight for row in range(len(self.names)) if (weight := _weight(self, row)) is not None)

    @property
    def total_parameters(self) -> int:
        """Parameters of the model (not the elements stored, which quantisation packs)."""
        return sum(weight.elements for weight in self.weights)

    @cached_property
    def quantization(self) -> str | None:
        """How most packed bytes are stored; None where nothing is packed."""
        sizes: dict[str, int] = {}
        for weight in self.weights:
            if weight.packing:
                sizes[weight.packing] = sizes.get(weight.packing, 0) + weight.elements
        return max(sizes, key=lambda packing: sizes[packing]) if sizes else None

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Shape of a tensor, or None where there is no such tensor."""
        row = self.index.get(name)
        return None if row is None else self.shapes[row]


_COMPANION = re.compile(
    r"(\.(scales|qzeros|g_idx|weight_scale|weight_scale_inv|weight_scale_2|weight_global_scale|weight_zero_point"
    r"|weight_shape|weight_g_idx|weight_format|input_scale|input_global_scale|output_scale|k_scale|v_scale|SCB|CB"
    r"|absmax|quant_map|nested_absmax|nested_quant_map|quant_state\.[\w.]+)|_scales|_scale_inv)$"
)
"""What quantisers store beside a weight: bitsandbytes, AutoGPTQ, AutoAWQ, compressed-tensors, ModelOpt, MXFP4."""

_BUFFER = re.compile(r"(^|\.)(inv_freq|masked_bias|attn\.bias|attention\.bias|position_ids)$")
"""Not trained: rotary frequencies, causal masks, position numbers."""


def _weight(table: TensorTable, row: int) -> Weight | None:
    name, shape, dtype = table.names[row], table.shapes[row], table.dtypes[row]
    if _COMPANION.search(name) or (_BUFFER.search(name) and len(shape) != 1):
        return None
    stem = name.rpartition(".")[0]
    if name.endswith("inv_freq"):
        return None
    if name.endswith(".qweight"):
        return _integer_packed(table, stem, shape)
    if name.endswith(".weight_packed"):
        factor = 8 if dtype == "I32" else 2  # eight 4-bit values in a 32-bit word, two in a byte
        return _packed(f"{stem}.weight", shape, factor, "compressed-tensors")
    if name.endswith("_blocks"):
        return Weight(name.removesuffix("_blocks"), math.prod(shape) * 2, None, "mxfp4")
    if dtype == "U8" and f"{name}.absmax" in table.index:
        return Weight(name, math.prod(shape) * 2, None, _bitsandbytes(table, name))
    if dtype == "U8" and f"{stem}.weight_scale_2" in table.index:
        return _packed(name, shape, 2, "nvfp4")
    return Weight(name, math.prod(shape), shape, _packing(dtype))


def _packed(name: str, shape: tuple[int, ...], factor: int, packing: str) -> Weight:
    """A weight whose last dimension holds `factor` values an element."""
    full = (*shape[:-1], shape[-1] * factor) if shape else shape
    return Weight(name, math.prod(full), full, packing)


def _bitsandbytes(table: TensorTable, name: str) -> str:
    return "fp4" if f"{name}.quant_state.bitsandbytes__fp4" in table.index else "nf4"


def _packing(dtype: str) -> str:
    if dtype.startswith("F8_") or dtype.startswith("F4") or dtype.startswith("F6_"):
        return "fp" + dtype[1]
    if dtype in ("I8", "U8"):
        return "int8"
    return dtype.lower() if dtype[:1] in "QT" or dtype.startswith(("IQ", "MXFP", "NVFP")) else ""


def _integer_packed(table: TensorTable, stem: str, shape: tuple[int, ...]) -> Weight:
    """GPTQ packs inputs into 32-bit words, AWQ outputs; scales are [groups, outputs] in both, zeros pack outputs."""
    scales, zeros = table.shape(f"{stem}.scales"), table.shape(f"{stem}.qzeros")
    outputs = scales[-1] if scales else 0
    if len(shape) != 2 or not outputs:
        return Weight(f"{stem}.weight", math.prod(shape) * 8, None, "gptq")
    if shape[1] != outputs:  # AWQ
        return Weight(f"{stem}.weight", shape[0] * outputs, (outputs, shape[0]), "awq")
    bits = round(32 * zeros[-1] / outputs) if zeros else 4
    inputs = shape[0] * 32 // bits if bits in (2, 3, 4, 8) else shape[0] * 8
    return Weight(f"{stem}.weight", inputs * outputs, (outputs, inputs), "gptq")


def table_of(rows: Mapping[str, tuple[tuple[int, ...], str, int]]) -> TensorTable:
    """The table of `{name: (shape, dtype, bytes)}`."""
    values = tuple(rows.values())
    return TensorTable(
        tuple(rows), tuple(v[0] for v in values), tuple(v[1] for v in values), tuple(v[2] for v in values)
    )
