"""A pasted traceback or log -> a report."""

import dataclasses
import re

from planner.oom import engines, torch_errors
from planner.oom.report import Report
from planner.result import InputError, Problem

LONGEST = 1024 * 1024
"""Characters of a pasted log."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read(text: str) -> Report:
    """What the text says about memory; an engine's parts beside PyTorch's error where it has both.

    Raises `InputError`: text-too-long, nothing-pasted, no-memory-in-log.
    """
    if len(text) > LONGEST:
        raise InputError([Problem("text-too-long", "text", len(text), {"limit": LONGEST})])
    text = _COLOURS.sub("", text.replace("\r\n", "\n"))
    if not text.strip():
        raise InputError([Problem("nothing-pasted", "text")])
    engine = engines.recognise(text)
    if torch_errors.recognise(text):
        report = torch_errors.read(text)
        return dataclasses.replace(report, parts=engines.read(text).parts) if engine else report
    if engine:
        return engines.read(text)
    raise InputError([Problem("no-memory-in-log", "text", None)])
