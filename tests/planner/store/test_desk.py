"""Saved items: what is saved is there, stale saves lose nothing, and no team reaches another's."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, event, text

from planner.result import InputError
from planner.store.desk import Desk
from planner.store.items import Conflict, Forbidden, Kind, Missing, Role
from planner.store.store import Identity, Store, open_store
from planner.store.tables import METADATA

ROOT = Path(__file__).parents[3]
ANNA = Identity("https://id.example|1", "anna@example.org", "Anna", email_verified=True)
BORIS = Identity("https://id.example|2", "boris@example.org", "Boris", email_verified=True)


def codes(error: InputError) -> list[tuple[str, str]]:
    return [(problem.code, problem.field) for problem in error.problems]


def test_the_migrations_make_the_tables(store: Store, url: str) -> None:
    with create_engine(url).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_an_item_is_saved_changed_put_away_and_brought_back(store: Store) -> None:
    desk = store.local_desk()
    item = desk.create(Kind.PLAN, "  Llama\non one card ", {"model": "m", "gpus": 2}, tags=["a", "b", "a"], notes="why")
    assert (item.name, item.tags, item.version) == ("Llama on one card", ("a", "b"), 1)
    saved = desk.save(item.id, 1, name="Another", content={"model": "n"}, tags=("c",))
    assert desk.item(item.id) == saved
    assert [i.id for i in desk.items(Kind.PLAN, search="another N")] == [item.id]
    assert desk.items(Kind.PLAN, search="llama") == ()
    assert desk.items(Kind.COMPARISON) == ()
    copy = desk.duplicate(item.id, "Copy")
    assert copy.id != item.id
    assert dict(copy.content) == {"model": "n"}
    archived = desk.save(item.id, 2, archived=True)
    assert [i.id for i in desk.items(Kind.PLAN)] == [copy.id]
    assert [i.id for i in desk.items(Kind.PLAN, archived=True)] == [item.id]
    desk.delete(item.id, archived.version)
    with pytest.raises(Missing):
        desk.item(item.id)
    assert [i.id for i in desk.items(Kind.PLAN, deleted=True)] == [item.id]
    assert desk.restore(item.id).name == "Another"
    actions = [line.action for line in desk.audit(item.id)]
    assert actions == ["restore", "delete", "save", "save", "create"]
    assert desk.audit(item.id)[3].before == {
        "name": "Llama on one card",
        "tags": ["a", "b"],
        "content": {"model": "m", "gpus": 2},
    }


def test_a_stale_save_shows_both_and_loses_neither(store: Store) -> None:
    desk = store.local_desk()
    item = desk.create(Kind.PLAN, "Plan", {"gpus": 1})
    theirs = desk.save(item.id, item.version, content={"gpus": 2})
    with pytest.raises(Conflict) as caught:
        desk.save(item.id, item.version, content={"gpus": 4})
    assert caught.value.theirs == theirs
    assert dict(caught.value.mine.content) == {"gpus": 4}
    assert dict(desk.item(item.id).content) == {"gpus": 2}
    assert dict(desk.save(item.id, theirs.version, content={"gpus": 4}).content) == {"gpus": 4}


def test_savers_at_once_lose_nothing(url: str) -> None:
    first = open_store(url)
    item = first.local_desk().create(Kind.PLAN, "Counter", {"n": 0})

    def count(_: int) -> int:
        own, conflicts = open_store(url), 0
        desk = own.local_desk()
        for _ in range(10):
            while True:
                seen = desk.item(item.id)
                try:
                    desk.save(item.id, seen.version, content={"n": seen.content["n"] + 1})
                    break
                except Conflict:
                    conflicts += 1
        own.close()
        return conflicts

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))
    assert first.local_desk().item(item.id).content["n"] == 40
    first.close()


def test_a_kill_loses_no_acknowledged_save(url: str) -> None:
    """A process saves and prints each id once the save returned; it is killed at some moment."""
    code = (
        "import sys; from planner.store.store import open_store; from planner.store.items import Kind\n"
        "desk = open_store(sys.argv[1]).local_desk()\n"
        "n = 0\n"
        "while True:\n"
        "    n += 1; print(desk.create(Kind.PLAN, f'plan {n}', {'n': n}).id, flush=True)"
    )
    for wait in (0.05, 0.13):
        process = subprocess.Popen([sys.executable, "-c", code, url], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        process.stdout.readline()  # it is at work
        time.sleep(wait)
        process.kill()
        acknowledged = [line.strip() for line in process.stdout if line.endswith("\n") and line.strip()]
        process.wait()
        store = open_store(url)
        kept = {item.id for item in store.local_desk().items(Kind.PLAN)}
        store.close()
        assert len(acknowledged) > 2
        assert set(acknowledged) <= kept


def test_comments_and_what_is_written_in_them(store: Store) -> None:
    desk = store.local_desk()
    item = desk.create(Kind.PLAN, "Plan", {})
    desk.comment(item.id, "<script>alert(1)</script> \u202eabc @anna")
    assert [c.text for c in desk.comments(item.id)] == ["<script>alert(1)</script> abc @anna"]
    with pytest.raises(InputError) as caught:
        desk.comment(item.id, "  \n")
    assert codes(caught.value) == [("empty", "comment")]


@pytest.mark.parametrize(
    ("name", "code"), [("", "empty"), (" \u200b\u202e ", "empty"), ("x" * 121, "too-long"), (7, "not-a-text")]
)
def test_bad_names_are_named(store: Store, name: object, code: str) -> None:
    with pytest.raises(InputError) as caught:
        store.local_desk().create(Kind.PLAN, name, {})  # type: ignore[arg-type]
    assert codes(caught.value) == [(code, "name")]


def test_one_team_cannot_reach_another(store: Store) -> None:
    (a,), (b,) = store.memberships(ANNA), store.memberships(BORIS)
    assert a.team != b.team
    desk, other = store.desk(ANNA, a.team), store.desk(BORIS, b.team)
    item = desk.create(Kind.PLAN, "Secret", {"model": "m"}, notes="hidden")
    desk.comment(item.id, "said")
    gone = desk.create(Kind.PLAN, "Gone", {})
    desk.delete(gone.id, 1)
    attempts = (
        lambda: other.item(item.id),
        lambda: other.comments(item.id),
        lambda: other.comment(item.id, "mine"),
        lambda: other.save(item.id, 1, name="mine"),
        lambda: other.duplicate(item.id, "mine"),
        lambda: other.delete(item.id, 1),
        lambda: other.restore(gone.id),
        lambda: store.desk(BORIS, a.team),
    )
    for attempt in attempts:
        with pytest.raises(Missing):
            attempt()
    for kind in Kind:
        for flags in ({}, {"archived": True}, {"deleted": True}):
            assert other.items(kind, **flags) == ()
    assert other.audit() == ()
    assert other.audit(item.id) == ()
    assert desk.item(item.id) == item
    assert [c.text for c in desk.comments(item.id)] == ["said"]


def test_roles_decide_what_one_may(store: Store) -> None:
    (team,) = store.memberships(ANNA)
    desk = store.desk(ANNA, team.team)
    item = desk.create(Kind.PLAN, "Plan", {})
    store.invite(desk, "Boris@Example.org", Role.VIEWER)
    assert {m.email: m.invited for m in store.members(desk)} == {"anna@example.org": False, "boris@example.org": True}
    viewer = store.desk(BORIS, team.team)
    assert viewer.item(item.id) == item
    for attempt in (
        lambda: viewer.create(Kind.PLAN, "x", {}),
        lambda: viewer.save(item.id, 1, name="x"),
        lambda: viewer.delete(item.id, 1),
        lambda: viewer.comment(item.id, "x"),
        lambda: store.invite(viewer, "c@example.org", Role.ADMIN),
        lambda: store.set_role(viewer, "x", Role.ADMIN),
    ):
        with pytest.raises(Forbidden):
            attempt()
    boris = next(m.user for m in store.members(desk) if m.email == "boris@example.org")
    store.set_role(desk, boris, Role.EDITOR)
    assert store.desk(BORIS, team.team).save(item.id, 1, name="x").name == "x"
    store.set_role(desk, boris, None)
    with pytest.raises(Missing):
        store.desk(BORIS, team.team)


def test_a_role_taken_away_counts_at_once(store: Store) -> None:
    (team,) = store.memberships(ANNA)
    desk = store.desk(ANNA, team.team)
    item = desk.create(Kind.PLAN, "Plan", {})
    store.invite(desk, "boris@example.org", Role.ADMIN)
    held = store.desk(BORIS, team.team)  # as in a page that is still open
    boris = next(m.user for m in store.members(desk) if m.email == "boris@example.org")
    for role in (Role.VIEWER, None):
        store.set_role(desk, boris, role)
        for attempt in (
            lambda: held.save(item.id, 1, name="x"),
            lambda: held.delete(item.id, 1),
            lambda: held.create(Kind.PLAN, "x", {}),
            lambda: store.invite(held, "c@example.org", Role.ADMIN),
            lambda: store.set_role(held, boris, Role.ADMIN),
            lambda: store.rename_team(held, "x"),
        ):
            with pytest.raises(Forbidden):
                attempt()
    assert desk.item(item.id) == item


def test_a_team_keeps_an_admin(store: Store) -> None:
    (team,) = store.memberships(ANNA)
    desk = store.desk(ANNA, team.team)
    (me,) = store.members(desk)
    for role in (Role.EDITOR, None):
        with pytest.raises(InputError) as caught:
            store.set_role(desk, me.user, role)
        assert codes(caught.value) == [("last-admin", "role")]
    assert store.members(desk) == (me,)


def test_two_admins_at_once_do_not_both_go(store: Store) -> None:
    (team,) = store.memberships(ANNA)
    desk = store.desk(ANNA, team.team)
    for _ in range(5):
        store.invite(desk, "boris@example.org", Role.ADMIN)
        other = store.desk(BORIS, team.team)
        ids = {m.email: m.user for m in store.members(desk)}

        def drop(by: Desk, whom: str) -> None:
            with suppress(Forbidden, InputError):
                store.set_role(by, whom, Role.VIEWER)

        with ThreadPoolExecutor(2) as pool:
            done = [
                pool.submit(drop, desk, ids["boris@example.org"]),
                pool.submit(drop, other, ids["anna@example.org"]),
            ]
            for each in done:
                each.result()
        admins = [m.email for m in store.members(desk) if m.role is Role.ADMIN]
        assert admins
        if admins == ["boris@example.org"]:
            store.set_role(other, ids["anna@example.org"], Role.ADMIN)


def test_an_unverified_address_claims_no_invitation(store: Store) -> None:
    (team,) = store.memberships(ANNA)
    store.invite(store.desk(ANNA, team.team), "carla@example.org", Role.ADMIN)
    impostor = Identity("https://other.example|9", "carla@example.org", "Carla")
    assert team.team not in {m.team for m in store.memberships(impostor)}
    carla = Identity("https://id.example|3", "Carla@example.org", "Carla", email_verified=True)
    assert team.team in {m.team for m in store.memberships(carla)}


def test_a_database_from_the_future_is_left_alone(url: str) -> None:
    open_store(url).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(InputError) as caught:
        open_store(url)
    assert codes(caught.value) == [("store-from-future", "store")]


def test_a_full_disk_is_a_problem_and_loses_nothing(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'planner.sqlite'}")
    desk = store.local_desk()
    item = desk.create(Kind.PLAN, "Plan", {"n": 1})

    @event.listens_for(store._engine, "begin")
    def cap(connection: Connection) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

    with pytest.raises(InputError) as caught:
        desk.create(Kind.PLAN, "Large", {"text": "x" * 100_000})
    assert codes(caught.value) == [("store-unreachable", "store")]
    assert desk.items(Kind.PLAN) == (item,)
    store.close()


def test_a_folder_that_cannot_be_made_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError) as caught:
        open_store(f"sqlite:///{tmp_path / 'file' / 'planner.sqlite'}")
    assert codes(caught.value) == [("store-unreachable", "store")]


def test_a_broken_file_is_a_problem_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "broken.sqlite").write_bytes(b"this is no database, and long enough to be one" * 100)
    for url in (f"sqlite:///{tmp_path / 'broken.sqlite'}", "postgresql+psycopg://nobody@127.0.0.1:1/x", "nonsense"):
        with pytest.raises(InputError) as caught:
            open_store(url)
        assert codes(caught.value) == [("store-unreachable", "store")]
