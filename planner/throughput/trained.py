"""How many parameters a training method updates and a rank holds, for the time of updates and of traffic."""

from planner.models.spec import ModelSpec
from planner.numeric import Number
from planner.throughput.operators import model_work
from planner.throughput.passes import is_adapted
from planner.workload import Method, MethodKind, Training

LOW_RANK = (MethodKind.LORA, MethodKind.DORA, MethodKind.QLORA)


def adapter_parameters(spec: ModelSpec, method: Method) -> Number:
    """Parameters of the adapters: r (inputs + outputs) a matrix for LoRA; 4 h b + 2 b a layer for bottlenecks."""
    work = model_work(spec)
    if method.kind is MethodKind.ADAPTER:
        return work.main.depth * (4 * work.main.hidden * method.bottleneck + 2 * method.bottleneck)
    widths = sum(p.layers * (p.inputs + p.outputs) for p in work.main.products if is_adapted(method, p))
    return method.rank * widths


def trained_share(request: Training) -> Number:
    """Trained parameters over all parameters of the model."""
    method, total = request.method, max(1, request.model.total_parameters)
    if method.kind is MethodKind.FULL or not request.model.stacks:
        return 1.0
    if method.kind is MethodKind.FROZEN:
        return 1 - method.frozen_layers / max(1, model_work(request.model).main.depth)
    return adapter_parameters(request.model, method) / total


def local_parameters(request: Training) -> tuple[Number, Number]:
    """Parameters that one rank computes with, before data-parallel sharding: dense ones, and routed experts."""
    layout, spec = request.layout, request.model
    held = layout.tensor_parallel * layout.pipeline_parallel
    dense = (spec.total_parameters - spec.expert_parameters) / held
    if not spec.expert_parameters:
        return dense, 0.0
    return dense, spec.expert_parameters / (held * layout.expert_parallel)


def backward_factor(request: Training) -> tuple[Number, Number]:
    """Backward time of the products over forward, and the share of layers that are run backward through.

    Full training needs two products for each forward one (input and weight gradients). Frozen matrices under adapters
    need the input gradient only, so 4N rather than 6N in all. The first frozen layers need neither.
    """
    kind = request.method.kind
    if kind is MethodKind.FULL:
        return 2.0, 1.0
    if kind is MethodKind.FROZEN:
        return 2.0, trained_share(request)
    return 1.0, 1.0
