import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.models.readers.json_text import parse_json
from planner.result import InputError


def code(data, **limits):
    with pytest.raises(InputError) as caught:
        parse_json(data, **limits)
    (problem,) = caught.value.problems
    return problem.code


def test_an_object_is_read():
    assert parse_json(b'\xef\xbb\xbf{"a": [1, 2.5, null, true, "\\ud83d\\ude00"]}') == {"a": [1, 2.5, None, True, "😀"]}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xff\xfe{}", "not-utf8"),
        ('{"a": "\ud800"}', "not-utf8"),
        ('{"a": "\\ud800"}', "not-utf8"),
        ("", "not-json"),
        ('{"a": 1,}', "not-json"),
        ('{"a": 01}', "not-json"),
        ("[1]", "not-an-object"),
        ("3", "not-an-object"),
        ('{"a": NaN}', "non-finite-number"),
        ('{"a": -Infinity}', "non-finite-number"),
        ('{"a": 1e999}', "non-finite-number"),
        ('{"a": ' + "9" * 5000 + "}", "non-finite-number"),
        ('{"a": 1, "a": 2}', "duplicate-key"),
        ('{"a":' * 40 + "1" + "}" * 40, "too-deep"),
        ("[" * 1_000_000, "too-deep"),
    ],
)
def test_what_is_refused(data, expected):
    assert code(data) == expected


def test_limits_are_met_before_parsing():
    assert code(b"{" + b" " * 100 + b"}", limit=100) == "too-large"
    assert code("[" + "1," * 50 + "1]", most=40) == "too-large"
    assert parse_json('{"brackets": "[[[[[[{{{{"}', depth=1) == {"brackets": "[[[[[[{{{{"}


def test_where_the_mistake_is():
    with pytest.raises(InputError) as caught:
        parse_json('{\n "a": 1\n "b": 2}')
    assert caught.value.problems[0].parameters == {"line": 3, "column": 2}


def test_infinities_can_be_read_as_unknown():
    assert parse_json('{"limit": [0.0, Infinity, NaN, 1e999]}', infinite=True) == {"limit": [0.0, None, None, None]}


@pytest.mark.parametrize("text", ['["' * 500_000, '"\\' * 700_000, "[" + "[]," * 500_000, '{"a":' * 100_000])
def test_hostile_text_is_refused_in_bounded_time(text):
    start = time.process_time()
    with pytest.raises(InputError):
        parse_json(text)
    assert time.process_time() - start < 5


@given(st.binary(max_size=300))
def test_any_bytes(data):
    with contextlib.suppress(InputError):
        assert isinstance(parse_json(data), dict)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), values, max_size=5))
def test_what_json_writes_is_read_back(value):
    assert parse_json(json.dumps(value)) == value
