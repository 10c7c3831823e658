"""What a report says, apart from how it is written: blocks in order, already in the reader's language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pages.ui.memory_bar import Part
from pages.ui.tables import Column, Tile


@dataclass(frozen=True, slots=True)
class Heading:
    """Starts a section."""

    words: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text; `strong` for what decides, `quiet` for sources and remarks."""

    words: str
    strong: bool = False
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """The memory bar of one GPU; `label` names it where there are several."""

    parts: Sequence[Part]
    capacity: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Key figures side by side."""

    tiles: Sequence[Tile]


@dataclass(frozen=True, slots=True)
class Table:
    """A table under its caption."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart as SVG of our own, under its title."""

    title: str
    svg: str


Block: TypeAlias = Heading | Paragraph | Bar | Figures | Table | Drawing


@dataclass(frozen=True, slots=True)
class Report:
    """A report in one language. `data` is the same for programs: what the JSON file holds."""

    name: str  # of the file, without ending
    title: str
    blocks: Sequence[Block]
    data: Mapping[str, Any]

    @property
    def tables(self) -> list[Table]:
        return [block for block in self.blocks if isinstance(block, Table)]
