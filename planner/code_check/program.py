"""A script's structure: functions, the loops that train, and the statements that run in every step."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from planner.code_check.names import dotted, imports_of, last, says

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LEVELS = 2
"""Functions called from a loop are followed this far."""

_COMMON = frozenset({"step", "backward", "zero_grad", "forward", "update", "train", "eval", "append", "get", "items"})
"""Method names that say nothing of whose method it is."""

_STEP_METHODS = ("training_step", "train_step", "compute_loss")
"""Methods that Lightning, Keras and Hugging Face call once a step."""


@dataclass(frozen=True, slots=True)
class Program:
    """The tree with what is known of it.

    `hot` are expressions and simple statements that run in every step, `losses` names that gradients are asked of,
    `makers` of a name the functions and classes whose result is assigned to it, `callers` of a function its calls.
    """

    tree: ast.Module
    imports: dict[str, str]
    parents: dict[ast.AST, ast.AST]
    functions: dict[str, list[Function]]
    calls: tuple[ast.Call, ...]
    identifiers: frozenset[str]
    hot: list[ast.AST] = field(default_factory=list)
    loops: list[Loop | Function] = field(default_factory=list)
    losses: set[str] = field(default_factory=set)
    makers: dict[str, set[str]] = field(default_factory=dict)
    callers: dict[Function, list[ast.Call]] = field(default_factory=dict)

    def name(self, node: ast.AST) -> str:
        """The full name of an expression, or of what a call calls."""
        return dotted(node.func if isinstance(node, ast.Call) else node, self.imports)

    def uses(self, *roots: str) -> bool:
        """Whether something of these packages is imported."""
        return any(name.split(".")[0] in roots for name in self.imports.values())

    def mentions(self, *identifiers: str) -> bool:
        """Whether one of these identifiers occurs anywhere."""
        return not self.identifiers.isdisjoint(identifiers)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around one, inner first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_of(self, node: ast.AST) -> Function | None:
        return next((one for one in self.above(node) if isinstance(one, Function)), None)

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        return next((one for one in self.above(node) if isinstance(one, ast.ClassDef)), None)

    def loop_of(self, node: ast.AST) -> Loop | None:
        """The innermost loop around a node, inside its function."""
        for one in self.above(node):
            if isinstance(one, Loop):
                return one
            if isinstance(one, _SCOPES):
                return None
        return None

    def bases(self, node: ast.AST) -> str:
        """The names of the classes that the class around a node is made from."""
        found = self.class_of(node)
        return " ".join(dotted(base, self.imports) for base in found.bases) if found else ""

    def called(self, call: ast.Call) -> list[Function]:
        """The functions of this file that a call may mean."""
        func = call.func
        if isinstance(func, ast.Name):
            return [one for one in self.functions.get(func.id, []) if not self.bases(one) or self.function_of(one)]
        if isinstance(func, ast.Attribute):
            able = self.functions.get(func.attr, [])
            if isinstance(func.value, ast.Name) and func.value.id in ("self", "cls"):
                own = self.class_of(call)
                return [one for one in able if self.parents.get(one) is own]
            return [] if func.attr in _COMMON else [one for one in able if self.class_of(one)]
        return []

    def hot_calls(self) -> Iterator[ast.Call]:
        """Every call that runs in every step."""
        for root in self.hot:
            yield from (node for node in inside(root) if isinstance(node, ast.Call))


def inside(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement or an expression, without functions defined in it and rare halves of `a if b else c`."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.IfExp) and rare(node.test, frozenset()):
            waiting += [node.test, node.orelse]
        else:
            waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, _SCOPES)]


def read_program(tree: ast.Module) -> Program:
    """The structure of a script, its training loops found."""
    parents: dict[ast.AST, ast.AST] = {}
    functions: dict[str, list[Function]] = {}
    calls: list[ast.Call] = []
    identifiers: set[str] = set()
    makers: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        parents.update((child, node) for child in ast.iter_child_nodes(node))
        if isinstance(node, Function):
            functions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Call):
            calls.append(node)
        elif isinstance(node, ast.Assign):
            made = set(_made_with(node.value))
            for target in node.targets:
                for name in target.elts if isinstance(target, ast.Tuple | ast.List) else (target,):
                    makers.setdefault(last(name), set()).update(made)
        identifiers |= _identifiers(node)
    calls.sort(key=lambda one: (one.lineno, one.col_offset))
    program = Program(tree, imports_of(tree), parents, functions, tuple(calls), frozenset(identifiers), makers=makers)
    for call in calls:
        for function in program.called(call):
            program.callers.setdefault(function, []).append(call)
    program.losses.update(name for call in calls for name in _loss_of(program, call))
    _find_loops(program)
    _find_hot(program)
    return program


def _made_with(node: ast.expr) -> Iterator[str]:
    """The last names of the calls of a chain: of `Dataset.from_list(x).map(f)` "map" and "from_list"."""
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Call):
            yield last(node.func)
        node = node.func if isinstance(node, ast.Call) else node.value


def _identifiers(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if isinstance(node, ast.keyword | ast.arg) and node.arg:
        return {node.arg}
    if isinstance(node, ast.alias):
        return set(node.name.split("."))
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
        return {node.value.lstrip("-")}
    return set()


# The loops that train


def is_update(program: Program, call: ast.Call) -> bool:
    """Whether a call computes gradients or applies them: each framework's way of saying so."""
    if not isinstance(call.func, ast.Attribute):
        return says(last(call.func), "scaler") and any(says(last(one), "loss") for one in call.args)
    owner, what = call.func.value, call.func.attr
    if what in ("backward", "manual_backward", "apply_gradients"):
        return True
    if what == "gradient":
        return program.mentions("GradientTape")
    if what == "step":
        return says(last(owner), "optimizer", "optim", "opt", "optimiser", "scaler", "engine")
    return False


