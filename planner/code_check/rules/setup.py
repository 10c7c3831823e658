"""What is set up once: where the model lives, loaders, precision, compiling, layouts, deterministic switches."""

import ast

from planner.code_check.finding import Hit, Hits
from planner.code_check.names import constant, keyword, lacks, last, says, words
from planner.code_check.program import Program
from planner.code_check.rules.steps import MANAGED, placed

_HALF = ("amp", "autocast", "bf16", "fp16", "half", "bfloat16", "float16", "mixed", "fp8", "scaler")


def plain_loop(program: Program) -> bool:
    """Whether the script trains with PyTorch in a loop of its own."""
    return program.uses("torch") and any(isinstance(loop, ast.For | ast.While) for loop in program.loops)


def managed(program: Program) -> bool:
    """Whether another library places the model and chooses the precision."""
    return program.mentions(*MANAGED)


def rules(program: Program) -> Hits:
    """Everything about the set-up of a PyTorch script."""
    if not program.uses("torch"):
        return
    yield from _switches(program)
    yield from _attention(program)
    if program.loops:
        yield from _loaders(program)
        yield from _scaler(program)
    if not plain_loop(program):
        return
    optimizer = _optimizer(program)
    if optimizer is not None and not placed(program):
        yield Hit("device.cpu", optimizer)
    elif optimizer is not None and placed(program) and not managed(program):
        yield from _precision(program)
        yield from _faster(program, optimizer)


def _optimizer(program: Program) -> ast.Call | None:
    return next((call for call in program.calls if program.name(call).startswith("torch.optim.")
                 and "lr_scheduler" not in program.name(call)), None)  # fmt: skip


# Loaders


def _loaders(program: Program) -> Hits:
    streams, gpu, epochs = _streams(program), placed(program), _many_epochs(program)
    for call in program.calls:
        if not program.name(call).endswith("DataLoader") or not program.name(call).startswith(("torch", "DataLoader")):
            continue
        if _in_memory(program, call):
            continue
        workers = keyword(call, "num_workers")
        if lacks(call, "num_workers") or constant(workers) == 0:
            if streams.isdisjoint(_made_by(program, call)):
                yield Hit("loader.workers", call)
        elif workers is not None and lacks(call, "persistent_workers") and epochs:
            yield Hit("loader.persistent", call)
        pin = keyword(call, "pin_memory")
        if gpu and (lacks(call, "pin_memory") or constant(pin) is False):
            yield Hit("loader.pin", call)
        if constant(keyword(call, "prefetch_factor")) == 1:
            yield Hit("loader.prefetch", call)


def _in_memory(program: Program, call: ast.Call) -> bool:
    """Whether the data set is made of tensors in memory: workers would only copy them about."""
    return "TensorDataset" in _made_by(program, call)


def _streams(program: Program) -> set[str]:
    """The file's own data sets that are streams, which several workers would repeat."""
    return {
        node.name
        for node in ast.walk(program.tree)
        if isinstance(node, ast.ClassDef) and any(last(base) == "IterableDataset" for base in node.bases)
    }


def _made_by(program: Program, call: ast.Call) -> set[str]:
    """The names of the classes or functions that make a loader's data set, as far as the file tells."""
    data = keyword(call, "dataset") or (call.args[0] if call.args else None)
    if isinstance(data, ast.Call):
        return {last(data.func)}
    return program.makers.get(last(data), set()) if data is not None else set()


def _many_epochs(program: Program) -> bool:
    """Whether a loop that trains runs inside another one, in the same function."""
    return any(isinstance(loop, ast.For) and program.loop_of(loop) is not None for loop in program.loops)


# Precision


def _precision(program: Program) -> Hits:
    if any(not words(name).isdisjoint(_HALF) for name in program.identifiers) or program.mentions("dtype"):
        return
    where = next(loop for loop in program.loops if isinstance(loop, ast.For | ast.While))
    yield Hit("precision.none", where)
    if not program.mentions("allow_tf32", "set_float32_matmul_precision"):
        yield Hit("precision.tf32", where)


