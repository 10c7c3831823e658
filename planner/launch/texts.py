"""Pasted text -> options, by its kind. Nothing is ever executed; size, depth, aliases and counts are bounded first."""

import ast
import re
import shlex
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

from planner.launch.options import Options, flatten
from planner.models.readers.json_text import parse_json
from planner.result import InputError, Problem

LONGEST = 128 * 1024
"""Characters of a pasted text. The longest published configuration seen has 12,000."""

DEEPEST, MOST_NODES, MOST_ALIASES = 24, 5_000, 16

_MODELFILE = re.compile(r"^\s*(FROM|PARAMETER)\s+\S+", re.MULTILINE)
_PYTHON = re.compile(r"^\s*(import|from)\s+\w+|^\s*[\w.]+\s*=\s*[\w.]+\(|^\s*[A-Z][A-Za-z]+\($", re.MULTILINE)
_TOML = re.compile(r"^\s*\[[\w.\"-]+\]\s*(#.*)?$", re.MULTILINE)
_YAML = re.compile(r"^[\w.\"'-]+:(\s|$)", re.MULTILINE)
_COMMAND = re.compile(r"^\s*#!|^\s*(\w+=\S*\s+)*(\S*/)?(\w[\w.-]*)(\s+\S+)*\s+-{1,2}\w|^\s*-{1,2}[a-z]", re.MULTILINE)
_SBATCH = re.compile(r"^#SBATCH\s+--?([\w-]+)[=\s]+(\S+)", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^(?:export\s+)?([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_SETTINGS = re.compile(r"^\s*set\s+[-+].*$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)(?::-[^}]*)?\}?")


def fail(code: str, value: Any = None, **parameters: Any) -> InputError:
    """The one problem of a pasted text."""
    return InputError([Problem(code, "text", value, parameters)])


def options_of(text: str) -> tuple[Options, ...]:
    """The documents in a pasted text. Raises `InputError` where it is too long, or is nothing that can be read."""
    if len(text) > LONGEST:
        raise fail("text-too-long", len(text), limit=LONGEST)
    text = text.replace("\r\n", "\n").replace("\u00a0", " ").strip("\ufeff\n")
    if not text.strip():
        raise fail("nothing-pasted")
    if text.lstrip().startswith("{"):
        return (Options("json", _flat(_json(text))),)
    if _MODELFILE.search(text) and not _PYTHON.search(text):
        return (_modelfile(text),)
    if not text.startswith("#!") and not _SBATCH.search(text):
        if _TOML.search(text):
            return (Options("toml", _flat(_toml(text))),)
        if _PYTHON.search(text):
            return (_python(text),)
        if _YAML.search(text) and not _COMMAND.match(text):
            return _yaml(text)
    return (_shell(text),)


def _flat(value: Mapping[str, Any]) -> dict[str, Any]:
    flat = flatten(value)
    if len(flat) > MOST_NODES:
        raise fail("text-too-long", len(flat), limit=MOST_NODES)
    return flat


def _json(text: str) -> dict[str, Any]:
    try:
        return parse_json(text, limit=LONGEST, depth=DEEPEST, most=MOST_NODES)
    except InputError as error:
        if error.problems[0].code == "too-large":  # its sentence speaks of a model's configuration
            raise fail("text-too-long", len(text), limit=LONGEST) from error
        raise


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise fail("not-toml", None, reason=str(error)[:200]) from error


def _yaml(text: str) -> tuple[Options, ...]:
    """YAML by the safe loader, after a look at its events: few aliases, shallow, not many nodes."""
    try:
        depth = nodes = aliases = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            nodes += isinstance(event, yaml.NodeEvent)
            aliases += isinstance(event, yaml.AliasEvent)
            if depth > DEEPEST or nodes > MOST_NODES or aliases > MOST_ALIASES:
                raise fail("too-deep" if depth > DEEPEST else "text-too-long", None, limit=DEEPEST)
        documents = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise fail("not-yaml", None, reason=" ".join(str(error).split())[:200]) from error
    found = tuple(Options("yaml", _flat(document)) for document in documents if isinstance(document, Mapping))
    if not found:
        raise fail("not-a-configuration")
    return found


def _modelfile(text: str) -> Options:
    """Ollama's Modelfile: one instruction a line; several lines only between triple quotes, which hold no options."""
    values: dict[str, Any] = {}
    for line in re.sub(r'"""(?:.|\n)*?"""', '""', text).splitlines():
        words = line.split(None, 2)
        if not words or words[0].startswith("#"):
            continue
        if words[0].upper() == "PARAMETER" and len(words) == 3:
            values[f"parameter.{words[1].lower()}"] = words[2].strip()
        elif words[0].upper() == "FROM" and len(words) > 1:
            values["from"] = words[1]
    return Options("modelfile", values)


# Python


def _python(text: str) -> Options:
    """Constants and keyword arguments of a Python text, by the parser alone: "TrainingArguments.optim"."""
    try:
        tree = ast.parse(text)
        values: dict[str, Any] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                _keep(values, node.targets[0].id, node.value)
            elif isinstance(node, ast.Call):
                _call(values, node)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise fail("not-python", None, reason=str(error)[:200]) from error
    if len(values) > MOST_NODES:
        raise fail("text-too-long", len(values), limit=MOST_NODES)
    constants = {name: value for name, value in values.items() if name.isidentifier()}
    for name, value in values.items():  # arguments given by the name of a constant
        if isinstance(value, _Name):
            values[name] = constants.get(value, str(value))
    return Options("python", values)


class _Name(str):
    """A dotted name that stands for a value: torch.bfloat16, or a constant above."""


def _call(values: dict[str, Any], node: ast.Call) -> None:
    name = _dotted(node.func).rsplit(".", 1)[-1]
    if not name:
        return
    values[f"{name}()"] = True
    if node.args:
        _keep(values, f"{name}.0", node.args[0])
    for keyword in node.keywords:
        if keyword.arg:
            _keep(values, f"{name}.{keyword.arg}", keyword.value)


def _keep(values: dict[str, Any], name: str, node: ast.expr) -> None:
    """A literal, a name, or a dictionary of such (flattened); anything that would have to run is left out."""
    if isinstance(node, ast.Dict):
        for key, item in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                _keep(values, f"{name}.{key.value}", item)
        return
    if isinstance(node, ast.Name | ast.Attribute):
        values[name] = _Name(_dotted(node))
        return
    try:
        values[name] = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < DEEPEST:
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ".".join(reversed(parts))


# Shell


def _shell(text: str) -> Options:
    """A command line or script: flags, environment, and the words between. Variables set above are put in."""
    values: dict[str, Any] = {f"sbatch.{name.replace('-', '_')}": value for name, value in _SBATCH.findall(text)}
    tokens = _split(text)
    variables: dict[str, str] = {}
    words: list[str] = []
    queue = list(reversed(tokens))
    last = ""  # the flag that still waits for its value
    steps = 0
    while queue:
        steps += 1
        if steps > 4 * MOST_NODES:
            raise fail("text-too-long", steps, limit=MOST_NODES)
        token = _put_in(queue.pop(), variables).strip("()").rstrip(";")
        assigned = _ASSIGNMENT.match(token)
        if assigned and not last:
            value = assigned[2].strip("()")
            if re.search(r"(^|\s)--?\w", value) and not value.startswith("$("):  # a list of flags kept in a variable
                queue.extend(reversed(value.split()[:MOST_NODES]))
            else:
                variables[assigned[1]] = value
                values[f"env.{assigned[1]}"] = value
        elif last == "c" and words[-1:] and words[-1].endswith("sh"):  # bash -c '...'
            values.pop(last, None)
            last = ""
            queue.extend(reversed(_split(token.replace(";", "; "))))
        elif re.match(r"--?[A-Za-z]", token):
            name, equals, value = token.lstrip("-").partition("=")
            last = "" if equals else name.replace("-", "_")
            values[name.replace("-", "_")] = value if equals else True
        elif token and last:
            values[last], last = token, ""
        elif token and token not in ("\\", "&&", "export", "exec", "set", "$@"):
            words.append(token)
    return Options("shell", values, tuple(words))


def _split(text: str) -> list[str]:
    try:
        return shlex.split(_SETTINGS.sub("", text).replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise fail("not-a-command", None, reason=str(error)[:200]) from error


def _put_in(token: str, variables: Mapping[str, str]) -> str:
    if "$" not in token:
        return token
    return _VARIABLE.sub(lambda match: variables.get(match[1], ""), token)[:LONGEST]
