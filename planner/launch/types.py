"""What goes out (files and a command) and what comes in (chosen values, and what could not be read)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from planner.plan.plan import Plan
from planner.result import Notice

if TYPE_CHECKING:
    from planner.launch.found import Found
    from planner.launch.options import Options


def names(text: str) -> frozenset[str]:
    """The words of a text: a set of option names, readable in the source."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class File:
    """A file to save beside the others, as it is."""

    name: str
    text: str
    language: str  # yaml, json, toml, python, bash, dockerfile


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A plan in a framework's words. `command` starts it; `notes` say what it could not say, as codes."""

    framework: str
    version: str
    files: tuple[File, ...] = ()
    command: str
    notes: tuple[Notice, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything there is to read back: the command, then the files in the order in which they override it."""
        return (self.command, *(file.text for file in self.files))


@dataclass(frozen=True, slots=True)
class Unread:
    """An option that was given and is not in the plan. `code`: not-planned, bad-value or not-text."""

    option: str
    value: str
    code: str = "not-planned"
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a pasted text means: `chosen` plan values, and everything that the reader should doubt."""

    frameworks: tuple[str, ...]
    chosen: Mapping[str, Any]
    unread: tuple[Unread, ...] = ()
    assumptions: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """One framework: how it writes a plan, how its texts are told from others', and how they are read."""

    id: str
    name: str
    version: str  # whose option names these are
    source: str  # where the option names are documented
    tasks: tuple[str, ...]  # of a plan
    write: Callable[[Plan], tuple[tuple[File, ...], str]]
    recognise: Callable[["Options"], bool]
    read: Callable[["Options", "Found"], None]
    defaults: Mapping[str, Any] = field(default_factory=dict)  # plan values where its options are absent
    harmless: frozenset[str] = frozenset()  # options that change neither memory nor speed
    adapters: bool = True  # knows LoRA and its kin
    decoders_only: bool = False
    general: bool = False  # shares its names with others, and is recognised after them
    companion: bool = False  # configures another framework's run: read after the others, and overrides them
