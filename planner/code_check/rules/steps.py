"""What runs in every step: waits for the GPU, copies, work on the CPU, and losses kept with their graph."""

import ast
from collections.abc import Iterator

from planner.code_check.finding import Hit, Hits
from planner.code_check.names import constant, keyword, last, says
from planner.code_check.program import Program, inside

_MAKERS = frozenset(
    f"torch.{name}"
    for name in ("zeros", "ones", "full", "rand", "randn", "randint", "randperm", "arange", "linspace", "eye", "empty",
                 "tensor", "as_tensor")
)  # fmt: skip
_BY_NAME = {
    "torch.cuda.empty_cache": "sync.empty-cache",
    "torch.cuda.synchronize": "sync.synchronize",
    "gc.collect": "sync.gc",
    "torch.save": "save.every-step",
}
MANAGED = ("Accelerator", "Fabric", "deepspeed", "Trainer", "LightningModule", "set_default_device", "device_map",
           "set_default_tensor_type", "xm", "prepare")  # fmt: skip
"""Names of what places the model and chooses the precision by itself."""

_WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "FSDP", "DDP", "fully_shard")
_CUT = ("item", "detach", "numpy", "tolist", "reduce_tensor", "gather", "len", "int")
_SAVERS = ("save_pretrained", "save_checkpoint", "save_weights", "save_state")
_READERS = ("Image.open", "cv2.imread", "pandas.read_csv", "numpy.load", "torch.load", "torchaudio.load")


def rules(program: Program) -> Hits:
    """Everything about the code of each step. On a CPU there is nothing to wait for."""
    if not program.hot or (program.uses("torch") and not placed(program)):
        return
    graph, pinned = tensors(program), pins(program)
    for call in program.hot_calls():
        yield from _call(program, call, graph, pinned)
    yield from _branches(program, graph)
    yield from _kept(program, graph)


def tensors(program: Program) -> set[str]:
    """Names of the file that hold losses with their graph: what `backward` is called on, and what it is made of."""
    found = set(program.losses)
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            made = isinstance(value, ast.Call) and says(last(value.func), "criterion", "loss", "entropy")
            part = isinstance(value, ast.Attribute) and value.attr == "loss"
            if (made or part) and not detached(value):
                found.add(name)
            if name in program.losses and isinstance(value, ast.BinOp):
                found |= {one.id for one in ast.walk(value) if isinstance(one, ast.Name) and says(one.id, "loss")}
    return found


def detached(node: ast.AST) -> bool:
    """Whether a value was cut off from its graph, or is no tensor any more."""
    return any(_cuts(one) for one in ast.walk(node))


