"""Seconds of one micro-batch on one pipeline stage: products, attention, element-wise passes, forward and backward."""

from dataclasses import dataclass

from planner.numeric import Number, maximum
from planner.throughput import constants
from planner.throughput.elementwise import CAST, LOSS, QUANTISE, elementwise_bytes
from planner.throughput.operators import ModelWork, Product, StackWork, model_work
from planner.throughput.precision import Widths
from planner.throughput.roofline import (
    Machine,
    eager_seconds,
    flash_seconds,
    gemm_seconds,
    machine,
    product_seconds,
    touched_experts,
)
from planner.workload import AttentionImplementation, BaseFormat, LossPath, Method, MethodKind, Training

ADAPTER_BYTES = ((10.0, 16.0), (2.0, 12.0), (2.0, 6.0))
"""Bytes per input and output element of an adapted matrix, one pass: fp32 adapters without autocast (input read and
cast, product scaled, added); 16-bit adapters; the same compiled, with scaling and sum in one kernel."""
_BASE_BITS = {BaseFormat.NF4: 4.127, BaseFormat.INT8: 8.0, BaseFormat.GPTQ4: 4.16}
_ADAPTED = {
    "attention": frozenset({"q", "k", "v", "o", "qkv", "q_a", "q_b", "kv_a", "kv_b"}),
    "qv": frozenset({"q", "v", "qkv"}),
}
_LOW_RANK = (MethodKind.LORA, MethodKind.DORA, MethodKind.QLORA)


@dataclass(frozen=True, slots=True)
class Pass:
    """Seconds of the layers of one stack for one micro-batch, all layers together, and of the output head."""

    products: Number  # forward, matrix products of the layers
    last_product: Number  # of which: the last product of each layer, which recomputation can leave out
    attention: Number  # forward
    attention_backward: Number
    elementwise: Number  # forward
    elementwise_backward: Number
    head: Number = 0.0  # forward
    loss: Number = 0.0  # forward and backward

    @property
    def forward(self) -> Number:
        return self.products + self.attention + self.elementwise


def stack_pass(request: Training, work: StackWork, on: Machine, sizes: Widths, tokens: Number, keys: Number) -> Pass:
    """One stack over `tokens` tokens of sequences `keys` long, on one tensor- and context-parallel rank."""
    layout = request.layout
    tensor = layout.tensor_parallel
    products = last = 0.0
    touched: dict[tuple[int, float], Number] = {}  # the matrices of an expert are met together
    for product in work.products:
        expert = (product.copies, product.active)
        if product.routed and expert not in touched:
            touched[expert] = touched_experts(*expert, tokens * layout.expert_parallel)
        seconds = product_seconds(
            on, product, tokens, tensor, layout.expert_parallel, sizes.operand, sizes.weight, touched.get(expert)
        )
        products = products + seconds
        if product.role == "down":
            last = last + seconds
    attention, backward = _attention_seconds(request, work, on, tokens, keys)
    residual_split = layout.residual_split
    forward_bytes, backward_bytes = elementwise_bytes(
        work.elementwise, sizes.residual, sizes.inner, request.compiled, tensor, residual_split, request.dropout
    )
    extra = _cast_bytes(work, sizes) / tensor + _adapter_bytes(request, work) / tensor
    scan = work.scan_flops * tokens / tensor / (constants.FITTED[constants.FLASH_SHARE] * on.sixteen_bit_flops)
    forward = tokens * (forward_bytes + extra) / on.streaming
    forward = forward + _dequantise_seconds(request.method, work, on, tensor) + _adapter_seconds(request, work, tokens)
    return Pass(
        products=products + scan,
        last_product=0.0 if work.normed_output else last,
        attention=attention,
        attention_backward=backward,
        elementwise=forward,
        elementwise_backward=forward + tokens * (backward_bytes - forward_bytes) / on.streaming,
    )


def _attention_seconds(
    request: Training, work: StackWork, on: Machine, tokens: Number, keys: Number
) -> tuple[Number, Number]:
    forward = backward = 0.0
    share = 1 / request.layout.tensor_parallel
    for core in work.cores:
        if request.attention is AttentionImplementation.EAGER:
            ahead, back = constants.EAGER_SCORE_BYTES
            scale = 2 if on.dtype == "fp32" else 1
            forward = forward + eager_seconds(on, core, tokens, keys, share, scale * ahead)
            backward = backward + eager_seconds(on, core, tokens, keys, 2 * share, scale * back / 2)
        else:
            once = flash_seconds(on, core, tokens, keys, share, request.attention)
            forward = forward + once
            backward = backward + 2.5 * once / constants.FLASH_BACKWARD  # five products against two
    return forward, backward