def _loss_of(program: Program, call: ast.Call) -> Iterator[str]:
    """The name of the loss whose gradient a call asks for."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("backward", "manual_backward"):
        return
    owner = call.func.value
    if isinstance(owner, ast.Call):  # scaler.scale(loss).backward()
        yield from (one.id for one in owner.args if isinstance(one, ast.Name))
    elif isinstance(owner, ast.Name) and not call.args:
        yield owner.id
    yield from (one.id for one in call.args[:1] if isinstance(one, ast.Name))


def _find_loops(program: Program) -> None:
    """Loops that update, directly or through the functions that they call; and steps that a framework calls."""
    asked = [call for call in program.calls if is_update(program, call)]
    for _ in range(_LEVELS + 1):
        updating: set[str] = set()
        for call in asked:
            loop = program.loop_of(call)
            function = program.function_of(call)
            if loop is not None:
                _keep(program.loops, loop)
            elif function is not None:
                updating.add(function.name)
        asked = [
            call for call in program.calls if any(one.name in updating for one in program.called(call)) if updating
        ]
    for name in _STEP_METHODS:
        for function in program.functions.get(name, []):
            if any(part in program.bases(function) for part in ("Lightning", "Model", "Trainer", "Task")):
                _keep(program.loops, function)


def _keep(found: list[Loop | Function], one: Loop | Function) -> None:
    if one not in found:
        found.append(one)


# The statements of every step


def _find_hot(program: Program) -> None:
    changing = frozenset(_changing_names(program.tree))
    bodies: list[list[ast.stmt]] = [loop.body for loop in program.loops]
    bodies += [
        function.body
        for function in program.functions.get("forward", [])
        if any(part in program.bases(function) for part in ("Module", "Lightning", "PreTrained", "Model"))
    ]
    seen: set[ast.AST] = set()
    for level in range(_LEVELS + 1):
        found = [node for body in bodies for node in _each_step(body, changing) if node not in seen]
        for node in found:
            if node not in seen:
                seen.add(node)
                program.hot.append(node)
        called = {
            function
            for root in found
            for node in inside(root)
            if isinstance(node, ast.Call)
            for function in program.called(node)
            if level < _LEVELS and not evaluates(function.name) and function not in seen
        }
        seen |= called
        bodies = [function.body for function in called]


def evaluates(name: str) -> bool:
    """Whether a name speaks of evaluation, which happens now and then."""
    return says(
        name, "eval", "evaluate", "evaluation", "valid", "validate", "validation", "val", "test", "testing", "infer",
        "inference", "predict", "save", "checkpoint", "log", "logger", "plot", "sample", "estimate", "dev",
    )  # fmt: skip


def _each_step(body: list[ast.stmt], changing: frozenset[str]) -> Iterator[ast.AST]:
    """What of a block runs in every step: neither what is under `if step % n == 0` nor what ends the loop."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield statement.test
            seldom = rare(statement.test, changing)
            if not seldom and not _leaves(statement.body):
                yield from _each_step(statement.body, changing)
            yield from _each_step(statement.orelse, changing)
            if seldom and _skips(statement):
                return
        elif isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            header = statement.test if isinstance(statement, ast.While) else statement.iter
            if not any(evaluates(last(node)) for node in ast.walk(header)):
                yield header
                yield from _each_step(statement.body, changing)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            yield from (item.context_expr for item in statement.items)
            yield from _each_step(statement.body, changing)
        elif isinstance(statement, ast.Try):
            yield from _each_step([*statement.body, *statement.orelse, *statement.finalbody], changing)
        elif isinstance(statement, ast.Match):
            for case in statement.cases:
                yield from _each_step(case.body, changing)
        elif not isinstance(statement, _SCOPES):
            yield statement


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a block ends the loop: it runs once."""
    return bool(body) and isinstance(body[-1], ast.Break | ast.Raise | ast.Return)


def _skips(statement: ast.If) -> bool:
    """`if step % n: continue`: what follows is rare."""
    if not (statement.body and isinstance(statement.body[-1], ast.Continue)):
        return False
    test = statement.test
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], ast.NotEq | ast.Gt)
    return isinstance(test, ast.BinOp)


_SELDOM = (
    "log", "logging", "print", "eval", "evaluate", "valid", "validate", "save", "debug", "verbose", "profile",
    "profiling", "checkpoint", "ckpt", "interval", "every", "freq", "frequency", "last", "first", "bench", "benchmark",
    "synchronize", "report", "plot", "visualize", "nan", "dry", "tracking", "wandb", "tensorboard", "test", "patience",
    "overflow", "best", "improved", "elapsed", "tqdm", "time", "perf",
)  # fmt: skip
_ALWAYS = ("rank", "device", "main", "process", "master", "primary", "world", "type", "gpu", "name", "mode")


def rare(test: ast.expr, changing: frozenset[str]) -> bool:
    """Whether a condition holds now and then only: every n steps, once, or where the user asks for it."""
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test)):
        return True
    if isinstance(test, ast.BoolOp):
        return any(rare(one, changing) for one in test.values)
    if isinstance(test, ast.UnaryOp):
        return False
    names = [last(node) for node in ast.walk(test) if isinstance(node, ast.Name | ast.Attribute)]
    if any(name in changing or says(name, *_SELDOM) for name in names):
        return True
    once = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)
    return once and not any(says(name, *_ALWAYS) for name in names) and not _compares_text(test)


def _compares_text(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Constant) and isinstance(node.value, str | bool) for node in ast.walk(test))


def _changing_names(tree: ast.Module) -> Iterator[str]:
    """Names assigned from a remainder: `update = (step + 1) % n == 0`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(_is_remainder(one) for one in ast.walk(node.value)):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _is_remainder(node: ast.AST) -> bool:
    """`step % n`; `"%d" % step` is a text."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and not isinstance(node.left, ast.Constant)
