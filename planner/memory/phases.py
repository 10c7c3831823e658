"""The moments of a training step that can set its peak, each a sum of named terms."""

from planner.memory.activations import ACTIVATIONS, RECOMPUTED, activations
from planner.memory.adapters import ADAPTER
from planner.memory.batch import BATCH, batch_bytes
from planner.memory.gradients import BUCKETS, GRADIENTS, bucket_bytes, gradient_bytes, gradients_stand
from planner.memory.logits import LOGITS, logit_count, logits
from planner.memory.optimizer import OPTIMIZER, TEMPORARY, state_bytes, temporary_bytes
from planner.memory.overhead import GATHERED, gathered, layer_elements
from planner.memory.path import Path
from planner.memory.sharding import Stage, counts
from planner.memory.weights import COPIES, WEIGHTS, Weights, weights
from planner.numeric import Number, maximum
from planner.result import Phase
from planner.workload import Recompute, Training


def stage_phases(request: Training, path: Path, stage: Stage) -> tuple[Phase, ...]:
    """The phases of `stage`: forward, loss, backward, gradients, optimizer.

    `forward` ends with the loss computed, `loss` is its backward pass, `backward` the last layer's, `gradients` the
    end of the backward pass, `optimizer` the step. What lies between two of them is below the larger one, as memory
    of activations falls and that of gradients rises linearly over the layers.
    """
    held = weights(request, path, stage)
    kept = activations(request, path, stage)
    layers, size = counts(request.model).layers, path.bytes.gradient
    forward, backward = logits(request, path, stage)
    count = logit_count(request) * stage.last
    grads, buckets = gradient_bytes(request, path, held), bucket_bytes(request, path, held)
    standing_gradients = gradients_stand(request, path)
    tokens = {"b": request.micro_batch_size, "s": request.sequence_length}
    standing = (
        WEIGHTS.term(held.base, elements=held.local.total, bytes_per_element=held.bytes_per_matrix),
        ADAPTER.term(held.adapter, w=path.bytes.trained, r=request.method.rank, elements=held.trained),
        OPTIMIZER.term(
            state_bytes(request, path, held), trained=held.trained + held.trained_experts, optimizer=request.optimizer
        ),
        BATCH.term(batch_bytes(request), **tokens),
    )
    old = (GRADIENTS.term(grads * standing_gradients, bytes_per_element=size), BUCKETS.term(buckets))
    new = (GRADIENTS.term(grads, bytes_per_element=size), BUCKETS.term(buckets))
    saved = ACTIVATIONS.term(kept.saved, **tokens, layers=layers, m=stage.in_flight)
    collected = ACTIVATIONS.term(kept.saved + kept.held, **tokens, layers=layers, m=stage.in_flight)
    layer = layer_elements(request, held)
    unit = GATHERED.term(gathered(request, path, held, backward=False), P_layer=layer, P_root=held.local.ends)
    units = GATHERED.term(gathered(request, path, held, backward=True), P_layer=layer, P_root=held.local.ends)
    copies = _copies(request, held)
    end = _end_of_backward(request, path, held, kept.working)
    return (
        Phase(
            "forward",
            (
                *standing,
                *old,
                saved,
                LOGITS.term(forward, logits=count, loss=request.loss),
                unit,
                COPIES.term(copies[0]),
            ),
        ),
        Phase(
            "loss",
            (
                *standing,
                *old,
                saved,
                LOGITS.term(backward, logits=count, loss=request.loss),
                unit,
                COPIES.term(copies[1]),
            ),
        ),
        Phase(
            "backward",
            (*standing, *old, collected, RECOMPUTED.term(kept.working, **tokens), units, COPIES.term(copies[2])),
        ),
        Phase("gradients", (*standing, *new, RECOMPUTED.term(end), units)),
        Phase("optimizer", (*standing, *new, TEMPORARY.term(temporary_bytes(request, path, held)))),
    )


def _copies(request: Training, held: Weights) -> tuple[Number, Number, Number]:
    """Bytes of autocast's copies in forward, loss and backward: all at first, then those that saved tensors hold."""
    if request.recompute is Recompute.FULL:
        layers = maximum(1, counts(request.model).layers / request.layout.pipeline_parallel)
        return held.copies, held.head_copy, (held.copies - held.head_copy) / layers
    return held.copies, held.copies, held.copies - held.head_copy


def _end_of_backward(request: Training, path: Path, held: Weights, working: Number) -> Number:
    """Bytes beside all gradients when the last ones are made.

    Either the first layer is still at work, its own gradients and the embedding's missing yet; or a tied table's two
    gradients are being added, which takes two more tables.
    """
    model, size = counts(request.model), path.bytes.weight
    if not path.trains_base:
        return working
    table = model.table / request.layout.tensor_parallel * size
    tied = request.model.tied and not path.bytes.master  # Megatron adds both straight into one fp32 buffer
    missing = layer_elements(request, held) * size + (0 if tied else table)
    return maximum(working - missing, 2 * table if tied else 0, 0)
