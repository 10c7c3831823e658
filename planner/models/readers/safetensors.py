"""Headers of safetensors files, by the format's description (huggingface/safetensors, README "Format").

Eight bytes give the header's length (little-endian), then comes a JSON object: name -> dtype, shape, data_offsets,
and an optional `__metadata__` of strings. The tensor data that follows is never read and need not be there.
"""

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from planner.models.readers.json_text import MIB, fail, parse_json
from planner.models.readers.table import MOST_TENSORS, TensorTable, table_of

LARGEST_HEADER = 32 * MIB
"""The format allows 100 MB; published shards stay under 10 MiB."""

LARGEST_INDEX = 64 * MIB

BITS: Mapping[str, int] = {
    **{"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8},
    **{"F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6},
    **{"I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32},
    **{"I64": 64, "U64": 64, "F64": 64, "C64": 64},
}
"""Bits of one element, by the format's dtype names."""


@dataclass(frozen=True, slots=True)
class WeightIndex:
    """`model.safetensors.index.json`: which file holds which tensor. It gives no shapes, only the total size."""

    files: tuple[str, ...]
    tensors: int
    total_bytes: int | None


def read_header(source: bytes | BinaryIO) -> TensorTable:
    """The tensors that a safetensors file lists. `source` may end where the header ends."""
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    prefix = stream.read(8)
    if len(prefix) < 8:
        fail("not-safetensors", len(prefix), reason="shorter than its length prefix")
    length = int.from_bytes(prefix, "little")
    if not 2 <= length <= LARGEST_HEADER:
        fail("header-too-large" if length > 2 else "not-safetensors", length, limit=LARGEST_HEADER)
    text = stream.read(length)
    if len(text) < length:
        fail("header-truncated", len(text), expected=length)
    header = parse_json(text, limit=LARGEST_HEADER, depth=4)
    header.pop("__metadata__", None)
    if len(header) > MOST_TENSORS:
        fail("too-many-tensors", len(header), limit=MOST_TENSORS)
    rows, spans = {}, []
    for name, entry in header.items():
        shape, dtype, start, end = _tensor(name, entry)
        rows[name] = (shape, dtype, end - start)
        spans.append((start, end, name))
    _check_spans(spans)
    return table_of(rows)


def _wholes(values: Any, name: str, field: str, longest: int) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) > longest:
        fail("bad-tensor", name[:200], field=f"file.{field}", reason="not a short list")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            fail("bad-tensor", name[:200], field=f"file.{field}", reason="not a whole number of 63 bits")
    return tuple(values)


def _tensor(name: str, entry: Any) -> tuple[tuple[int, ...], str, int, int]:
    if not isinstance(entry, dict):
        fail("bad-tensor", name[:200], reason="not an object")
    dtype = entry.get("dtype")
    if not isinstance(dtype, str) or dtype not in BITS:
        fail("unknown-dtype", str(dtype)[:40], tensor=name[:200], accepted=sorted(BITS))
    shape = _wholes(entry.get("shape"), name, "shape", 16)
    offsets = _wholes(entry.get("data_offsets"), name, "data_offsets", 2)
    if len(offsets) != 2 or offsets[1] - offsets[0] != math.prod(shape) * BITS[dtype] / 8:
        fail("size-mismatch", name[:200], shape=list(shape), dtype=dtype, offsets=list(offsets))
    return shape, dtype, offsets[0], offsets[1]


def _check_spans(spans: list[tuple[int, int, str]]) -> None:
    end = 0
    for start, stop, name in sorted(spans):
        if start < end:
            fail("overlapping-tensors", name[:200], start=start, end=end)
        end = stop


def read_index(data: bytes | str) -> WeightIndex:
    """The files of a sharded checkpoint and its total size in bytes."""
    index = parse_json(data, limit=LARGEST_INDEX, depth=4)
    files = index.get("weight_map")
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files.values()):
        fail("missing-key", None, field="weight_map")
    metadata = index.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    known = isinstance(total, int | float) and not isinstance(total, bool) and 0 <= total < 2**63
    return WeightIndex(tuple(sorted(set(files.values()))), len(files), int(total) if known and total else None)
