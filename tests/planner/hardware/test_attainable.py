import pytest

from planner.hardware.attainable import attainable_bandwidth, attainable_flops
from planner.hardware.catalogue import gpu, gpus
from planner.result import InputError, Status


@pytest.mark.parametrize(
    ("name", "dtype", "low", "high"),
    [
        ("a100-sxm4-80gb", "bf16", 0.78, 0.87),
        ("h100-sxm5-80gb", "bf16", 0.72, 0.80),
        ("h100-sxm5-80gb", "fp8", 0.6, 0.72),
        ("b200-sxm-180gb", "bf16", 0.65, 0.75),
        ("b200-sxm-180gb", "fp4", 0.35, 0.48),
        ("mi300x", "bf16", 0.45, 0.52),
        ("rtx-4090", "bf16", 0.9, 1.05),
    ],
)
def test_measured_shares(name, dtype, low, high):
    card = gpu(name)
    attained = attainable_flops(card, dtype)
    assert low < attained.rate / card.peaks[dtype] < high
    assert attained.status is Status.MEASURED
    assert attained.source


def test_relatives_stand_in_and_say_so():
    assert attainable_flops(gpu("a100-sxm4-40gb"), "bf16").status is Status.INTERPOLATED
    assert attainable_flops(gpu("mi300x"), "int8").status is Status.EXTRAPOLATED


def test_a_missing_peak_is_refused():
    with pytest.raises(InputError) as caught:
        attainable_flops(gpu("v100-sxm2-16gb"), "int8")
    assert caught.value.problems[0].code == "unknown-peak"
    with pytest.raises(InputError):
        attainable_flops(gpu("apple-m2-max"), "bf16")


def test_bf16_without_matrix_units_runs_at_fp32_rate():
    v100 = gpu("v100-sxm2-16gb")
    assert attainable_flops(v100, "bf16").rate == attainable_flops(v100, "fp32").rate
    assert attainable_flops(v100, "fp16").rate > 4 * attainable_flops(v100, "bf16").rate


def test_shares_stay_physical_for_every_card():
    for card in gpus():
        for dtype, peak in card.peaks.items():
            if dtype not in ("fp64", "int4"):
                assert 0.2 < attainable_flops(card, dtype).rate / peak < 1.25, (card.id, dtype)
        if card.memory_bandwidth:
            assert 0.7 < attainable_bandwidth(card).rate / card.memory_bandwidth < 1.0
