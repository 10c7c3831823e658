"""Which driver runs which CUDA, which CUDA knows which GPU, and what each framework release was built with."""

import csv
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TypeAlias

Version: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table. Empty means unknown, or no limit."""

    kind: str
    name: str
    cuda: str
    driver_linux: str
    driver_windows: str
    driver_minor_linux: str
    driver_minor_windows: str
    capability: str
    first_cuda: str
    last_cuda: str
    cudnn: str
    wheels: str
    as_of: str
    source: str


@lru_cache
def table() -> tuple[Row, ...]:
    """The table of planner/data/cuda_compat.csv."""
    text = files("planner").joinpath("data/cuda_compat.csv").read_text("utf-8")
    return tuple(Row(**row) for row in csv.DictReader(text.splitlines()))


def rows(kind: str) -> tuple[Row, ...]:
    """The rows of one kind: toolkit, major, branch, capability, pytorch, tensorflow, cudnn, mig."""
    return tuple(row for row in table() if row.kind == kind)


def version(text: str) -> Version:
    """The numbers of a version: "590.48.01" is (590, 48, 1), "12.8" is (12, 8); empty where there is none."""
    found = re.match(r"\D{0,3}(\d+(?:\.\d+)*)", text.strip())
    return tuple(int(part) for part in found.group(1).split(".")) if found else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverNeed:
    """The driver that a CUDA version needs: for everything in it, and at least (minor-version compatibility)."""

    full: str
    least: str
    source: str


def driver_for(cuda: str, windows: bool = False) -> DriverNeed | None:
    """The drivers that a CUDA runtime such as "12.8" needs; None where the version is unknown."""
    wanted = version(cuda)[:2]
    exact = [row for row in rows("toolkit") if version(row.cuda)[:2] == wanted]
    major = [row for row in rows("major") if version(row.cuda)[:1] == wanted[:1]]
    if not wanted or not (exact or major):
        return None
    first = exact[0] if exact else major[0]
    full = first.driver_windows if windows else first.driver_linux
    least = (major[0].driver_minor_windows if windows else major[0].driver_minor_linux) if major else full
    return DriverNeed(full=full or least, least=least or full, source=first.source)


def cuda_of_driver(driver: str) -> str:
    """The newest CUDA that a driver supports, by its branch; empty for a branch that is not in the table."""
    branch = version(driver)[:1]
    known = [row for row in rows("branch") if version(row.driver_linux)[:1] <= branch]
    return known[-1].cuda if branch and known else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One link of the chain: `code` says how it stands."""

    code: str
    good: bool | None  # None: it works with a restriction
    found: str
    needed: str
    source: str


def judge(*, driver: str, cuda: str, capability: str = "", windows: bool = False) -> tuple[Judgement, ...]:
    """Whether driver, CUDA runtime and GPU belong together; one judgement for each pair that is known."""
    found = []
    need = driver_for(cuda, windows)
    if driver and need is not None:
        have = version(driver)
        if have >= version(need.full):
            code, good = "driver-full", True
        elif have >= version(need.least):
            code, good = "driver-minor", None
        else:
            code, good = "driver-old", False
        needed = need.least if good is False else need.full
        found.append(Judgement(code=code, good=good, found=driver, needed=needed, source=need.source))
    row = next((row for row in rows("capability") if row.capability == capability), None)
    if row is not None and version(cuda):
        if version(cuda)[:2] < version(row.first_cuda):
            found.append(
                Judgement(code="cuda-too-old", good=False, found=cuda, needed=row.first_cuda, source=row.source)
            )
        elif row.last_cuda and version(cuda)[:2] > version(row.last_cuda):
            found.append(Judgement(code="gpu-dropped", good=False, found=cuda, needed=row.last_cuda, source=row.source))
        else:
            found.append(Judgement(code="gpu-known", good=True, found=cuda, needed=row.first_cuda, source=row.source))
    return tuple(found)


def covers(architectures: list[str], capability: str) -> bool | None:
    """Whether a build's list ("sm_80", "sm_90a", "compute_90") runs on a GPU of this capability.

    Code of a capability runs on later ones of the same major; PTX ("compute_") on all later ones. Code with a suffix
    ("a", "f") runs on its own capability only. None where the list or the capability is unknown.
    """
    wanted = version(capability)
    if not architectures or len(wanted) < 2:
        return None
    for one in architectures:
        found = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", one.strip())
        if not found:
            continue
        have = (int(found.group(2)), int(found.group(3)))
        if found.group(4):
            fits = have == wanted[:2]
        elif found.group(1) == "sm":
            fits = have[0] == wanted[0] and have <= wanted[:2]
        else:
            fits = have <= wanted[:2]
        if fits:
            return True
    return False