def _cuts(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last(node.func) in _CUT or (isinstance(node.func, ast.Name) and node.func.id == "float")
    return isinstance(node, ast.Attribute) and node.attr == "data"


def _call(program: Program, call: ast.Call, graph: set[str], pinned: bool) -> Hits:
    name = program.name(call)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    torch = program.uses("torch")
    if name in _BY_NAME:
        yield Hit(_BY_NAME[name], call)
    elif method in _SAVERS and not _under_save(program, call):
        yield Hit("save.every-step", call)
    elif method == "item" and not call.args and torch:
        yield Hit("sync.item", call)
    elif method in ("cpu", "numpy", "tolist") and not call.args and (torch or program.uses("tensorflow", "keras")):
        if not _outer_wait(program, call):
            yield Hit("sync.to-host", call)
    elif name in ("float", "int", "print", "str") and any(_is_live(one, graph) for one in _shown(call)):
        yield Hit("sync.print" if name == "print" else "sync.item", call)
    elif method == "set_postfix" and any(_is_live(one.value, graph) for one in call.keywords):
        yield Hit("sync.print", call)
    elif method == "zero_grad" and constant(keyword(call, "set_to_none")) is False:
        yield Hit("grad.zero", call)
    elif method == "backward" and constant(keyword(call, "retain_graph")) is True and len(program.losses) == 1:
        yield Hit("leak.retain-graph", call)
    elif method in ("to", "cuda") and isinstance(call.func, ast.Attribute):
        yield from _move(program, call, pinned)
    elif says(last(call.func), "tokenizer", "tokenize") and "forward" not in _owner(program, call):
        yield Hit("cpu.tokenize", call)
    elif any(name.endswith(reader) for reader in _READERS):
        yield Hit("cpu.read-file", call)


def _shown(call: ast.Call) -> Iterator[ast.expr]:
    for one in call.args:
        if isinstance(one, ast.JoinedStr):
            yield from (part.value for part in one.values if isinstance(part, ast.FormattedValue))
        else:
            yield one


def _is_live(node: ast.AST, graph: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in graph


def _outer_wait(program: Program, call: ast.Call) -> bool:
    """`.cpu().numpy()` waits once: the inner call is the one that is told."""
    return (
        isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Call)
        and last(call.func.value.func) in ("cpu", "numpy", "item")
    )


def _under_save(program: Program, call: ast.Call) -> bool:
    function = program.function_of(call)
    return function is not None and says(function.name, "save", "checkpoint")


def _owner(program: Program, call: ast.Call) -> str:
    function = program.function_of(call)
    return function.name if function else ""


# Copies to the GPU


def moves(call: ast.Call) -> bool:
    """Whether a call copies to a GPU: `.cuda()`, or `.to` with a device."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "cuda":
        return not (isinstance(call.func.value, ast.Name) and call.func.value.id == "torch")
    if call.func.attr != "to":
        return False
    target = keyword(call, "device") or (call.args[0] if call.args else None)
    if isinstance(target, ast.Constant):
        return isinstance(target.value, int) or str(target.value).startswith(("cuda", "xpu", "mps"))
    if isinstance(target, ast.Call):
        return says(last(target.func), "device")
    return target is not None and says(last(target), "device", "dev", "rank", "gpu", "cuda", "gpus")


def _move(program: Program, call: ast.Call, pinned: bool) -> Hits:
    assert isinstance(call.func, ast.Attribute)
    if not moves(call):
        return
    made = call.func.value
    if isinstance(made, ast.Call) and program.name(made) in _MAKERS and keyword(made, "device") is None:
        yield Hit("device.made-on-cpu", call)
    elif "Lightning" in program.bases(call):
        yield Hit("lightning.manual-move", call)
    elif pinned and keyword(call, "non_blocking") is None and not call.args[1:]:
        yield Hit("transfer.blocking", call)


def placed(program: Program) -> bool:
    """Whether anything is put on a GPU, here or by a library that does."""
    if program.mentions(*MANAGED) or program.uses("keras") or not program.loops:
        return True
    if any(moves(call) for call in program.calls):
        return True
    given = (keyword(call, "device") for call in program.calls)
    return any(value is not None and constant(value) != "cpu" for value in given) or program.mentions(*_WRAPPERS)


def pins(program: Program) -> bool:
    """Whether some loader is given pinned memory."""
    return any(
        (value := keyword(call, "pin_memory")) is not None and constant(value) is not False for call in program.calls
    )


# The host as a judge of the GPU's values, and what is kept


def _branches(program: Program, graph: set[str]) -> Hits:
    """A condition on a loss waits for it."""
    for root in program.hot:
        parent = program.parents.get(root)
        if isinstance(parent, ast.If | ast.While) and parent.test is root and program.uses("torch"):
            waiting = next((node for node in inside(root) if _waits(node, graph)), None)
            if waiting is not None:
                yield Hit("sync.branch", waiting)


def _waits(node: ast.AST, graph: set[str]) -> bool:
    if isinstance(node, ast.Compare):
        return _is_live(node.left, graph) and not isinstance(node.ops[0], ast.Is | ast.IsNot)
    asked = isinstance(node, ast.Call) and last(node.func) in ("isnan", "isfinite", "isinf", "any", "all")
    return asked and any(_is_live(one, graph) for one in ast.walk(node))


def _kept(program: Program, graph: set[str]) -> Hits:
    """Losses summed up or collected with their graph: memory grows with every step."""
    inner: set[str] = set()
    for loop in program.loops:
        inner |= {
            target.id
            for node in ast.walk(loop)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
    feeding = _feeding(program)
    for root in program.hot:
        for node in inside(root):
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
                name = last(node.target)
                own = isinstance(node.target, ast.Name) and (name in inner or name in program.losses)
                if not own and name not in feeding and _holds(node.value, graph) and not detached(node.value):
                    yield Hit("leak.kept-graph", node)
            elif isinstance(node, ast.Call) and last(node.func) == "append" and isinstance(node.func, ast.Attribute):
                name = last(node.func.value)
                local = isinstance(node.func.value, ast.Name) and name in inner
                if not local and name not in feeding and any(_is_live(one, graph) for one in node.args):
                    yield Hit("leak.kept-graph", node)


def _holds(node: ast.expr, graph: set[str]) -> bool:
    return any(_is_live(one, graph) for one in ast.walk(node))


def _feeding(program: Program) -> set[str]:
    """Names that a loss is computed from: they must keep their graph."""
    return {
        one.id
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id in program.losses for target in node.targets)
        for one in ast.walk(node.value)
        if isinstance(one, ast.Name)
    }
