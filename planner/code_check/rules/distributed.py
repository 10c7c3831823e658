"""Several GPUs: data-parallel wrappers, samplers, gradient accumulation."""

import ast

from planner.code_check.finding import Hit, Hits
from planner.code_check.names import constant, keyword, lacks, last, says
from planner.code_check.program import Program, inside, rare

_MANAGED = ("Accelerator", "Fabric", "Trainer", "LightningModule", "deepspeed")


def rules(program: Program) -> Hits:
    """Everything about several GPUs."""
    if not program.uses("torch"):
        return
    for call in program.calls:
        if program.name(call).endswith(("nn.DataParallel", "parallel.DataParallel", "DataParallelTable")):
            yield Hit("parallel.data-parallel", call)
        unused = constant(keyword(call, "find_unused_parameters")) is True
        if unused and last(call.func) in ("DistributedDataParallel", "DDP"):
            yield Hit("ddp.find-unused", call)
    if program.mentions(*_MANAGED) or not program.mentions("DistributedDataParallel"):
        return
    yield from _samplers(program)
    yield from _accumulation(program)


def _samplers(program: Program) -> Hits:
    loaders = [call for call in program.calls if last(call.func) == "DataLoader"]
    sampler = any("Sampler" in name for name in program.identifiers) or program.mentions("sampler", "batch_sampler")
    training = [call for call in loaders if lacks(call, "sampler", "batch_sampler")]
    if training and not sampler and not program.mentions("IterableDataset", "split_dataset_by_node"):
        yield Hit("ddp.sampler", training[0])
    made = [call for call in program.calls if last(call.func) == "DistributedSampler"]
    if (
        made
        and program.loops
        and not program.mentions("set_epoch")
        and not all(constant(keyword(call, "shuffle")) is False for call in made)
    ):
        yield Hit("ddp.set-epoch", made[0])


def _accumulation(program: Program) -> Hits:
    """Gradients exchanged in every micro-step although they are applied every n-th."""
    if program.mentions("no_sync", "require_backward_grad_sync"):
        return
    for loop in program.loops:
        backward = [
            node
            for node in ast.walk(loop)
            if isinstance(node, ast.Call) and last(node.func) == "backward" and program.loop_of(node) is loop
        ]
        applied = [
            node
            for node in ast.walk(loop)
            if isinstance(node, ast.If)
            and rare(node.test, frozenset())
            and any(
                isinstance(one, ast.Call)
                and last(one.func) == "step"
                and isinstance(one.func, ast.Attribute)
                and says(last(one.func.value), "optimizer", "optim", "opt", "scaler")
                for statement in node.body
                for one in inside(statement)
            )
        ]
        if backward and applied:
            yield Hit("ddp.no-sync", backward[0])
            return
