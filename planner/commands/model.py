"""`model`: what configurations or weight-file headers describe: parameters, key/value cache, state."""

import argparse
import json
from pathlib import Path
from typing import Any

from planner.commands.words import problem_line
from planner.memory.formats import KV_BYTES
from planner.memory.kv_cache import kv_bytes, kv_bytes_per_token, state_bytes
from planner.models.readers.content import read_model
from planner.models.spec import ModelSpec
from planner.result import InputError, Problem

BAD_INPUT = 2


def add_to(commands: Any) -> None:
    """Declare the subcommand."""
    about = "parameters and key/value cache of config.json, safetensors or GGUF files (headers only); cache in bytes"
    parser = commands.add_parser("model", help=about, description=about)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print a JSON list, one object a file")
    parser.add_argument(
        "--kv-dtype", default="bf16", choices=sorted({"auto", *KV_BYTES}), help="dtype of the key/value cache"
    )
    parser.add_argument("--context", type=_tokens, default=4096, metavar="N", help="tokens of kv_bytes_at_context")
    parser.set_defaults(run=run)


def _tokens(text: str) -> int:
    """A number of tokens; argparse turns the error into a sentence."""
    value = int(text)
    if not 0 <= value <= 2**40:
        raise ValueError
    return value


def run(options: argparse.Namespace) -> int:
    """Describe every file; a bad one is reported in its row and does not stop the rest. Status 2 if any is bad."""
    rows = [_row(path, options.kv_dtype, options.context) for path in options.files]
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            _print(row)
    return BAD_INPUT if any(row["status"] == "error" for row in rows) else 0


def _row(path: str, kv_dtype: str, context: int) -> dict[str, Any]:
    empty = dict.fromkeys(
        (
            "model_type",
            "total_parameters",
            "active_parameters",
            "kv_bytes_per_token",
            "state_bytes_per_sequence",
            "kv_bytes_at_context",
            "components",
        )
    )
    try:
        spec = _read(Path(path))
    except InputError as error:
        message = "; ".join(problem_line(problem).removeprefix("error: ") for problem in error.problems)
        return {"file": path, **empty, "status": "error", "message": message}
    return {
        "file": path,
        "model_type": spec.model_type,
        "total_parameters": spec.total_parameters,
        "active_parameters": spec.active_parameters,
        "kv_bytes_per_token": float(kv_bytes_per_token(spec, kv_dtype)),
        "state_bytes_per_sequence": float(state_bytes(spec)),
        "kv_bytes_at_context": float(kv_bytes(spec, context, kv_dtype)),
        "components": components(spec),
        "status": "assumed" if spec.assumed else "recorded" if spec.recorded_parameters is not None else "exact",
        "message": "assumed: " + ", ".join(spec.assumed) if spec.assumed else "",
    }


def _read(path: Path) -> ModelSpec:
    try:
        with path.open("rb") as file:
            return read_model(file, id=path.stem)
    except OSError as error:
        raise InputError([Problem("cannot-read-file", "file", str(path), {"reason": error.strerror})]) from error


def components(spec: ModelSpec) -> dict[str, int]:
    """Parameters by part of the model."""
    parts = {"embeddings": spec.embedding_parameters, "head": spec.head_parameters}
    for stack in spec.stacks:
        parts[stack.kind] = parts.get(stack.kind, 0) + stack.parameters
    parts["experts"] = spec.expert_parameters
    for component in spec.components:
        parts[component.name] = parts.get(component.name, 0) + component.parameters
    return {str(name): count for name, count in parts.items() if count}


def _print(row: dict[str, Any]) -> None:
    if row["status"] == "error":
        print(f"{row['file']}: {row['message']}")
        return
    print(
        f"{row['file']}: {row['model_type']}, {row['total_parameters']:,} parameters "
        f"({row['active_parameters']:,} active), {row['kv_bytes_per_token']:,.0f} B of cache per token, "
        f"{row['state_bytes_per_sequence']:,.0f} B of state per sequence ({row['status']})"
    )
