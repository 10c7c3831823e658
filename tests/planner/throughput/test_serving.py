from dataclasses import replace
from statistics import median

import numpy as np
import pytest
import speed_accuracy as measured
from sample_models import IMAGES, LLAMA, MODEL

from planner.hardware.catalogue import gpu
from planner.hardware.cpus import cpu
from planner.hardware.types import Cluster
from planner.parallel import Layout
from planner.result import Bound
from planner.throughput.cpu import on_cpu
from planner.throughput.roofline import touched_experts
from planner.throughput.serving import serving_speed
from planner.workload import Engine, Serving

H100 = gpu("h100-sxm5-80gb")
BASE = Serving(model=MODEL, cluster=Cluster(gpu=H100))
FINE_GRAINED = measured.decoder({**LLAMA, "ffn": "1024", "experts": "128", "top_k": "8"})


@pytest.mark.parametrize(
    ("source", "limit"),
    [("aiconfigurator", 0.20), ("Qwen2.5 speed benchmark", 0.25), ("llama.cpp GPU benchmarks", 0.20)],
)
def test_median_error_of_decoding_against_published_runs(source, limit):
    errors = [abs(measured.serving_error(row)) for row in measured.rows("serving_speed.csv") if row["source"] == source]
    assert len(errors) >= 10
    assert median(errors) < limit


def test_one_sequence_is_bound_by_reading_the_weights():
    speed = serving_speed(replace(BASE, input_tokens=16, output_tokens=512))
    assert speed.bound is Bound.MEMORY_BANDWIDTH
    least = 2 * (MODEL.total_parameters - MODEL.embedding_parameters) / H100.memory_bandwidth
    assert least < speed.time_per_output_token < 2 * least


def test_prompts_are_bound_by_compute():
    speed = serving_speed(replace(BASE, input_tokens=8000, output_tokens=1))
    assert speed.bound is Bound.COMPUTE
    flops = 2 * MODEL.active_parameters * speed.prefill_tokens_per_second
    assert 0.3 < flops / H100.peaks["bf16"] < 0.75


def test_concurrency_trades_latency_for_throughput():
    speeds = [serving_speed(replace(BASE, concurrency=c)) for c in (1, 8, 64)]
    assert speeds[0].tokens_per_second < speeds[1].tokens_per_second < speeds[2].tokens_per_second
    assert speeds[0].time_per_output_token < speeds[1].time_per_output_token < speeds[2].time_per_output_token


def test_parts_sum_to_the_round():
    speed = serving_speed(replace(BASE, concurrency=16))
    assert speed.seconds == pytest.approx(sum(part.value for part in speed.parts))
    assert speed.tokens_per_second == pytest.approx(16 * 256 / speed.seconds)


def test_smaller_weights_decode_faster_and_long_contexts_slower():
    plain = serving_speed(BASE).time_per_output_token
    assert serving_speed(replace(BASE, weight_format="fp8")).time_per_output_token < plain
    assert serving_speed(replace(BASE, weight_format="awq-int4")).time_per_output_token < plain
    long = replace(BASE, input_tokens=100_000, concurrency=8)
    assert serving_speed(long).time_per_output_token > 1.5 * plain
    assert (
        serving_speed(replace(long, kv_dtype="fp8")).time_per_output_token < serving_speed(long).time_per_output_token
    )


def test_tensor_parallel_shortens_a_token_but_not_in_proportion():
    eight = replace(BASE, layout=Layout(tensor_parallel=8), cluster=Cluster(gpu=H100, gpus=8))
    ratio = serving_speed(BASE).time_per_output_token / serving_speed(eight).time_per_output_token
    assert 1.2 < ratio < 6


def test_a_batch_touches_more_experts():
    assert touched_experts(128, 8, 1) == pytest.approx(8)
    assert touched_experts(128, 8, 16) == pytest.approx(128 * (1 - (1 - 8 / 128) ** 16))
    assert touched_experts(128, 8, 10_000) == pytest.approx(128)
    one, many = (serving_speed(replace(BASE, model=FINE_GRAINED, concurrency=c)) for c in (1, 16))
    assert many.time_per_output_token > 2 * one.time_per_output_token


def test_eager_transformers_is_bound_by_the_host():
    small = measured.decoder({**LLAMA, "hidden": "1024", "heads": "8", "ffn": "2816", "layers": "28"})
    request = replace(BASE, model=small, engine=Engine.TRANSFORMERS, input_tokens=16, output_tokens=64)
    speed = serving_speed(request)
    assert speed.bound is Bound.LAUNCH
    assert 0.015 < speed.time_per_output_token < 0.03


def test_image_networks_and_processors():
    images = serving_speed(replace(BASE, model=IMAGES, concurrency=256, image_size=224))
    assert images.samples_per_second > 1000
    slow = serving_speed(on_cpu(BASE, cpu("laptop-4-core")))
    assert slow.time_per_output_token > 16e9 / 51.2e9
    assert serving_speed(on_cpu(BASE, cpu("xeon-8480plus"))).tokens_per_second > slow.tokens_per_second


def test_arrays_equal_single_requests():
    tensor, concurrency = np.array([1, 2, 4, 8]), np.array([1, 5, 64, 200])
    many = serving_speed(replace(BASE, layout=Layout(tensor_parallel=tensor), concurrency=concurrency))
    for i in range(4):
        one = replace(BASE, layout=Layout(tensor_parallel=int(tensor[i])), concurrency=int(concurrency[i]))
        single = serving_speed(one)
        assert many.seconds[i] == pytest.approx(single.seconds)
        assert many.time_per_output_token[i] == pytest.approx(single.time_per_output_token)
