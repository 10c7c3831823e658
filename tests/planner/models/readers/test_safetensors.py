import contextlib
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.models.readers.safetensors import read_header, read_index
from planner.models.readers.table import TensorTable
from planner.result import InputError
from tests.planner.models.readers.samples import llama_tensors, safetensors_bytes


def header(entries):
    data = json.dumps(entries).encode()
    return len(data).to_bytes(8, "little") + data


def code(data):
    with pytest.raises(InputError) as caught:
        read_header(data)
    return caught.value.problems[0].code


def test_a_header_without_its_data():
    data = safetensors_bytes({"a.weight": ("BF16", (3, 4)), "b": ("F32", ()), "c": ("F4", (2, 8))}, {"format": "pt"})
    table = read_header(data)
    assert table.names == ("a.weight", "b", "c")
    assert table.shapes == ((3, 4), (), (2, 8))
    assert table.bytes == (24, 4, 8)
    assert table.total_bytes == 36
    assert table.bytes_by_dtype == {"BF16": 24, "F4": 8, "F32": 4}
    assert read_header(io.BytesIO(data + b"tensor data")) == table


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "not-safetensors"),
        (b"\0" * 8, "not-safetensors"),
        (b"\xff" * 8, "header-too-large"),
        ((33 * 2**20).to_bytes(8, "little"), "header-too-large"),
        ((100).to_bytes(8, "little") + b"{}", "header-truncated"),
        ((4).to_bytes(8, "little") + b"\x80\x04.\x00", "not-utf8"),  # a pickle
        (header([]), "not-an-object"),
        (header({"a": 1}), "bad-tensor"),
        (header({"a": entry(dtype="F128")}), "unknown-dtype"),
        (header({"a": entry(dtype=None)}), "unknown-dtype"),
        (header({"a": entry(shape=[-1])}), "bad-tensor"),
        (header({"a": entry(shape=[2.0])}), "bad-tensor"),
        (header({"a": entry(shape=[True, 2])}), "bad-tensor"),
        (header({"a": {"dtype": "F32", "shape": "2", "data_offsets": [0, 8]}}), "bad-tensor"),
        (header({"a": entry(offsets=[0, 9])}), "size-mismatch"),
        (header({"a": entry(offsets=[8, 0])}), "size-mismatch"),
        (header({"a": entry(offsets=[0])}), "size-mismatch"),
        (header({"a": entry(), "b": entry(offsets=[4, 12])}), "overlapping-tensors"),
    ],
)
def test_what_is_refused(data, expected):
    assert code(data) == expected


def test_the_index_of_a_sharded_checkpoint():
    index = {"metadata": {"total_size": 1234}, "weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    read = read_index(json.dumps(index))
    assert (read.files, read.tensors, read.total_bytes) == (("model-1.safetensors", "model-2.safetensors"), 2, 1234)
    assert read_index('{"weight_map": {"a": "f"}}').total_bytes is None
    with pytest.raises(InputError):
        read_index('{"weight_map": {"a": 3}}')


def test_shards_are_joined_and_may_not_repeat():
    first, second = (read_header(safetensors_bytes({name: ("F16", (4,))})) for name in "ab")
    assert TensorTable.merge([first, second]).names == ("a", "b")
    with pytest.raises(InputError) as caught:
        TensorTable.merge([first, first])
    assert caught.value.problems[0].code == "duplicate-tensor"


@given(st.binary(max_size=200))
def test_any_bytes(data):
    for bytes_ in (data, len(data).to_bytes(8, "little") + data):
        with contextlib.suppress(InputError):
            read_header(bytes_)


VALID = safetensors_bytes(llama_tensors(layers=1))


@given(st.lists(st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_mutated_headers(changes):
    data = bytearray(VALID)
    for place, value in changes:
        data[place] = value
    try:
        table = read_header(bytes(data))
    except InputError:
        return
    assert table.total_bytes >= 0
    assert table.total_parameters >= 0
