"""Evaluation: without gradients, and with layers in the right mode."""

import ast

from planner.code_check.finding import Hit, Hits
from planner.code_check.names import constant, dotted, last, says
from planner.code_check.program import Function, Loop, Program, evaluates

_MANY = 50  # places looked at in a script of any length
_GUARDS = ("no_grad", "inference_mode")


def rules(program: Program) -> Hits:
    """Everything about evaluation in a PyTorch script."""
    if not program.uses("torch") or program.mentions("set_grad_enabled"):
        return
    found = [call for call in program.calls if _evaluating(program, call)][:_MANY]
    open_ones = [call for call in found if not _guarded(program, call)]
    if open_ones:
        yield Hit("eval.grad", open_ones[0])
    switched = [call for call in program.calls if last(call.func) == "eval" and isinstance(call.func, ast.Attribute)]
    if found and not switched and not any(_train_false(call) for call in program.calls):
        yield Hit("eval.mode", found[0])
    yield from _never_back(program, switched)


def _train_false(call: ast.Call) -> bool:
    return last(call.func) == "train" and bool(call.args)


def _evaluating(program: Program, call: ast.Call) -> bool:
    """Whether a call runs the model in a loop that evaluates."""
    name = last(call.func)
    if not name.endswith(("model", "net", "network")) or name[:1].isupper() or "Lightning" in program.bases(call):
        return False
    if says(name, "get", "build", "create", "make", "load", "save", "compile", "setup", "wrap", "init"):
        return False
    loop = program.loop_of(call)
    if loop is None or loop in program.loops or not isinstance(loop, ast.For):
        return False
    if any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in ast.walk(loop)):
        return False
    function = program.function_of(call)
    named = [last(node) for node in ast.walk(loop.iter) if isinstance(node, ast.Name | ast.Attribute)]
    return any(evaluates(name) for name in named) or (function is not None and evaluates(function.name))


def _guarded(program: Program, call: ast.AST, level: int = 0) -> bool:
    """Whether gradients are off around a call, here or where its function is called."""
    for node in program.above(call):
        if isinstance(node, ast.With) and any(_is_guard(program, item.context_expr) for item in node.items):
            return True
        if isinstance(node, Function | ast.ClassDef) and any(_is_guard(program, one) for one in node.decorator_list):
            return True
    function = program.function_of(call)
    callers = program.callers.get(function, []) if function else []
    return level < 2 and bool(callers) and all(_guarded(program, one, level + 1) for one in callers)


def _is_guard(program: Program, node: ast.AST) -> bool:
    name = dotted(node.func if isinstance(node, ast.Call) else node, program.imports)
    return name.split(".")[-1] in _GUARDS


def _never_back(program: Program, switched: list[ast.Call]) -> Hits:
    """`model.eval()` inside a run that goes on training, and nothing that switches back."""
    back = any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "train" and constant(_first(call)) is not False
        for call in program.calls
    )
    if back:
        return
    for call in switched[:_MANY]:
        trained = [loop for loop in program.loops if isinstance(loop, ast.For | ast.While)]
        function = program.function_of(call)
        callers = program.callers.get(function, []) if function else []
        for loop in trained[:_MANY]:
            rounds = [loop, *(one for one in program.above(loop) if isinstance(one, Loop))]
            if any(one in rounds for place in [call, *callers] for one in program.above(place)):
                yield Hit("eval.never-back", call)
                return


def _first(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args else None
