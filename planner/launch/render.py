"""Options -> text: YAML, JSON, TOML, a shell array, a Python call. Commented where the format can be."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """One option: dotted name, value, and what it does."""

    name: str
    value: Any
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """A value that stands in Python text as it is: torch.bfloat16."""

    text: str


def yaml_text(lines: Sequence[Line], head: str) -> str:
    """YAML with comments; objects from dotted names, in the order in which they come."""
    return _comment(head) + "\n".join(_yaml_lines(_tree(lines), 0)) + "\n"


def _yaml_lines(tree: dict[str, Any], depth: int) -> list[str]:
    out = []
    for key, item in tree.items():
        indent = "  " * depth
        if isinstance(item, dict):
            out.append(f"{indent}{key}:")
            out.extend(_yaml_lines(item, depth + 1))
        elif isinstance(item.value, list) and item.value:
            out.append(f"{indent}{key}:{_tail(item)}")
            out.extend(f"{indent}  - {_yaml_item(entry, depth + 2)}" for entry in item.value)
        else:
            out.append(f"{indent}{key}: {_scalar(item.value)}{_tail(item)}")
    return out


def _yaml_item(entry: Any, depth: int) -> str:
    if not isinstance(entry, dict):
        return _scalar(entry)
    return f"\n{'  ' * depth}".join(f"{key}: {_scalar(value)}" for key, value in entry.items())


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        plain = value.replace("_", "").replace("-", "").replace("/", "").replace(".", "")
        words = ("true", "false", "yes", "no", "on", "off", "null", "none", "")
        return value if plain.isalpha() and value.lower() not in words else json.dumps(value)
    return json.dumps(value)


def json_text(lines: Sequence[Line]) -> str:
    """JSON, which knows no comments."""
    return json.dumps(_plain(_tree(lines)), indent=2) + "\n"


def toml_text(lines: Sequence[Line], head: str) -> str:
    """TOML: one table for each first part of the dotted names."""
    sections: dict[str, list[str]] = {}
    for line in lines:
        section, _, key = line.name.rpartition(".")
        sections.setdefault(section, []).append(f"{key} = {json.dumps(line.value)}{_tail(line)}")
    return _comment(head) + "\n\n".join("\n".join((f"[{name}]", *rows)) for name, rows in sections.items()) + "\n"


def shell_array(lines: Sequence[Line], name: str = "ARGS") -> str:
    """A Bash array of flags, which unlike a continued line may hold comments."""
    rows = []
    for line in lines:
        flag = f"--{line.name}" if len(line.name) > 1 or line.name[0] == "-" else f"-{line.name}"
        rows.append(f"  {flag}" if line.value is True else f"  {flag} {shlex.quote(str(line.value))}")
    width = max((len(row) for row in rows), default=0)
    body = (f"{row:<{width}}{_tail(line)}".rstrip() for row, line in zip(rows, lines, strict=True))
    return "\n".join((f"{name}=(", *body, ")"))


def python_call(target: str, callee: str, lines: Sequence[Line]) -> str:
    """`target = callee(...)` with one keyword argument a line; dotted names make dictionaries."""
    rows = []
    for key, item in _tree(lines).items():
        value = json_like(_plain(item)) if isinstance(item, dict) else python_value(item.value)
        rows.append(f"    {key}={value},{'' if isinstance(item, dict) else _tail(item)}")
    return "\n".join((f"{target} = {callee}(", *rows, ")"))


def python_value(value: Any) -> str:
    """A Python literal, strings in double quotes."""
    if isinstance(value, Code):
        return value.text
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else json_like(value)


def json_like(value: Any) -> str:
    """A nested Python literal."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {python_value(item)}' for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(python_value(item) for item in value) + "]"
    return python_value(value) if isinstance(value, str | Code) else repr(value)


def _tree(lines: Sequence[Line]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for line in lines:
        *parents, key = line.name.split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[key] = line
    return tree


def _plain(tree: dict[str, Any]) -> dict[str, Any]:
    return {key: _plain(item) if isinstance(item, dict) else item.value for key, item in tree.items()}


def _tail(line: Line) -> str:
    return f"  # {line.comment}" if line.comment else ""


def _comment(head: str) -> str:
    return "".join(f"# {row}\n" for row in head.splitlines())
