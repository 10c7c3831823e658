"""Options as one flat mapping, whatever they were written in, that remembers which of them were read."""

from collections.abc import Mapping
from typing import Any


class Options:
    """Options by dotted name ("fsdp_config.version", "LoraConfig.r"); command-line flags without their dashes.

    `words` are the arguments of a command that are not options, `kind` what the text was: json, yaml, toml, python,
    shell or modelfile. Taking an option marks it read; what is never taken could not be read.
    """

    def __init__(self, kind: str, values: Mapping[str, Any], words: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.words = words
        self._values = dict(values)
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def has(self, *names: str) -> bool:
        """Whether any of the names is there."""
        return any(name in self._values for name in names)

    def under(self, prefix: str) -> tuple[str, ...]:
        """The names that start with `prefix` and a dot."""
        return tuple(name for name in self._values if name.startswith(f"{prefix}."))

    def peek(self, name: str) -> Any:
        """An option's value, or None, without taking it."""
        return self._values.get(name)

    def take(self, *names: str) -> Any:
        """The value of the first of the names that is there, or None; all of them count as read."""
        found = None
        for name in names:
            if name in self._values:
                self._taken.add(name)
                found = self._values[name] if found is None else found
        return found

    def whole(self, *names: str) -> int | None:
        """As `take`, for a whole number; what is none stays unread."""
        for name in names:
            value = self._values.get(name)
            number = as_whole(value)
            if number is not None:
                self.take(*names)
                return number
        return None

    def flag(self, *names: str) -> bool | None:
        """As `take`, for true or false in any spelling. A word that follows a bare flag is an argument, not its value.

        None where it is absent or neither.
        """
        for name in names:
            if name not in self._values:
                continue
            value = as_flag(self._values[name])
            if value is None and self.kind == "shell":
                self.words = (*self.words, str(self._values[name]))
                value = True
            if value is not None:
                self.take(*names)
                return value
        return None

    @property
    def rest(self) -> dict[str, Any]:
        """What was not taken."""
        return {name: value for name, value in self._values.items() if name not in self._taken}


def as_whole(value: Any) -> int | None:
    """A whole number from a number or its text ("4096", "8_192"), else None."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(str(value).replace("_", ""))
    except ValueError:
        return None
    return int(number) if abs(number) < 2**53 and number == int(number) else None


def as_number(value: Any) -> float | None:
    """A finite number from a number or its text, else None."""
    try:
        number = float(str(value)) if not isinstance(value, bool) else None
    except ValueError:
        return None
    return number if number is not None and abs(number) < 1e300 else None


def as_flag(value: Any) -> bool | None:
    """True or false in the spellings that configurations use, else None."""
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    return words.get(str(value).strip().lower())


def flatten(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested objects as dotted names; lists are left whole."""
    flat: dict[str, Any] = {}
    for key, item in value.items():
        name = f"{prefix}{key}"
        if isinstance(item, Mapping) and item:
            flat.update(flatten(item, f"{name}."))
        else:
            flat[name] = item
    return flat
