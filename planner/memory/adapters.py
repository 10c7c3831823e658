"""Parameters of adapters: LoRA (arXiv 2106.09685), DoRA (2402.09353), QLoRA (2305.14314), Houlsby's (1902.00751)."""

from functools import lru_cache

from planner.memory.path import Path
from planner.memory.sharding import Stage
from planner.models.spec import ModelSpec, StackKind
from planner.numeric import Number
from planner.result import Formula
from planner.workload import MethodKind, Training

ADAPTER = Formula(
    id="mem.weights.adapter",
    unit="bytes",
    latex=r"w \sum_{\text{targets}} r \, (n_{\text{in}} + n_{\text{out}})",
    source="Hu et al., LoRA, arXiv 2106.09685, section 4.1; Houlsby et al., arXiv 1902.00751, section 2.1",
)


@lru_cache(maxsize=1024)
def adapter_widths(path: Path, spec: ModelSpec) -> tuple[float, float]:
    """Elements of all adapters: those that grow with the rank (or bottleneck), and those that don't."""
    growing = fixed = 0.0
    text = spec.text_stack
    for stack in spec.stacks:
        if stack.kind is StackKind.MTP or (stack.kind in (StackKind.VISION, StackKind.AUDIO) and stack is not text):
            continue
        for run in stack.groups:
            adapted = [linear for linear in run.layer.linears if path.adapts(linear)]
            growing += run.count * sum(linear.inputs + linear.outputs for linear in adapted)
            if path.method is MethodKind.DORA:
                fixed += run.count * sum(linear.outputs for linear in adapted)
            if path.method is MethodKind.ADAPTER:
                growing += run.count * 2 * (2 * run.layer.hidden + 1)
                fixed += run.count * 2 * run.layer.hidden
    return growing, fixed


def adapter_parameters(request: Training, path: Path, stage: Stage) -> Number:
    """Adapter parameters on one GPU. Tensor parallel divides one of an adapter's two matrices with its layer."""
    if path.trains_base:
        return 0
    growing, fixed = adapter_widths(path, request.model)
    method = request.method
    rank = method.bottleneck if method.kind is MethodKind.ADAPTER else method.rank
    tensor = request.layout.tensor_parallel
    return (growing * rank + fixed) * (1 + 1 / tensor) / 2 * stage.share
