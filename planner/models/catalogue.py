"""The models we know: 466 published architectures, plus the vision and diffusion tables.

`data/models.jsonl` has one model a line: who published it, the part of its configuration that decides its shape, and
two counts to check against: `parameters`, which the reference implementation stores when it builds the configuration,
and `published_parameters`, which the publisher states (and which may count buffers, scales or prediction heads too).
"""

import dataclasses
import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner.models.build import build
from planner.models.spec import ModelSpec, ModelTask
from planner.result import InputError, Problem

DATA = Path(__file__).parent.parent / "data" / "models.jsonl"

TOLERANCE = 0.02
"""Where the computed count is further than this from the reference, the recorded count is used, and labelled."""

TUNING = frozenset({"instruct", "chat", "it", "pt", "hf"})
"""Words of names that say how weights were trained or stored: the shape is that of the name without them."""

_SIZE = re.compile(r"(\d+x)?\d+(\.\d+)?[bm]")
_VERSION = re.compile(r"-v\d+(\.\d+)*$")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """One model of the catalogue. Counts are numbers of parameters."""

    id: str  # Hugging Face id, or timm/..., torchvision/... or diffusion/...
    name: str
    family: str
    task: ModelTask
    config: Mapping[str, Any]  # Hugging Face keys; only those that decide the shape
    parameters: int  # reference count, multi-token-prediction blocks left out
    parameters_from: str = ""  # transformers (built there), formula (derived by hand), published, or a table's name
    active_parameters: int | None = None  # reference; None where all are active
    published_parameters: int | None = None
    published_exact: bool = False  # False: a rounded figure such as a model card's "7B"
    published_active: int | None = None
    released: str = ""  # ISO date, to the day, month or year
    license: str = ""
    gated: bool = False
    config_source: str = ""
    parameters_source: str = ""
    note: str = ""  # what a published count holds beyond the model


@lru_cache(maxsize=1)
def entries() -> tuple[Entry, ...]:
    """The published architectures, in the order of their ids."""
    with DATA.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return tuple(Entry(**{**record, "task": ModelTask(record["task"])}) for record in records)


def _key(text: str) -> str:
    return re.sub(r"[\s_]+", "-", text.strip().lower())


def _untuned(key: str) -> str:
    """The key without its tuning words. `base` is one where another word is the size (in bert-base it is the size)."""
    words = key.split("-")
    idle = TUNING | {"base"} if any(_SIZE.fullmatch(word) for word in words) else TUNING
    return "-".join(word for place, word in enumerate(words) if place == 0 or word not in idle)


def _short(key: str) -> str:
    return key.rpartition("/")[2]


_SHORTER: tuple[Callable[[str], str], ...] = (
    lambda key: key,
    _short,
    _untuned,
    lambda key: _untuned(_short(key)),
    lambda key: _VERSION.sub("", _untuned(_short(key))),
)
"""Names that an entry answers to, most exact first; each only where no other entry would answer to it as well."""


@lru_cache(maxsize=1)
def _by_key() -> dict[str, Entry]:
    index: dict[str, Entry] = {}
    for shorten in _SHORTER:
        found: dict[str, list[Entry]] = {}
        for entry in entries():
            found.setdefault(shorten(_key(entry.id)), []).append(entry)
        for key, matches in found.items():
            if len(matches) == 1:
                index.setdefault(key, matches[0])
    return index


def find(text: str) -> Entry:
    """The entry that an id or a name means.

    Case, blanks and underscores don't matter; the publisher may be left out; `Llama-3.1-8B-Instruct` is answered by
    `Llama-3.1-8B`, which has its shape. Raises `InputError` (code unknown-model) with the nearest names.
    """
    index, key = _by_key(), _key(text[:200])
    entry = index.get(key) or index.get(_untuned(key)) or _table_entry(key)
    if entry is None:
        raise InputError([Problem("unknown-model", "model", text[:200], {"nearest": list(_nearest(_short(key)))})])
    return entry


def _nearest(short: str) -> tuple[str, ...]:
    """Ids of the five entries whose names are most like a short name; those that begin with it come first."""
    names = {_short(_key(entry.id)): entry.id for entry in entries()}
    beginning = sorted(name for name in names if short and name.startswith(short))
    alike = difflib.get_close_matches(short, names, n=5, cutoff=0.55)
    return tuple(names[name] for name in dict.fromkeys((*beginning, *alike)))[:5]


_TABLES = ("timm/", "torchvision/", "diffusion/")
"""Prefixes of ids that come from the vision and diffusion tables."""


@lru_cache(maxsize=1)
def _table_ids() -> dict[str, tuple[str, Callable[[str], ModelSpec]]]:
    """Ids of the tables by key, with the function that makes their models."""
    from planner.models.diffusion import diffusion_ids, diffusion_model
    from planner.models.vision import vision_ids, vision_model

    return {
        _key(id): (id, make)
        for ids, make in ((vision_ids(), vision_model), (diffusion_ids(), diffusion_model))
        for id in ids
    }


def _table_model(key: str) -> ModelSpec | None:
    """The model of a key with a table's prefix; None where it has none, or no table holds it."""
    found = _table_ids().get(key) if key.startswith(_TABLES) else None
    return found[1](found[0]) if found else None


def _table_entry(key: str) -> Entry | None:
    spec = _table_model(key)
    if spec is None:
        return None
    return Entry(
        id=spec.id,
        name=spec.name,
        family=spec.family,
        task=spec.task,
        config={},
        parameters=spec.total_parameters,
        parameters_from="table",
        parameters_source=spec.source,
    )


@lru_cache(maxsize=1)
def _table_entries() -> tuple[Entry, ...]:
    return tuple(entry for key in _table_ids() if (entry := _table_entry(key)) is not None)


def search(
    text: str = "",
    *,
    task: ModelTask | None = None,
    family: str | None = None,
    smallest: float | None = None,
    largest: float | None = None,
) -> tuple[Entry, ...]:
    """Entries whose id or family holds every word of `text`, of a task and family, with a count within limits."""
    words = re.split(r"[\s_-]+", text[:200].strip().lower())

    def suits(entry: Entry) -> bool:
        haystack = f"{entry.id} {entry.family}".lower()
        return (
            (task is None or entry.task == task)
            and (family is None or entry.family.lower() == family.lower())
            and (smallest is None or entry.parameters >= smallest)
            and (largest is None or entry.parameters <= largest)
            and all(word in haystack for word in words)
        )

    return tuple(entry for entry in (*entries(), *_table_entries()) if suits(entry))


def model(text: str) -> ModelSpec:
    """The layer description of the model that an id or a name means: the same object each time."""
    return _model(find(text).id)


@lru_cache(maxsize=4096)
def _model(id: str) -> ModelSpec:
    spec = _table_model(_key(id))
    return spec if spec is not None else specify(_by_key()[_key(id)])


def specify(entry: Entry) -> ModelSpec:
    """The entry's layer description, with the recorded count where the computed one misses it by over 2 %."""
    spec = dataclasses.replace(
        build(entry.config, id=entry.id, name=entry.name),
        task=entry.task,
        family=entry.family,
        source=entry.config_source,
    )
    if abs(spec.computed_parameters / entry.parameters - 1) > TOLERANCE:
        return dataclasses.replace(spec, recorded_parameters=entry.parameters)
    return spec
