"""What the serving engines share: lengths, replicas, and a command of a program, its model and its flags."""

import shlex
from collections.abc import Sequence
from typing import Any

from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.render import Line, shell_array
from planner.launch.types import File
from planner.plan.plan import Plan


def longest(plan: Plan) -> int:
    """Tokens of the longest sequence that the engine must hold."""
    values = plan.values
    return int(values["max_model_length"] or values["input_tokens"] + values["output_tokens"])


def replicas(plan: Plan) -> int:
    """Copies of the model beside each other."""
    values = plan.values
    tensor = values["tensor_parallel"] if plan.uses("tensor_parallel") else 1
    pipeline = values["pipeline_parallel"] if plan.uses("pipeline_parallel") else 1
    return max(1, int(values["gpus"]) // (tensor * pipeline))


def script(
    name: str, program: str, lines: Sequence[Line], version: str, plan: Plan, environment: str = ""
) -> tuple[tuple[File, ...], str]:
    """A commented script, and the command that runs it. `environment`: lines that set variables."""
    text = (
        f"#!/usr/bin/env bash\n# Made by GPU Planner for {version}: {plan.spec.name}, "
        f"{plan.values['gpus']} x {plan.values['gpu']}.\nset -euo pipefail\n\n"
        f'{environment}{shell_array(lines)}\n\nexec {program} "${{ARGS[@]}}"\n'
    )
    return (File(name, text, "bash"),), f"bash {name}"


def quoted(text: Any) -> str:
    """An argument of a command."""
    return shlex.quote(str(text))


def read_length(options: Options, found: Found, *names: str) -> None:
    """The longest sequence; K and M are thousands and millions as vLLM takes them (k: 1000, K: 1024)."""
    value = options.take(*names)
    if value is None:
        return
    text = str(value)
    scale = {"k": 1000, "K": 1024, "m": 10**6, "M": 2**20}.get(text[-1:], 1)
    try:
        tokens = int(float(text[:-1] if scale > 1 else text) * scale)
    except ValueError:
        tokens = 0
    if tokens > 0:
        found.set("max_model_length", tokens, names[0])


def read_model(options: Options, found: Found, programs: Sequence[str], *names: str) -> None:
    """The model: named by a flag, or the first word that is not the program's."""
    given = options.take(*names)
    if given is None:
        rest = [word for word in options.words if word.rsplit("/", 1)[-1] not in programs and not word.endswith(".sh")]
        given = next((word for word in rest if not word.startswith(("/usr", "$"))), None)
    if given is not None:
        found.model(given, "model")


def lengths_unsaid(found: Found) -> None:
    """Engines are not told how long requests are."""
    found.assume("lengths-kept")