def _cast_bytes(work: StackWork, sizes: Widths) -> float:
    """Bytes per token of casting what products take in.

    Autocast: the fp32 stream, once for each product that reads it. FP8: every product's 16-bit input once.
    """
    if not sizes.casts:
        return 0.0
    if sizes.operand == 1.0:
        return QUANTISE * sum(p.layers * p.active * p.inputs for p in work.products)
    return CAST * sum(p.layers * p.inputs for p in work.products if p.inputs == work.hidden and not p.routed)


def _fp32_adapters(request: Training) -> bool:
    """Whether low-rank products run in fp32: adapters kept so, and no autocast over them."""
    return request.method.adapter_fp32 and "amp" not in request.precision.value


def _adapter_bytes(request: Training, work: StackWork) -> float:
    """Bytes per token and pass that low-rank adapters move beside the frozen products."""
    method = request.method
    if method.kind not in _LOW_RANK:
        return 0.0
    inward, outward = ADAPTER_BYTES[0 if _fp32_adapters(request) else 1 + request.compiled]
    return sum(p.layers * (inward * p.inputs + outward * p.outputs) for p in work.products if is_adapted(method, p))


def _adapter_seconds(request: Training, work: StackWork, tokens: Number) -> Number:
    """Seconds of the low-rank products of one forward pass: 2 T (k + n) r FLOPs, r no less than a tile.

    Adapters in fp32 run outside the tensor cores unless autocast covers them.
    """
    method = request.method
    if method.kind not in _LOW_RANK:
        return 0.0
    dtype = "fp32" if _fp32_adapters(request) else "bf16"
    rate = machine(request.cluster.gpu, dtype, True).flops
    widths = sum(p.layers * (p.inputs + p.outputs) for p in work.products if is_adapted(method, p))
    return 2 * tokens * widths * maximum(method.rank, constants.ADAPTER_TILE) / rate / request.layout.tensor_parallel


def is_adapted(method: Method, product: Product) -> bool:
    """Whether low-rank adapters are put beside this product: never on routed experts or routers."""
    if product.routed or product.role in ("router", "shared_gate"):
        return False
    return method.targets not in _ADAPTED or product.role in _ADAPTED[method.targets]


def _dequantise_seconds(method: Method, work: StackWork, on: Machine, tensor: Number) -> Number:
    """Seconds to unpack a quantised base once: packed weights read, 16-bit ones written."""
    if method.kind is not MethodKind.QLORA:
        return 0.0
    elements = sum(p.layers * p.copies * p.inputs * p.outputs for p in work.products)
    moved = elements * (_BASE_BITS[method.base_format] / 8 + 2) / tensor
    return moved / (on.bandwidth * constants.DEQUANTISE_SHARE)


def head_seconds(request: Training, work: ModelWork, on: Machine, tokens: Number) -> tuple[Number, Number]:
    """Seconds of the output head, forward, and of the loss, both ways; the vocabulary divided by tensor parallel."""
    if work.head is None:
        return 0.0, 0.0
    rows, outputs = tokens, work.head.outputs / request.layout.tensor_parallel
    seconds = gemm_seconds(on, rows, work.head.inputs, outputs, 2.0, 2.0)
    if request.loss is LossPath.FUSED:
        seconds = seconds * 4 / 3  # logits are computed again for the backward pass
    return seconds, LOSS[request.loss] * tokens * outputs / on.streaming


def host_seconds(request: Training, depth: Number, recomputed: Number, backward_share: Number) -> Number:
    """CPU seconds to issue one micro-batch of `depth` layers; the GPU waits only where it is faster than that."""
    compiled = constants.HOST_COMPILED if request.compiled else 1.0
    sharded = constants.HOST_SHARDED if request.layout.sharding.divides_parameters else 0.0
    adapters = constants.HOST_ADAPTER * adapted_matrices(request) * compiled
    forward = constants.HOST_FORWARD * compiled + adapters + sharded
    backward = (constants.HOST_BACKWARD * compiled + adapters + sharded) * backward_share
    return depth * (forward * (1 + recomputed) + backward)


def adapted_matrices(request: Training) -> float:
    """Matrices with low-rank adapters beside them in a layer, on average."""
    if request.method.kind not in _LOW_RANK or not request.model.stacks:
        return 0.0
    main = model_work(request.model).main
    return sum(product.layers for product in main.products if is_adapted(request.method, product)) / main.depth


def recomputed_share(every: Number) -> Number:
    """Share of layers that full recomputation runs again: those that keep only their input."""
    return 1 / maximum(1, every)
