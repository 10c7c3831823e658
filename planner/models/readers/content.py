"""Whatever file the user brings, told apart by its content: configuration, safetensors header or index, or GGUF."""

import dataclasses
import io
from typing import Any, BinaryIO

from planner.models.build import build
from planner.models.readers import gguf, safetensors
from planner.models.readers.generator import transformer
from planner.models.readers.json_text import MIB, fail, parse_json
from planner.models.readers.tensors import spec_from_tensors
from planner.models.spec import ModelSpec

LARGEST_JSON = 32 * MIB
"""A configuration is kilobytes; a safetensors index or header as JSON may be megabytes."""

BYTES_PER_PARAMETER = 2
"""Of a checkpoint that gives only its total size: published ones are 16-bit unless they say otherwise."""


def read_model(source: bytes | BinaryIO, *, id: str = "") -> ModelSpec:
    """The model that a file describes; of weight files only the header is read.

    Raises `InputError` naming what is wrong. An index gives names and a total size but no shapes: its model is a
    decoder of usual proportions with as many parameters, and says so in `assumed`.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    start = stream.read(16)
    stream.seek(0)
    if start.startswith(b"GGUF"):
        table, metadata = gguf.read(stream)
        return spec_from_tensors(table, metadata, id=id)
    if not start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return spec_from_tensors(safetensors.read_header(stream), id=id)
    data = stream.read(LARGEST_JSON + 1)
    values = parse_json(data, limit=LARGEST_JSON, infinite=True)
    if "weight_map" in values:
        return _from_index(data, id)
    if _is_header(values):
        prefix = len(data).to_bytes(8, "little")
        return spec_from_tensors(safetensors.read_header(prefix + data), id=id)
    return build(values, id=id)


def config_of(spec: ModelSpec) -> dict[str, Any]:
    """A configuration that builds the same model again: what a link can carry of a file."""
    config = dict(spec.config)
    if spec.quantization and "quantization_config" not in config:
        config["quantization_config"] = {"quant_method": spec.quantization}
    return config


def _is_header(values: dict[str, Any]) -> bool:
    """Every entry of a safetensors header but `__metadata__` has a dtype, a shape and offsets."""
    entries = [entry for name, entry in values.items() if name != "__metadata__"]
    return bool(entries) and all(isinstance(entry, dict) and "data_offsets" in entry for entry in entries[:3])


def _from_index(data: bytes, id: str) -> ModelSpec:
    index = safetensors.read_index(data)
    if index.total_bytes is None:
        fail("missing-key", None, field="metadata.total_size")
    spec = build(transformer(index.total_bytes / BYTES_PER_PARAMETER), id=id)
    return dataclasses.replace(spec, assumed=("size-only",))
