"""What autograd saves for token mixers: softmax attention by its kernel, latent attention, recurrences."""

from planner.memory.parts import STATISTIC, divided_input, linear_inputs, norm_saved
from planner.memory.path import Path
from planner.memory.saved import Saved
from planner.models.spec import Attention, LatentAttention, Mixer, Norm, Recurrent, Split
from planner.workload import AttentionImplementation

FLASH_HEAD_LIMIT = 256  # largest head dimension of the flash kernels
SCAN_TENSORS = 3  # convolution output, scan output and gated output, each as wide as the recurrence


def kernel_of(path: Path, grouped: bool, unequal: bool, head_dim: int) -> str:
    """Which kernel runs: "flash", "efficient" or "math", by the rules of PyTorch's sdp_utils.cpp (2.0 to 2.13)."""
    if path.attention is AttentionImplementation.FLASH:
        return "flash"
    if path.attention is AttentionImplementation.EAGER:
        return "math"
    half = path.bytes.compute == 2
    if half and not path.padding_mask and not unequal and head_dim <= FLASH_HEAD_LIMIT:
        return "flash"
    if path.padding_mask or not grouped:
        return "efficient"
    return "math"


def _scores(path: Path, upcast: bool, softcap: bool) -> float:
    """Bytes per query, key and head of unfused attention: softmax, the copy that multiplies V, dropout, tanh."""
    size = path.bytes.compute
    raised = size == 2 and (upcast or path.bytes.autocast)
    softmax = 4 if raised else size
    copy = size if raised or path.dropout else 0
    return float(softmax + copy + (1 if path.dropout else 0) + (size if softcap else 0))


def _head_norm(path: Path, norm: Norm, elements: int) -> float:
    groups = max(1, elements // norm.width)
    return groups * norm_saved(path, norm, path.bytes.output)


def _kept_by_kernel(path: Path, part: Attention, vision: bool) -> Saved:
    size, heads = path.bytes.compute, part.heads
    queries, values = heads * part.head_dim, heads * part.v_dim
    keys_values = part.kv_heads * (part.head_dim + part.v_dim)
    kernel = kernel_of(path, part.kv_heads != heads, part.v_dim != part.head_dim, part.head_dim)
    repeated = part.kv_heads != heads and (kernel != "flash")
    found = Saved(split=size * queries, kv_heads=part.kv_heads)
    if repeated:
        found += Saved(split=size * (queries + values))
    else:
        found += Saved(kv=size * keys_values)
    if kernel == "math":
        return found + Saved(scores=heads * _scores(path, part.rotary or vision, part.softcap))
    found += Saved(split=size * values + STATISTIC * heads)
    if kernel == "efficient" and path.padding_mask:
        found += Saved(masks=size)
    return found


def attention_saved(path: Path, part: Attention, vision: bool = False) -> Saved:
    """What an attention keeps, the input that its first products share left out."""
    size, out = path.bytes.compute, part.linears[-1]
    queries, values = part.heads * part.head_dim, part.heads * part.v_dim
    kernel = kernel_of(path, part.kv_heads != part.heads, part.v_dim != part.head_dim, part.head_dim)
    # The flash kernel lays its result out as its queries: joined ones make the next step copy it.
    held = kernel != "math" and not (kernel == "flash" and part.rotary_joined) and not part.gated
    found = _kept_by_kernel(path, part, vision)
    found += divided_input(path, values, size, out, held)
    repeated = part.kv_heads != part.heads and kernel != "flash"
    if part.fused_qkv and part.rotary and not repeated:  # V is a slice, and keeps the whole product
        found += Saved(split=size * queries, kv=size * part.kv_heads * part.head_dim)
    if part.gated:  # the gate's slice keeps the doubled query; its sigmoid is a factor
        found += Saved(split=3 * size * queries)
    for norm, elements, of_keys in zip(
        part.qk_norms, (queries, part.kv_heads * part.head_dim), (False, True), strict=False
    ):
        bytes_ = _head_norm(path, norm, elements)
        found += Saved(kv=bytes_) if of_keys else Saved(split=bytes_)
    return found


def latent_attention_saved(path: Path, part: LatentAttention) -> Saved:
    """Multi-head latent attention: queries and keys are joined from a latent and a rotary part, so both are new."""
    size = path.bytes.compute
    queries, values = part.heads * part.qk_head_dim, part.heads * part.v_head_dim
    kernel = kernel_of(path, False, part.v_head_dim != part.qk_head_dim, part.qk_head_dim)
    product = part.heads * (part.qk_nope_head_dim + part.v_head_dim)  # of which the values are a slice
    if kernel == "math":
        found = Saved(split=size * (2 * queries + product), scores=part.heads * _scores(path, True, False))
    elif kernel == "efficient":
        found = Saved(split=size * (2 * queries + product + values) + STATISTIC * part.heads)
    else:  # values are padded to the queries' width, and the result is cut back
        found = Saved(split=size * 4 * queries + STATISTIC * part.heads)
    out = next((linear for linear in part.linears if linear.role == "o"), part.linears[-1])
    found += divided_input(path, values, size, out, held=kernel == "efficient")
    for norm in part.norms:
        found += Saved(whole=norm_saved(path, norm, path.bytes.output))
    for linear in part.linears:
        if linear.role in ("q_b", "kv_b"):
            found += linear_inputs(path, linear.inputs, path.bytes.output, (linear,))
    return found


def recurrent_saved(path: Path, part: Recurrent) -> Saved:
    """A recurrence: the outputs of its input projections, and the tensors around its scan, each once."""
    size = path.bytes.compute
    projected = sum(linear.outputs for linear in part.projections if linear.split is not Split.ROW)
    found = Saved(split=size * (projected + SCAN_TENSORS * part.inner))
    for norm in part.norms:
        found += Saved(split=norm_saved(path, norm, path.bytes.output))
    return found


def mixer_saved(path: Path, part: Mixer, vision: bool) -> Saved:
    """What a mixer keeps, the input that its first products share left out."""
    if isinstance(part, Attention):
        return attention_saved(path, part, vision)
    if isinstance(part, LatentAttention):
        return latent_attention_saved(path, part)
    return recurrent_saved(path, part)


def score_gradients(path: Path, part: Mixer) -> float:
    """Bytes per query and key that unfused attention adds while it goes backward: gradients of both softmax ends."""
    if not isinstance(part, Attention):
        return 0.0
    kernel = kernel_of(path, part.kv_heads != part.heads, part.v_dim != part.head_dim, part.head_dim)
    return float(part.heads * (path.bytes.compute + 4)) if kernel == "math" else 0.0
