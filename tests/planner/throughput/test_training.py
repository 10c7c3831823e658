from dataclasses import replace
from statistics import median

import numpy as np
import pytest
import speed_accuracy as measured
from sample_models import IMAGES, MODEL, SPARSE

from planner.hardware.catalogue import gpu
from planner.hardware.links import inter_node_link
from planner.hardware.types import Cluster
from planner.parallel import Layout, Offload, Schedule, Sharding
from planner.result import Bound
from planner.throughput.training import training_speed
from planner.workload import (
    AttentionImplementation,
    InputPipeline,
    Method,
    MethodKind,
    Recompute,
    Training,
    TrainingPrecision,
)

H100 = gpu("h100-sxm5-80gb")
BASE = Training(model=MODEL, cluster=Cluster(gpu=H100, gpus=8), precision=TrainingPrecision.BF16_MASTER)


def seconds(**changes):
    return training_speed(replace(BASE, **changes)).seconds


@pytest.mark.parametrize(
    ("source", "limit"),
    [("llm-foundry", 0.15), ("Megatron-LM", 0.10), ("fms-acceleration", 0.10), ("torchtune", 0.15), ("timm", 0.20)],
)
def test_median_error_against_published_runs(source, limit):
    errors = [
        abs(measured.training_error(row)) for row in measured.rows("training_speed.csv") if row["source"] == source
    ]
    assert len(errors) >= 8
    assert median(errors) < limit


def test_parts_sum_to_the_time_and_utilisation_follows():
    speed = training_speed(BASE)
    assert speed.seconds == pytest.approx(sum(part.value for part in speed.parts))
    assert all(part.value >= 0 for part in speed.parts)
    assert speed.samples_per_second == pytest.approx(1 / speed.seconds)
    assert speed.mfu == pytest.approx(speed.model_flops / speed.seconds / 989.4e12)
    assert speed.hfu == speed.mfu


def test_recomputation_costs_less_than_a_forward_pass_and_counts_in_hfu_only():
    plain, full = training_speed(BASE), training_speed(replace(BASE, recompute=Recompute.FULL))
    assert 1.1 < full.seconds / plain.seconds < 4 / 3
    assert full.model_flops == plain.model_flops
    assert full.hfu > full.mfu
    selective = training_speed(replace(BASE, recompute=Recompute.SELECTIVE))
    assert plain.seconds < selective.seconds < full.seconds


def test_adapters_skip_weight_gradients():
    lora = training_speed(replace(BASE, method=Method(kind=MethodKind.LORA, rank=16, adapter_fp32=False)))
    full = training_speed(BASE)
    assert 0.6 < lora.model_flops / full.model_flops < 0.75
    assert lora.seconds < full.seconds
    qlora = training_speed(replace(BASE, method=Method(kind=MethodKind.QLORA, rank=16, adapter_fp32=False)))
    assert qlora.seconds > lora.seconds


def test_more_work_takes_longer():
    assert seconds(micro_batch_size=16) > 1.7 * seconds(micro_batch_size=8)
    assert seconds(sequence_length=65536) > 4.2 * seconds(sequence_length=16384)  # attention grows with the square
    assert seconds(gradient_accumulation_steps=4) > 2 * seconds()  # one optimizer step for all
    assert seconds(precision=TrainingPrecision.TF32) > seconds()
    assert seconds(attention=AttentionImplementation.EAGER) > seconds()
    assert seconds(compiled=True) < seconds()


def test_pipeline_bubble_follows_the_schedule():
    def bubble(layout, steps):
        speed = training_speed(replace(BASE, layout=layout, gradient_accumulation_steps=steps))
        return next(part.value for part in speed.parts if part.id == "time.bubble") / speed.seconds

    plain = Layout(pipeline_parallel=4)
    chunks = replace(plain, schedule=Schedule.INTERLEAVED, virtual_stages=4)
    assert bubble(plain, 4) > bubble(plain, 32) > 0
    assert bubble(chunks, 8) < bubble(plain, 8)
    assert bubble(Layout(), 8) == 0


