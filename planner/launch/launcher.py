"""What starts one process a GPU: torchrun, accelerate launch, deepspeed, srun. Written and read."""

from planner.launch.found import Found
from planner.launch.options import Options
from planner.numeric import ceil_div
from planner.plan.plan import Plan
from planner.units import MEGA


def nodes(plan: Plan) -> tuple[int, int]:
    """(nodes, GPUs a node) with equal nodes no larger than the plan's."""
    gpus = plan.values["gpus"]
    each = min(gpus, plan.values["gpus_per_node"])
    while gpus % each:
        each -= 1
    return ceil_div(gpus, each), each


def steps(plan: Plan) -> int:
    """Optimizer steps that train the plan's tokens, at least one."""
    values = plan.values
    parallel = 1
    for name in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
        parallel *= values[name] if plan.uses(name) else 1
    batch = values["micro_batch_size"] * values["gradient_accumulation_steps"] * max(1, values["gpus"] // parallel)
    return max(1, round(values["train_tokens_millions"] * MEGA / (batch * values["sequence_length"])))


def torchrun(plan: Plan, script: str) -> str:
    """The command of one node; every node runs the same one. HEAD_NODE is the address of the first."""
    count, each = nodes(plan)
    if count == 1:
        return f"torchrun --nproc-per-node {each} {script}"
    where = "--rdzv-backend c10d --rdzv-endpoint $HEAD_NODE:29500"
    return f"torchrun --nnodes {count} --nproc-per-node {each} {where} {script}"


def read(options: Options, found: Found) -> None:
    """The GPUs of whichever launcher is there."""
    for name in ("rdzv_backend", "rdzv_endpoint", "rdzv_id", "master_addr", "master_port", "node_rank", "standalone"):
        options.take(name)
    per_node = options.take("nproc_per_node", "env.NPROC_PER_NODE")
    count = options.take("nnodes", "num_nodes", "env.NNODES")
    if per_node is not None:
        if str(per_node) in ("gpu", "auto"):
            found.assume("gpus-unknown")
        else:
            found.devices(per_node, str(count).partition(":")[0] if count else 1)
        return
    total, machines = options.whole("num_processes"), options.whole("num_machines")
    if total:
        found.devices(max(1, total // (machines or 1)), machines)
        return
    each = options.whole("num_gpus")
    if each:
        found.devices(each, count or 1)
