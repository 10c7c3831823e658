import re

import pytest

from planner.hardware.catalogue import gpu, gpus, resolve_reported
from planner.hardware.cpus import cpu, cpus
from planner.hardware.links import host_bandwidth, inter_node_link, intra_node_link, links
from planner.hardware.prices import cheapest, offers
from planner.result import InputError
from planner.units import GIB, MIB


def test_ids_are_stable_unique_slugs():
    ids = [g.id for g in gpus()]
    assert len(ids) == len(set(ids)) == 236
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", gpu_id) for gpu_id in ids)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("GeForce RTX 4090", "rtx-4090"),
        ("4090", "rtx-4090"),
        ("a6000", "rtx-a6000"),
        ("A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"),
        ("MI300X", "mi300x"),
        ("Tesla T4", "t4"),
        ("m2 max", "apple-m2-max"),
    ],
)
def test_names_people_and_drivers_use(name, expected):
    assert gpu(name).id == expected


@pytest.mark.parametrize(
    ("name", "code"), [("h100", "ambiguous-gpu"), ("3080", "ambiguous-gpu"), ("rtx 4091", "unknown-gpu")]
)
def test_unclear_names_say_what_is_near(name, code):
    with pytest.raises(InputError) as caught:
        gpu(name)
    problem = caught.value.problems[0]
    assert problem.code == code
    assert problem.parameters["nearest"]
    assert all(gpu(near) for near in problem.parameters["nearest"])


def test_every_card_is_found_by_its_own_names():
    for card in gpus():
        assert gpu(card.id) is card
        assert (
            card in [resolve_reported(alias, card.memory_bytes) for alias in card.aliases]
            or not card.aliases
            or any(resolve_reported(alias, card.memory_bytes) for alias in card.aliases)
        )


def test_memory_decides_between_cards_of_one_driver_name():
    assert resolve_reported("NVIDIA GeForce RTX 3080", 12288 * MIB).id == "rtx-3080-12gb"
    assert resolve_reported("NVIDIA GeForce RTX 3080", 10240 * MIB).id == "rtx-3080-10gb"
    assert resolve_reported("NVIDIA GeForce RTX 4060 Ti", 16380 * MIB).id == "rtx-4060-ti-16gb"
    assert resolve_reported("No such card", 8 * GIB) is None


@pytest.mark.parametrize(
    ("name", "mib"), [("h100-sxm5-80gb", 81559), ("a100-sxm4-80gb", 81920), ("b200-sxm-180gb", 183359), ("l40s", 46068)]
)
def test_memory_is_what_the_driver_reports(name, mib):
    assert gpu(name).memory_bytes == mib * MIB
    assert gpu(name).memory_is_reported


def test_unreported_memory_is_marketed_gib_less_what_the_class_keeps_back():
    assert gpu("rtx-4080").memory_bytes == pytest.approx(16 * GIB, rel=1e-3)
    assert gpu("a2").memory_bytes == pytest.approx(15 * GIB, rel=1e-3)  # GDDR6 with error correction
    assert gpu("mi355x").memory_bytes == 288 * GIB
    assert not gpu("a2").memory_is_reported


def test_a_dual_die_board_is_two_devices():
    die = gpu("mi250x")
    assert die.memory_bytes == 64 * GIB
    assert die.peaks["bf16"] == pytest.approx(191.5e12, rel=0.01)


def test_unknown_is_missing_and_never_zero():
    for card in gpus():
        assert all(peak > 0 for peak in card.peaks.values())
        assert card.memory_bandwidth is None or card.memory_bandwidth > 0
        assert card.memory_bytes > 0
        assert card.sources
    assert "int8" not in gpu("v100-sxm2-16gb").peaks


def test_peaks_are_dense():
    assert gpu("h100-sxm5-80gb").peaks["bf16"] == pytest.approx(989.4e12)
    assert gpu("a100-sxm4-80gb").peaks["bf16"] == 312e12
    assert gpu("rtx-4090").peaks["fp16"] == pytest.approx(165.2e12)


def test_links():
    h100 = intra_node_link(gpu("h100-sxm5-80gb"))
    assert (h100.id, h100.bandwidth) == ("nvlink-4", 450e9)
    assert h100.collective_bandwidth == pytest.approx(365e9)
    assert intra_node_link(gpu("rtx-4090")).id == "pcie-4-x16"
    assert intra_node_link(gpu("rtx-4060")).bandwidth == pytest.approx(31.5e9 / 2)
    assert intra_node_link(gpu("h100-sxm5-80gb"), "pcie").bandwidth == 63e9
    assert host_bandwidth(gpu("h200-sxm-141gb")) == pytest.approx(55.4e9, rel=0.01)
    assert inter_node_link("ib-ndr").bandwidth == 50e9
    with pytest.raises(InputError):
        intra_node_link(gpu("rtx-4090"), "nvlink")
    with pytest.raises(InputError):
        inter_node_link("carrier-pigeon")
    assert all(
        link.collective_bandwidth is None or link.collective_bandwidth < link.bandwidth for link in links().values()
    )


def test_prices_are_dated_and_point_at_known_cards():
    ids = {g.id for g in gpus()}
    assert len(offers()) == 413
    assert all(offer.gpu_id in ids and offer.price_per_hour > 0 and offer.source for offer in offers())
    offer = cheapest("h100-sxm5-80gb")
    assert offer is not None
    assert offer.as_of is not None
    assert 1 < offer.price_per_gpu_hour < 5
    assert cheapest("rubin-r200") is None


def test_processors():
    sapphire_rapids = cpu("xeon-8480plus")
    assert sapphire_rapids.memory_bandwidth == pytest.approx(307.2e9)  # 8 channels of DDR5-4800
    assert sapphire_rapids.peaks["bf16"] == 16 * sapphire_rapids.peaks["fp32"]  # AMX over AVX-512
    assert "bf16" not in cpu("epyc-7763").peaks
    assert len(cpus()) >= 8
