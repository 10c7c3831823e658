"""Properties that hold whatever the numbers: one formula for scalars and arrays, sums, monotony, sharding."""

import dataclasses

import numpy as np
import pytest

from planner.hardware.types import Cluster
from planner.memory.training import training_memory
from planner.models.catalogue import model as catalogue_model
from planner.parallel import Layout, Offload, Schedule, Sharding
from planner.result import Memory, total
from planner.workload import (
    AttentionImplementation,
    BaseFormat,
    LossPath,
    Method,
    MethodKind,
    OptimizerKind,
    Recompute,
    Training,
    TrainingPrecision,
)
from tests.planner.memory.fms import A100
from tests.planner.memory.reference_models import reference_model

BASE = Training(model=reference_model("llama-3.1-8b"), cluster=Cluster(gpu=A100))
MODELS = (
    "llama-3.1-8b",
    "mixtral-8x7b",
    "deepseek-v2-lite",
    "gemma-2-9b",
    "bert-large",
    "vit-l16",
    "gpt2",
    "resnet-50",
)


def memory(**changes: object) -> Memory:
    return training_memory(dataclasses.replace(BASE, **changes))  # type: ignore[arg-type]


def value(found: Memory, phase: str, term: str) -> float:
    terms = next(each.terms for each in found.phases if each.id == phase)
    return float(sum(each.value for each in terms if each.id == term))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("recompute", list(Recompute))
@pytest.mark.parametrize("sharding", [Sharding.NONE, Sharding.ZERO1, Sharding.FSDP])
def test_arrays_equal_scalars(model: str, recompute: Recompute, sharding: Sharding) -> None:
    columns = {
        "data_parallel": [1, 2, 8, 4],
        "tensor_parallel": [1, 2, 4, 8],
        "pipeline_parallel": [1, 1, 2, 4],
        "context_parallel": [1, 2, 1, 1],
        "expert_parallel": [1, 2, 4, 1],
    }
    batches, lengths, steps = [1, 2, 4, 1], [512, 1024, 2048, 4096], [1, 4, 8, 2]
    request = dataclasses.replace(BASE, model=reference_model(model), recompute=recompute)

    def of(layout: Layout, batch: object, length: object, step: object) -> Memory:
        return training_memory(
            dataclasses.replace(
                request, layout=layout, micro_batch_size=batch, sequence_length=length, gradient_accumulation_steps=step
            )
        )

    together = of(
        Layout(sharding=sharding, **{key: np.array(column) for key, column in columns.items()}),
        np.array(batches),
        np.array(lengths),
        np.array(steps),
    )
    for index in range(4):
        one = of(
            Layout(sharding=sharding, **{key: column[index] for key, column in columns.items()}),
            batches[index],
            lengths[index],
            steps[index],
        )
        for name in ("allocated", "reserved", "device"):
            assert getattr(together, name)[index] == pytest.approx(getattr(one, name), rel=1e-9)


@pytest.mark.parametrize(
    ("field", "values"), [("rank", [1, 8, 256]), ("bottleneck", [8, 64, 512]), ("frozen_layers", [31, 16, 0])]
)
def test_method_numbers_may_be_arrays(field: str, values: list[int]) -> None:
    kind = {"rank": MethodKind.DORA, "bottleneck": MethodKind.ADAPTER, "frozen_layers": MethodKind.FROZEN}[field]
    together = memory(method=Method(kind=kind, **{field: np.array(values)}))
    ones = [memory(method=Method(kind=kind, **{field: each})).device for each in values]
    assert together.device == pytest.approx(ones)
    assert ones == sorted(ones)


@pytest.mark.parametrize("method", list(MethodKind))
@pytest.mark.parametrize("precision", list(TrainingPrecision))
def test_every_method_and_precision_sums(method: MethodKind, precision: TrainingPrecision) -> None:
    found = memory(method=Method(kind=method), precision=precision)
    for phase in found.phases:
        assert all(term.value >= 0 for term in phase.terms)
        assert phase.total == pytest.approx(sum(term.value for term in phase.terms))
    assert found.allocated == max(phase.total for phase in found.phases)
    assert found.required == pytest.approx(found.allocated + found.reserve.value + total(found.outside))
    assert sum(term.value for term in found.parts) == pytest.approx(found.required)
    assert found.device == pytest.approx(found.required + found.cached.value)
    assert found.device <= max(found.required, found.capacity)


@pytest.mark.parametrize("field", ["micro_batch_size", "sequence_length"])
@pytest.mark.parametrize("attention", list(AttentionImplementation))
@pytest.mark.parametrize("loss", list(LossPath))
def test_more_tokens_never_take_less(field: str, attention: AttentionImplementation, loss: LossPath) -> None:
    sizes = np.array([1, 2, 3, 8, 64]) * (1 if field == "micro_batch_size" else 256)
    found = memory(**{field: sizes}, attention=attention, loss=loss)
    assert (np.diff(found.allocated) >= 0).all()
    assert (np.diff(value_array(found)) > 0).all()


