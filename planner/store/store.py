"""The store of one database: who is in which team, and the desk that somebody gets there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, and_, delete, func, insert, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from planner.result import InputError, Problem
from planner.store.desk import Desk, new_id
from planner.store.engine import database_url, open_engine, unreachable
from planner.store.items import Member, Missing, Role
from planner.store.names import clean_name
from planner.store.tables import MEMBERS, TEAMS, USERS

LOCAL = "local"
"""Id of the one user and the one team where nobody signs in."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody who signed in. `subject` is unique and lasting: issuer and subject of the provider."""

    subject: str
    email: str
    name: str
    email_verified: bool = False


@dataclass(frozen=True, slots=True)
class Membership:
    """A team that somebody belongs to, and as what."""

    team: str
    name: str
    role: Role


def open_store(url: str | None = None) -> "Store":
    """The store at `url`, by default where the environment says. Raises `InputError` as `open_engine` does."""
    return Store(open_engine(url or database_url()))


class Store:
    """Users, teams and roles; what teams keep is behind their `Desk`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def close(self) -> None:
        """Let go of the database's connections."""
        self._engine.dispose()

    def local_desk(self) -> Desk:
        """The desk where nobody signs in: one user, all rights."""
        with self._writing() as connection:
            if not connection.execute(select(TEAMS.c.id).where(TEAMS.c.id == LOCAL)).one_or_none():
                connection.execute(insert(TEAMS).values(id=LOCAL, name=LOCAL))
        return Desk(self._engine, LOCAL, LOCAL, Role.ADMIN)

    def memberships(self, identity: Identity) -> tuple[Membership, ...]:
        """The teams of somebody who signed in. A newcomer becomes the admin of a team of their own.

        Who was invited by e-mail is recognised by a verified address only: else anybody could claim it.
        """
        return self._join(identity)[1]

    def desk(self, identity: Identity, team: str) -> Desk:
        """Somebody's desk in a team of theirs. Raises `Missing` where they don't belong to it."""
        user, memberships = self._join(identity)
        for membership in memberships:
            if membership.team == team:
                return Desk(self._engine, team, identity.email or identity.name, membership.role, user)
        raise Missing(team)

    def members(self, desk: Desk) -> tuple[Member, ...]:
        """Everybody in the desk's team."""
        joined = MEMBERS.join(USERS, USERS.c.id == MEMBERS.c.user)
        query = select(USERS, MEMBERS.c.role).select_from(joined).where(MEMBERS.c.team == desk.team)
        with self._writing() as connection:
            rows = connection.execute(query.order_by(USERS.c.email)).all()
        return tuple(Member(row.id, row.email, row.name, Role(row.role), row.subject is None) for row in rows)

    def invite(self, desk: Desk, email: str, role: Role) -> None:
        """Add somebody to the desk's team by e-mail address; they are in it once they sign in with that address."""
        address = clean_name(email, "email", 320).lower()
        if address.count("@") != 1 or address.startswith("@") or address.endswith("@"):
            raise InputError([Problem("not-an-email", "email", address[:80])])
        with self._writing() as connection:
            desk.require(connection, Role.ADMIN)
            user = connection.execute(select(USERS.c.id).where(USERS.c.email == address)).scalar_one_or_none()
            if user is None:
                user = new_id()
                connection.execute(insert(USERS).values(id=user, subject=None, email=address, name=address[:200]))
            self._set_role(connection, desk.team, user, role)

    def set_role(self, desk: Desk, user: str, role: Role | None) -> None:
        """Change what a member may do; None takes them out. A team keeps one admin: else `InputError` "last-admin"."""
        with self._writing() as connection:
            desk.require(connection, Role.ADMIN)
            self._set_role(connection, desk.team, user, role)

    def rename_team(self, desk: Desk, name: str) -> None:
        """Another name for the desk's team."""
        with self._writing() as connection:
            desk.require(connection, Role.ADMIN)
            connection.execute(update(TEAMS).where(TEAMS.c.id == desk.team).values(name=clean_name(name)))

    def _join(self, identity: Identity) -> tuple[str, tuple[Membership, ...]]:
        """The user's id and teams; a newcomer's are made."""
        with self._writing() as connection:
            user = self._user(connection, identity)
            found = self._memberships(connection, user)
            if not found:
                team = new_id()
                connection.execute(insert(TEAMS).values(id=team, name=clean_name(identity.name or identity.email)))
                connection.execute(insert(MEMBERS).values(team=team, user=user, role=Role.ADMIN))
                found = self._memberships(connection, user)
        return user, found

    def _set_role(self, connection: Connection, team: str, user: str, role: Role | None) -> None:
        # One change of roles at a time: else two admins could each take the other out (SQLite's BEGIN locks already).
        connection.execute(select(TEAMS.c.id).where(TEAMS.c.id == team).with_for_update())
        here = and_(MEMBERS.c.team == team, MEMBERS.c.user == user)
        present = connection.execute(select(MEMBERS.c.role).where(here)).scalar_one_or_none()
        if role is None:
            connection.execute(delete(MEMBERS).where(here))
        elif present is None:
            connection.execute(insert(MEMBERS).values(team=team, user=user, role=role))
        else:
            connection.execute(update(MEMBERS).where(here).values(role=role))
        admins = select(func.count()).where(MEMBERS.c.team == team, MEMBERS.c.role == Role.ADMIN)
        if not connection.execute(admins).scalar_one():
            raise InputError([Problem("last-admin", "role", str(role))])  # undoes the transaction

    def _user(self, connection: Connection, identity: Identity) -> str:
        known = connection.execute(select(USERS.c.id).where(USERS.c.subject == identity.subject)).scalar_one_or_none()
        if known is not None:
            return str(known)
        address = identity.email.lower() if identity.email_verified else f"unverified:{new_id()}"
        invited = and_(USERS.c.email == address, USERS.c.subject.is_(None))
        row = connection.execute(select(USERS.c.id).where(invited)).scalar_one_or_none()
        name = clean_name(identity.name or identity.email or "user", limit=200)
        if row is not None:
            connection.execute(update(USERS).where(USERS.c.id == row).values(subject=identity.subject, name=name))
            return str(row)
        taken = connection.execute(select(USERS.c.id).where(USERS.c.email == address)).scalar_one_or_none()
        user = new_id()
        address = f"other:{user}" if taken else address  # the same address at another provider is another person
        connection.execute(insert(USERS).values(id=user, subject=identity.subject, email=address, name=name))
        return user

    def _memberships(self, connection: Connection, user: str) -> tuple[Membership, ...]:
        joined = MEMBERS.join(TEAMS, TEAMS.c.id == MEMBERS.c.team)
        query = select(TEAMS.c.id, TEAMS.c.name, MEMBERS.c.role).select_from(joined).where(MEMBERS.c.user == user)
        rows = connection.execute(query.order_by(TEAMS.c.name, TEAMS.c.id)).all()
        return tuple(Membership(row.id, row.name, Role(row.role)) for row in rows)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except IntegrityError as error:  # two sign-ins of the same newcomer at once: the second finds the first's rows
            raise InputError([Problem("store-busy", "store")]) from error
        except DBAPIError as error:
            raise InputError([unreachable(error)]) from error