def test_slow_networks_show():
    layout = Layout(data_parallel=64, sharding=Sharding.FSDP)
    fast = replace(BASE, layout=layout, cluster=Cluster(gpu=H100, gpus=64))
    slow = replace(fast, cluster=Cluster(gpu=H100, gpus=64, inter_node=inter_node_link("ethernet-10")))
    assert training_speed(slow).seconds > 2 * training_speed(fast).seconds
    assert training_speed(slow).bound is Bound.NETWORK
    assert training_speed(fast).bound is Bound.COMPUTE


def test_slow_input_shows():
    pipeline = InputPipeline(sample_bytes=110_000, decode_seconds=0.02, workers=2)
    request = Training(
        model=IMAGES,
        cluster=Cluster(gpu=H100),
        precision=TrainingPrecision.AMP_BF16,
        micro_batch_size=256,
        input_pipeline=pipeline,
    )
    starved = training_speed(request)
    assert starved.bound is Bound.INPUT
    assert starved.samples_per_second == pytest.approx(2 / 0.02, rel=0.01)
    fed = training_speed(replace(request, input_pipeline=InputPipeline()))
    assert fed.samples_per_second > 10 * starved.samples_per_second


def test_a_card_without_known_peak_gives_no_speed():
    assert training_speed(replace(BASE, cluster=Cluster(gpu=gpu("apple-m4")))) is None


@pytest.mark.parametrize("model", [MODEL, SPARSE])
@pytest.mark.parametrize("sharding", [Sharding.NONE, Sharding.ZERO1, Sharding.FSDP, Sharding.HSDP])
def test_arrays_equal_single_plans(model, sharding):
    random = np.random.default_rng(1)
    degrees = {
        name: 2 ** random.integers(0, 4, 12)
        for name in ("data_parallel", "tensor_parallel", "pipeline_parallel", "context_parallel")
    }
    batches = random.integers(1, 9, 12)
    layout = Layout(**degrees, sharding=sharding, shard_group=2)
    many = training_speed(replace(BASE, model=model, layout=layout, micro_batch_size=batches))
    for i in range(12):
        one = replace(layout, **{name: int(values[i]) for name, values in degrees.items()})
        single = training_speed(replace(BASE, model=model, layout=one, micro_batch_size=int(batches[i])))
        assert many.seconds[i] == pytest.approx(single.seconds)
        assert many.mfu[i] == pytest.approx(single.mfu)
        assert many.bound[i] is single.bound


def test_hybrid_sharding_without_a_group_size_shards_over_a_node():
    cluster = Cluster(gpu=H100, gpus=32)
    whole = Layout(data_parallel=32, sharding=Sharding.HSDP)
    named = replace(whole, shard_group=8)
    assert seconds(cluster=cluster, layout=whole) == pytest.approx(seconds(cluster=cluster, layout=named))


def test_adapters_on_an_image_network_train_all_of_it():
    request = replace(BASE, model=IMAGES, micro_batch_size=64)
    lora = replace(request, method=Method(kind=MethodKind.LORA))
    assert training_speed(lora).seconds == pytest.approx(training_speed(request).seconds)


def test_offload_pays_on_the_host_link():
    plain = Layout(data_parallel=8, sharding=Sharding.ZERO3)
    weights = replace(plain, offload_parameters=Offload.CPU)
    states = replace(plain, offload_optimizer=Offload.CPU)
    assert seconds(layout=plain) < seconds(layout=states)
    assert seconds(layout=weights) <= seconds(layout=replace(weights, offload_parameters=Offload.NVME))
    alone = Layout(offload_parameters=Offload.CPU)
    copies = 2 * 2 * MODEL.total_parameters / 55.4e9
    assert seconds(layout=alone) > copies * 0.9