def value_array(found: Memory) -> np.ndarray:
    return np.asarray(next(term.value for term in found.phases[0].terms if term.id == "mem.activations"))


@pytest.mark.parametrize("model", ["llama-3.1-8b", "mixtral-8x7b", "deepseek-v2-lite"])
@pytest.mark.parametrize(
    "degree", ["tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel", "data_parallel"]
)
@pytest.mark.parametrize("sharding", list(Sharding))
def test_dividing_never_raises_what_one_gpu_keeps(model: str, degree: str, sharding: Sharding) -> None:
    ways = np.array([1, 2, 4, 8])
    layout = {"data_parallel": 8, "sharding": sharding, "shard_group": 8, degree: ways}
    found = memory(model=reference_model(model), layout=Layout(**layout), bucket_view=True)
    kept = sum(
        next(term.value for term in phase.terms if term.id == id)
        for phase, id in (
            (found.phases[0], "mem.weights"),
            (found.phases[0], "mem.optimizer"),
            (found.phases[0], "mem.activations"),
            (found.phases[4], "mem.gradients"),
        )
    )
    assert (np.diff(np.broadcast_to(kept, ways.shape)) <= 1).all()


@pytest.mark.parametrize("degree", [2, 4, 8])
def test_dividing_keeps_the_sum_of_weights(degree: int) -> None:
    """Tensor parallel replicates some weights, so its ranks together hold at least the model; FSDP exactly."""
    whole = value(memory(), "forward", "mem.weights")
    split = value(memory(layout=Layout(tensor_parallel=degree)), "forward", "mem.weights") * degree
    shard = (
        value(memory(layout=Layout(data_parallel=degree, sharding=Sharding.FSDP)), "forward", "mem.weights") * degree
    )
    assert whole <= split < 1.01 * whole
    assert shard == pytest.approx(whole)


def test_expert_parallel_divides_experts_only() -> None:
    model = reference_model("mixtral-8x7b")
    one = value(memory(model=model, layout=Layout(data_parallel=8)), "forward", "mem.weights")
    eight = value(memory(model=model, layout=Layout(data_parallel=8, expert_parallel=8)), "forward", "mem.weights")
    experts = sum(run.count * run.layer.expert_parameters for run in model.stacks[0].runs)
    assert one - eight == pytest.approx(2 * experts * 7 / 8)


def test_bytes_per_parameter_at_rest() -> None:
    """16 with a master copy less the 2 + 2 of gradients, 12 in fp32 and 6 in pure bf16 AdamW (weights and states)."""
    parameters = BASE.model.total_parameters
    for precision, each in (
        (TrainingPrecision.BF16, 6),
        (TrainingPrecision.FP32, 12),
        (TrainingPrecision.BF16_MASTER, 14),
    ):
        found = memory(precision=precision)
        at_rest = value(found, "forward", "mem.weights") + value(found, "forward", "mem.optimizer")
        assert at_rest == pytest.approx(each * parameters)


def test_first_stage_holds_the_micro_batches_in_flight() -> None:
    layout = Layout(pipeline_parallel=4)
    one = memory(layout=layout, gradient_accumulation_steps=1, recompute=Recompute.FULL, sequence_length=8192)
    few = memory(layout=layout, gradient_accumulation_steps=4, recompute=Recompute.FULL, sequence_length=8192)
    many = memory(layout=layout, gradient_accumulation_steps=64, recompute=Recompute.FULL, sequence_length=8192)
    gpipe = memory(
        layout=dataclasses.replace(layout, schedule=Schedule.GPIPE),
        gradient_accumulation_steps=64,
        recompute=Recompute.FULL,
        sequence_length=8192,
    )
    assert one.allocated < few.allocated
    assert few.allocated == many.allocated  # 1F1B keeps no more than the pipeline is deep
    assert gpipe.allocated > many.allocated


def test_nf4_is_half_a_byte_and_its_scales() -> None:
    model = reference_model("llama-2-7b")
    found = memory(
        model=model,
        method=Method(kind=MethodKind.QLORA, base_format=BaseFormat.NF4, kbit_upcast=False),
        precision=TrainingPrecision.BF16_AMP,
    )
    matrices = 32 * (4 * 4096**2 + 3 * 4096 * 11008)
    rest = model.total_parameters - matrices
    assert value(found, "forward", "mem.weights") == pytest.approx(0.515869140625 * matrices + 2 * rest)