def _scaler(program: Program) -> Hits:
    made = [call for call in program.calls if last(call.func) == "GradScaler" and keyword(call, "enabled") is None]
    if not made and not program.mentions("GradScaler"):
        return
    scaling = [call for call in program.calls if last(call.func) == "scale" and _of_scaler(call)]
    stepped = [call for call in program.calls if last(call.func) == "step" and _of_scaler(call)]
    if not scaling:
        return
    if stepped and not program.mentions("unscale_"):
        for call in program.calls:
            if last(call.func) in ("clip_grad_norm_", "clip_grad_value_") and _beside_scaler(program, call):
                yield Hit("scaler.clip", call)
    if stepped and not any(last(call.func) == "update" and _of_scaler(call) for call in program.calls):
        yield Hit("scaler.update", stepped[0])
    if not stepped:
        yield Hit("scaler.step", scaling[0])
    casts = [call for call in program.calls if last(call.func) == "autocast"]
    if made and casts and all(_is_bf16(program, call) for call in casts):
        yield Hit("scaler.bf16", made[0])


def _beside_scaler(program: Program, call: ast.Call) -> bool:
    """Whether the same block, or the one around it, uses the scaler: another branch may train without it."""
    inner: ast.AST = call
    levels = 0
    for node in program.above(call):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and inner in block:
                levels += 1
                beside = [part for part in block if part is not inner]
                if any(isinstance(one, ast.Call) and _of_scaler(one) for part in beside for one in ast.walk(part)):
                    return True
        if levels == 2:
            return False
        inner = node
    return False


def _of_scaler(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and says(last(call.func.value), "scaler")


def _is_bf16(program: Program, call: ast.Call) -> bool:
    given = [*call.args, *(one.value for one in call.keywords)]
    return any(program.name(one) == "torch.bfloat16" for one in given if isinstance(one, ast.Attribute))


# What makes a plain loop faster


def _faster(program: Program, where: ast.Call) -> Hits:
    if not program.mentions("compile", "torch_compile", "torchcompile", "jit", "CUDAGraph", "_dynamo"):
        yield Hit("compile.none", where)
    ready_made = program.uses("torchvision", "timm") and program.mentions("models", "create_model")
    if program.mentions("Conv2d") or ready_made:
        if not program.mentions("channels_last", "memory_format"):
            yield Hit("layout.channels-last", where)
        if not program.mentions("benchmark", "deterministic"):
            yield Hit("cudnn.benchmark", where)


def _switches(program: Program) -> Hits:
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            name, value = program.name(node.targets[0]), constant(node.value)
            if name == "torch.backends.cudnn.deterministic" and value is True:
                yield Hit("cudnn.deterministic", node)
            elif name == "torch.backends.cudnn.enabled" and value is False:
                yield Hit("cudnn.off", node)
        elif isinstance(node, ast.Call):
            name = program.name(node)
            if name == "torch.use_deterministic_algorithms" and constant(node.args[0] if node.args else None) is True:
                yield Hit("cudnn.deterministic", node)
            elif (
                name.endswith(("set_detect_anomaly", "detect_anomaly"))
                and constant(node.args[0] if node.args else None) is not False
            ):
                yield Hit("anomaly", node)


def _attention(program: Program) -> Hits:
    """Scores, softmax and values multiplied one by one, where one fused kernel would do."""
    if program.mentions("scaled_dot_product_attention", "flash_attn_func", "flash_attn", "xformers", "flex_attention"):
        return
    for functions in program.functions.values():
        for function in functions:
            nodes = list(ast.walk(function))
            scores = [node for node in nodes if _is_scores(node)]
            if scores and "softmax" in {last(node.func) for node in nodes if isinstance(node, ast.Call)}:
                yield Hit("attention.unfused", scores[0])


def _is_scores(node: ast.AST) -> bool:
    """`q @ k.transpose(-2, -1)`, or the same by `matmul`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        right = node.right
    elif isinstance(node, ast.Call) and last(node.func) in ("matmul", "bmm") and node.args:
        right = node.args[-1]
    else:
        return False
    if isinstance(right, ast.Attribute):
        return right.attr == "mT"
    if not (isinstance(right, ast.Call) and last(right.func) == "transpose"):
        return False
    axes = {ast.unparse(one) for one in right.args}
    return axes in ({"-2", "-1"}, {"2", "3"})
