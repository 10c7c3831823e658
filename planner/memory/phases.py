"""The moments of a training step that can set its peak, each a sum of named terms."""

from planner.memory.activations import ACTIVATIONS, RECOMPUTED, activations
from planner.memory.adapters import ADAPTER
from planner.memory.batch import BATCH, batch_bytes
from planner.memory.gradients import BUCKETS, GRADIENTS, bucket_bytes, gradient_bytes
from planner.memory.logits import LOGITS, logit_count, logits
from planner.memory.optimizer import OPTIMIZER, TEMPORARY, state_bytes, temporary_bytes
from planner.memory.overhead import GATHERED, gathered, layer_elements
from planner.memory.path import Path
from planner.memory.sharding import Stage, counts
from planner.memory.weights import COPIES, WEIGHTS, Weights, weights
from planner.numeric import Number, maximum, where
from planner.result import Phase, Term
from planner.workload import Recompute, Training


def stage_phases(request: Training, path: Path, stage: Stage) -> tuple[Phase, ...]:
    """The phases of `stage`: forward, loss, backward, gradients, optimizer.

    `forward` ends with the loss computed, `loss` is its backward pass, `backward` the last layer's, `gradients` the
    end of the backward pass, `optimizer` the step. What lies between two of them is below the larger one, as memory
    of activations falls and that of gradients rises linearly over the layers.
    """
    held = weights(request, path, stage)
    kept = activations(request, path, stage)
    forward, backward = logits(request, path, stage)
    grads = gradient_bytes(request, path, held)
    buckets = bucket_bytes(request, path, held)
    accumulated = where(request.gradient_accumulation_steps > 1, 1, 0)
    standing = (
        WEIGHTS.term(held.base, elements=held.local.dense + held.local.experts, bytes_per_element=held.bytes_per_matrix),
        ADAPTER.term(held.adapter, bytes_per_element=path.bytes.trained),
        OPTIMIZER.term(state_bytes(request, path, held), trained=held.trained + held.trained_experts),
    )
    batch = BATCH.term(batch_bytes(request))
    saved = ACTIVATIONS.term(kept.saved, layers=counts(request.model).layers, in_flight=stage.in_flight)
    collected = ACTIVATIONS.term(kept.saved + kept.held, layers=saved.inputs["layers"], in_flight=stage.in_flight)
    old = GRADIENTS.term(grads * accumulated, bytes_per_element=path.bytes.gradient)
    old_buckets = BUCKETS.term(buckets * accumulated)
    root = GATHERED.term(gathered(request, path, held, backward=False))
    unit = GATHERED.term(gathered(request, path, held, backward=True))
    count = logit_count(request) * stage.last
    copies, layer_copies = _copies(request, held)
    end = _end_of_backward(request, path, held, kept.working)
    done, done_buckets = GRADIENTS.term(grads, bytes_per_element=path.bytes.gradient), BUCKETS.term(buckets)
    return (
        _phase("forward", *standing, saved, LOGITS.term(forward, logits=count), batch, root, old, old_buckets, copies[0]),
        _phase("loss", *standing, saved, LOGITS.term(backward, logits=count), batch, root, old, old_buckets, copies[1]),
        _phase(
            "backward", *standing, collected, RECOMPUTED.term(kept.working), batch, unit, old, old_buckets, layer_copies
        ),
        _phase("gradients", *standing, done, done_buckets, RECOMPUTED.term(end), batch, unit),
        _phase("optimizer", *standing, done, done_buckets, TEMPORARY.term(temporary_bytes(request, path, held)), batch),
    )


def _phase(id: str, *terms: Term) -> Phase:
    return Phase(id, terms)


def _copies(request: Training, held: Weights) -> tuple[tuple[Term, Term], Term]:
    """Autocast's copies: all in the forward pass; in backward those that saved tensors hold."""
    if request.recompute is Recompute.FULL:
        layers = maximum(1, counts(request.model).layers / request.layout.pipeline_parallel)
        layer = (held.copies - held.head_copy) / layers
        return (COPIES.term(held.copies), COPIES.term(held.head_copy)), COPIES.term(layer)
    return (COPIES.term(held.copies), COPIES.term(held.copies)), COPIES.term(held.copies - held.head_copy)


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
