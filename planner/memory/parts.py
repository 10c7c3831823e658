"""What autograd saves for norms, products, feed-forward parts and experts: an operator-level count.

The rules are those of PyTorch's derivatives: a product saves its input where its weight is trained, an activation its
input, a multiplication both factors, a softmax its result, a cast nothing. Checked against tensors counted by
`torch.autograd.graph.saved_tensors_hooks` (PyTorch 2.13, transformers 5.24) in tests/data/saved_activations.csv.
"""

from collections.abc import Sequence

from planner.memory.path import Path
from planner.memory.saved import NOTHING, Saved
from planner.models.spec import FeedForward, Linear, MixtureOfExperts, Norm, NormKind
from planner.workload import MethodKind

STATISTIC = 4  # bytes: norms keep fp32 statistics
ROUTING_BYTES = 38  # per token and chosen expert: indices, permutations, weights (traced on Mixtral and Qwen3-MoE)

PYTHON_GELU = frozenset({"gelu_new", "gelu_fast", "gelu_python"})  # written out in Python: each factor is saved
SAVES_RESULT_ONLY = frozenset({"relu", "relu6", "linear", "identity"})


def norm_saved(path: Path, norm: Norm, source: int) -> float:
    """Bytes per token that a norm keeps, its input held in `source` bytes per element.

    LayerNorm is one kernel: its input (in fp32 where it has no parameters: OLMo), mean and reciprocal deviation.
    RMSNorm is written in Python: the input in fp32 (a copy of a 16-bit one), the reciprocal root, and what the gain
    multiplies where the gain is trained. A LayerNorm in Python (Cohere) keeps the centred input twice instead.
    """
    if norm.kind is NormKind.NONE:
        return 4 * norm.width + 2 * STATISTIC
    if norm.kind is NormKind.LAYER:
        written_out = norm.offset_gain and not path.compiled
        return (12 if written_out else source) * norm.width + 2 * STATISTIC
    if path.compiled:
        return source * norm.width + STATISTIC
    normalised = (4 if norm.offset_gain else source) if path.trains_base else 0
    return (4 + normalised) * norm.width + STATISTIC


def linear_inputs(path: Path, width: int, source: int, linears: Sequence[Linear], held: bool = False) -> Saved:
    """What products that share one input keep of it; `held` where something else saves that input already.

    Autocast casts the input once for each product. peft casts it to the adapter's dtype once for each adapter.
    """
    b = path.bytes
    if path.trains_base:
        if source == b.compute:
            return NOTHING if held else Saved(whole=b.linear_input * width)
        return Saved(whole=b.linear_input * width * len(linears))
    adapted = [linear for linear in linears if path.adapts(linear)]
    if not adapted:
        return NOTHING
    inner = b.compute if b.autocast else b.trained
    copied = b.trained != source or (b.autocast and source != b.compute)
    shared = 0 if held else source
    whole: float = width * (inner * len(adapted) if copied else shared)
    if path.adapter_dropout:  # the mask, and the dropped input of each adapter
        whole += width * len(adapted) * (1 + (0 if copied else inner))
    if path.method is MethodKind.DORA:  # the magnitude multiplies the base's and the adapter's output
        whole += sum(linear.outputs for linear in adapted) * (b.compute + inner)
    return Saved(whole=whole, rank=inner * len(adapted))


def divided_input(path: Path, width: int, source: int, linear: Linear, held: bool = False) -> Saved:
    """As `linear_inputs` for the product that ends a part: tensor parallel divides its input."""
    found = linear_inputs(path, width, source, (linear,), held)
    return Saved(split=found.whole, rank=found.rank)


def activation_bytes(path: Path, name: str) -> float:
    """Bytes per element that an activation keeps besides its result."""
    size = path.bytes.output
    if name in PYTHON_GELU:
        # x, tanh, 1 + tanh and x / 2; autocast raises the power, and so all but x / 2, to fp32.
        return 3 * 4 + size if path.bytes.autocast else 4 * size
    if name == "swiglu_clamped":  # gpt-oss clamps both halves and writes the sigmoid out: four factors more
        return 4 * size
    if name == "quick_gelu":
        return 2 * size
    return 0 if name in SAVES_RESULT_ONLY else size


def feed_forward_saved(path: Path, part: FeedForward, rows: float = 1.0) -> Saved:
    """What a dense MLP keeps for each of `rows` rows per token, its shared input left out."""
    size, down = path.bytes.output, part.linears[-1]
    inside = activation_bytes(path, part.activation)
    if part.gated:
        inside = (0 if path.compiled else inside + size) + size + (size if path.compiled else 0)
    relu = not part.gated and part.activation in SAVES_RESULT_ONLY  # saves its result, which is the product's input
    product = divided_input(path, part.width, size, down, held=relu)
    found = Saved(split=(inside + (size if relu else 0)) * part.width) + product
    if part.inner_norm:
        found += Saved(split=norm_saved(path, part.inner_norm, size))
    return found.times(rows) if rows != 1 else found


def feed_forward_peak(path: Path, part: FeedForward) -> float:
    """Bytes per row that a dense MLP needs at the worst moment of its backward pass.

    Gated: gate, activation and up are still there when the gradients of the product, of the activation and of up are.
    """
    size = path.bytes.output
    if part.gated:
        return float(part.width * (activation_bytes(path, part.activation) + 5 * size))
    return float(part.width * (activation_bytes(path, part.activation) + 2 * size))


def input_linears(part: FeedForward) -> tuple[Linear, ...]:
    """The products that read an MLP's input."""
    return part.linears[:-1]


def experts_saved(path: Path, part: MixtureOfExperts) -> Saved:
    """Routed experts run as grouped products over `top_k` rows per token: their gathered inputs, MLPs and outputs.

    Expert parallel doesn't divide this: each rank's tokens leave, and as many come.
    """
    size = path.bytes.compute
    trained = 1 if path.trains_base else 0
    gathered = Saved(whole=part.top_k * part.hidden * size * (trained + 1))
    raised = 4 * part.hidden if part.router_fp32 and trained and path.bytes.residual != 4 else 0
    router = Saved(whole=4 * part.experts + ROUTING_BYTES * part.top_k + raised)
    found = gathered + router + feed_forward_saved(path, part.expert, part.top_k)
    if part.shared:
        found += feed_forward_saved(path, part.shared)
    if part.shared_gate:  # its sigmoid multiplies the shared expert's output
        found += Saved(whole=size * part.hidden)
    return found
