"""A pasted or uploaded script or notebook as one piece of Python, within bounds of size and depth."""

import ast
import json
from dataclasses import dataclass
from typing import Any

from planner.result import InputError, Problem

LARGEST = 400_000
"""Characters of code; the largest public training scripts have about 150,000."""

LARGEST_NOTEBOOK = 20_000_000
"""Characters of a notebook file, whose outputs may hold pictures."""

DEEPEST = 120
"""Levels of nesting in the syntax tree; code written by people stays below 40."""


@dataclass(frozen=True, slots=True)
class Source:
    """The code, its tree, and for a notebook the cell (from 1) that each line (from 0) is of."""

    text: str
    tree: ast.Module
    cells: tuple[int, ...] = ()


def read_source(text: str, name: str = "") -> Source:
    """The source in `text`; a notebook is told by its ending or by its JSON. Raises `InputError`."""
    cells: tuple[int, ...] = ()
    if name.endswith(".ipynb") or _is_notebook(text):
        text, cells = _notebook(text)
    if len(text) > LARGEST:
        raise _error("text-too-long")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ")
    if not text.strip():
        raise _error("nothing-pasted")
    return Source(text, _parsed(_without_magics(text)), cells)


def _parsed(text: str) -> ast.Module:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        reason = f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
        raise _error("not-python", reason=reason) from None
    except (RecursionError, MemoryError):
        raise _error("text-too-long") from None
    except ValueError as error:  # a null byte, a lone surrogate
        raise _error("not-python", reason=str(error)[:200]) from None
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    raise _error("text-too-long")


def _without_magics(text: str) -> str:
    """Notebook commands (`%matplotlib`, `!pip`) as empty statements, so that line numbers stay."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        bare = line.lstrip()
        if bare.startswith(("!", "%")):
            lines[place] = line[: len(line) - len(bare)] + "pass"
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "\n".join(lines)
    return text  # a line that begins with % is a continued expression


def _is_notebook(text: str) -> bool:
    return text.lstrip().startswith("{") and '"cells"' in text[:LARGEST_NOTEBOOK]


def _notebook(text: str) -> tuple[str, tuple[int, ...]]:
    if len(text) > LARGEST_NOTEBOOK:
        raise _error("text-too-long")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _error("not-a-notebook", reason=str(error)[:200]) from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        raise _error("not-a-notebook", reason="cells")
    lines: list[str] = []
    numbers: list[int] = []
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        code = _cell_text(cell.get("source")).split("\n")
        if code[0].startswith("%%") and not code[0].startswith(("%%time", "%%capture")):
            code = ["pass"] * len(code)  # a cell in another language
        lines += code
        numbers += [number] * len(code)
    return "\n".join(lines), tuple(numbers)


def _cell_text(source: Any) -> str:
    if isinstance(source, list):
        return "".join(one for one in source if isinstance(one, str))
    return source if isinstance(source, str) else ""


def _error(code: str, **parameters: Any) -> InputError:
    return InputError([Problem(code, "code", None, parameters)])
