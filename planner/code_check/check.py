"""Checks a script: every rule over its structure, findings by weight."""

from collections.abc import Callable

from planner.code_check.catalogue import RULES
from planner.code_check.finding import Finding, Hit, Hits, Report, Severity
from planner.code_check.program import Program, read_program
from planner.code_check.rules import distributed, evaluation, frameworks, keras, setup, steps
from planner.code_check.source import Source, read_source

_RULES: tuple[Callable[[Program], Hits], ...] = (
    setup.rules,
    steps.rules,
    evaluation.rules,
    distributed.rules,
    frameworks.rules,
    keras.rules,
)
_ORDER = tuple(Severity)
_FRAMEWORKS = {
    "torch": "PyTorch",
    "lightning": "Lightning",
    "pytorch_lightning": "Lightning",
    "transformers": "Transformers",
    "accelerate": "Accelerate",
    "deepspeed": "DeepSpeed",
    "tensorflow": "TensorFlow",
    "keras": "Keras",
}
_LONGEST_CODE = 160


def check(text: str, name: str = "") -> Report:
    """What in a script or notebook costs speed or memory. The code is parsed and never run.

    `name` is the file's, by whose ending a notebook is told. Raises `InputError` for what is too large, too deep, or
    not Python. A script that trains nothing has no findings; `loops` is then 0.
    """
    source = read_source(text, name)
    program = read_program(source.tree)
    hits: dict[str, list[Hit]] = {}
    for rule in _RULES:
        for hit in rule(program):
            hits.setdefault(hit.id, []).append(hit)
    findings = [_finding(source, id, found) for id, found in hits.items()]
    findings.sort(key=lambda one: (_ORDER.index(one.severity), one.line))
    frameworks = dict.fromkeys(shown for root, shown in _FRAMEWORKS.items() if program.uses(root))
    return Report(tuple(findings), tuple(frameworks), source.text, len(program.loops))


def _finding(source: Source, id: str, hits: list[Hit]) -> Finding:
    rule = RULES[id]
    places = sorted({int(getattr(hit.node, "lineno", 1)) for hit in hits})
    first = places[0]
    line = source.text.split("\n")[first - 1].strip()
    return Finding(
        id=id,
        severity=rule.severity,
        line=first,
        lines=tuple(places),
        code=line if len(line) <= _LONGEST_CODE else f"{line[: _LONGEST_CODE - 1]}…",
        fix=rule.fix,
        sets=rule.sets,
        was=rule.was,
        cell=source.cells[first - 1] if source.cells else None,
    )