def test_megatron_keeps_18_bytes_a_parameter_throughout() -> None:
    """Weights 2, fp32 gradient buffer 4, master copy and two states 12; no temporary copy in the fused step."""
    found = memory(precision=TrainingPrecision.BF16_MASTER, sequence_length=128)
    at_rest = sum(value(found, "forward", id) for id in ("mem.weights", "mem.gradients", "mem.optimizer"))
    assert at_rest == pytest.approx(18 * BASE.model.total_parameters)
    assert value(found, "optimizer", "mem.optimizer.temporary") == 0


@pytest.mark.parametrize("tensor", [1, 2, 8])
def test_tensor_and_sequence_parallel_as_megatron_divides(tensor: int) -> None:
    """s b h (10 + 24 / t) without, 34 s b h / t with sequence parallel (Korthikanti et al., equations 2 and 4), for the
    layers; norm statistics and flash attention's logsumexp, which the paper leaves out, come on top."""
    model, tokens, hidden, layers, heads = reference_model("block:megatron"), 2048, 4096, 32, 32
    for sequence, per_token in ((False, hidden * (10 + 24 / tensor) + 16), (True, (34 * hidden + 16) / tensor)):
        layout = Layout(tensor_parallel=tensor, sequence_parallel=sequence)
        found = memory(model=model, layout=layout, dropout=True, sequence_length=tokens)
        ways = tensor if sequence else 1
        ends = tokens * (8 + hidden + 2 * hidden + 8 + 2 * hidden) / ways  # indices, embedding dropout, final norm
        expected = layers * tokens * (per_token + 4 * heads / tensor) + ends
        assert value(found, "forward", "mem.activations") == pytest.approx(expected, rel=1e-6)


def test_ddp_buckets_stand_beside_gradients() -> None:
    plain = memory(layout=Layout(data_parallel=2))
    view = memory(layout=Layout(data_parallel=2), bucket_view=True)
    gradients = 2 * BASE.model.total_parameters
    assert value(plain, "forward", "mem.buckets") == pytest.approx(gradients)
    assert value(plain, "forward", "mem.gradients") == 0
    assert value(view, "forward", "mem.buckets") == 0
    assert value(view, "forward", "mem.gradients") == pytest.approx(gradients)


def test_frozen_tower_keeps_nothing() -> None:
    model = catalogue_model("llava-hf/llava-1.5-7b-hf")
    lora = Method(kind=MethodKind.LORA)
    assert value(memory(model=model, method=lora, images_per_sample=4), "forward", "mem.activations") == value(
        memory(model=model, method=lora), "forward", "mem.activations"
    )
    full = value(memory(model=model, images_per_sample=4), "forward", "mem.activations")
    assert full > value(memory(model=model), "forward", "mem.activations")


def test_lora_parameters() -> None:
    """peft reports 39976960 trainable parameters for rank 16 on all linear layers of Llama-2-7B."""
    found = memory(model=reference_model("llama-2-7b"), method=Method(kind=MethodKind.LORA, rank=16))
    assert value(found, "forward", "mem.weights.adapter") == 4 * 39976960


def test_recomputation_and_offload_reduce() -> None:
    plain = memory(sequence_length=4096)
    full = memory(sequence_length=4096, recompute=Recompute.FULL)
    assert value(full, "forward", "mem.activations") < 0.2 * value(plain, "forward", "mem.activations")
    layout = Layout(data_parallel=2, sharding=Sharding.ZERO2, offload_optimizer=Offload.CPU)
    assert value(memory(layout=layout), "forward", "mem.optimizer") == 0


def test_selective_recomputation_drops_the_scores() -> None:
    eager = memory(attention=AttentionImplementation.EAGER)
    selective = memory(attention=AttentionImplementation.EAGER, recompute=Recompute.SELECTIVE)
    dropped = value(eager, "forward", "mem.activations") - value(selective, "forward", "mem.activations")
    assert dropped == pytest.approx(32 * 6 * 32 * 2048**2)  # layers, bytes, heads, scores


def test_optimizers_in_order_of_their_states() -> None:
    order = (OptimizerKind.SGD, OptimizerKind.SGD_MOMENTUM, OptimizerKind.ADAMW_8BIT, OptimizerKind.ADAMW)
    states = [value(memory(optimizer=kind), "forward", "mem.optimizer") for kind in order]
    assert states == sorted(states)
    assert states[2] == pytest.approx(2.03125 * BASE.model.total_parameters)


def test_reserve_is_squeezed_on_a_small_gpu() -> None:
    small = dataclasses.replace(A100, memory_bytes=60 * 2**30)
    request = dataclasses.replace(
        BASE, method=Method(kind=MethodKind.LORA), micro_batch_size=4, recompute=Recompute.FULL
    )
    roomy = training_memory(request)
    tight = training_memory(dataclasses.replace(request, cluster=Cluster(gpu=small)))
    assert tight.allocated == roomy.allocated
    assert tight.reserve.value <= roomy.reserve.value
