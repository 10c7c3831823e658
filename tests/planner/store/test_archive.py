"""Everything out as one file and in again; files that are corrupt, hostile or from the future are refused whole."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.result import InputError
from planner.store.archive import export_all, import_all
from planner.store.items import Kind
from planner.store.store import Identity, Store, open_store


def filled(store: Store) -> Any:
    desk = store.local_desk()
    for kind in Kind:
        item = desk.create(kind, f"One {kind}", {"text": "قيمة", "n": 1.5}, tags=["t"], notes="two\nlines")
        desk.comment(item.id, "said")
    desk.save(item.id, 1, archived=True)
    return desk


def test_all_comes_back(store: Store) -> None:
    desk = filled(store)
    file = export_all(desk).encode()
    (team,) = store.memberships(Identity("i|1", "a@example.org", "A"))
    other = store.desk(Identity("i|1", "a@example.org", "A"), team.team)
    assert import_all(other, file) == (len(Kind), 0)
    assert import_all(other, file) == (0, len(Kind))
    for kind in Kind:
        old = kind is Kind.RECORDING
        (mine,), (theirs,) = other.items(kind, archived=old), desk.items(kind, archived=old)
        assert (mine.name, mine.tags, mine.notes, mine.content) == (
            theirs.name,
            theirs.tags,
            theirs.notes,
            theirs.content,
        )
        assert mine.id != theirs.id
        assert [c.text for c in other.comments(mine.id)] == ["said"]


GOOD = {"kind": "plan", "name": "x", "content": {}}


@pytest.mark.parametrize(
    ("file", "code", "field"),
    [
        ({"format": "other", "version": 1, "items": []}, "not-an-archive", "file"),
        ({"format": "gpu-planner-store", "version": 2, "items": []}, "archive-from-future", "file"),
        ({"format": "gpu-planner-store", "version": 1, "items": {}}, "not-an-archive", "file"),
        ([GOOD, {**GOOD, "name": ""}], "empty", "items[1].name"),
        ([{**GOOD, "kind": "virus"}], "not-a-choice", "items[0].kind"),
        ([{**GOOD, "schema": 99}], "unknown-schema", "items[0].schema"),
        ([{**GOOD, "content": []}], "not-an-object", "items[0].content"),
        ([{**GOOD, "tags": "a"}], "not-a-list", "items[0].tags"),
        ([{**GOOD, "comments": [{"author": "a"}]}], "not-a-text", "items[0].comments.text"),
        (["x"], "not-an-object", "items[0]"),
    ],
)
def test_a_bad_file_is_refused_whole(tmp_path: Any, file: Any, code: str, field: str) -> None:
    store = open_store(f"sqlite:///{tmp_path / 's'}")
    desk = store.local_desk()
    whole = file if isinstance(file, dict) else {"format": "gpu-planner-store", "version": 1, "items": file}
    with pytest.raises(InputError) as caught:
        import_all(desk, json.dumps(whole).encode())
    assert [(p.code, p.field) for p in caught.value.problems] == [(code, field)]
    assert desk.items(Kind.PLAN) == ()
    store.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200), cut=st.integers(0, 2000), where=st.integers(0, 2000), byte=st.integers(0, 255))
def test_nothing_but_a_problem_comes_of_rubbish(tmp_path: Any, data: bytes, cut: int, where: int, byte: int) -> None:
    store = open_store(f"sqlite:///{tmp_path / 's'}")
    desk = store.local_desk()
    good = json.dumps({"format": "gpu-planner-store", "version": 1, "items": [GOOD]}).encode()
    changed = bytearray(good)
    changed[where % len(good)] = byte
    for file in (data, good[: cut % len(good)], bytes(changed)):
        with suppress(InputError):  # anything else is a crash
            added, known = import_all(desk, file)
            assert added + known == 1
    store.close()
