"""Hardware for a plan: equal to the plan's own estimate, Pareto-optimal, filtered, and honest where nothing is left."""

import datetime
import json

import pytest

from planner.commands.main import main
from planner.estimate import estimate
from planner.hardware.prices import Age, Offer, age
from planner.plan.plan import parse
from planner.plan.request import request_of
from planner.recommend.charges import rented
from planner.recommend.recommend import recommend
from planner.recommend.wishes import owned_text, parse_custom, parse_owned, parse_wishes
from planner.result import InputError
from planner.units import HOUR


def plan_of(**raw):
    plan, problems = parse(raw)
    assert not problems
    return plan


def wishes_of(**raw):
    wishes, problems = parse_wishes(raw)
    assert not problems
    return wishes


def recommended(plan=None, **wishes):
    return recommend(plan or plan_of(task="serve"), wishes_of(**wishes))


@pytest.mark.parametrize(
    "raw",
    [
        {"method": "lora"},
        {"task": "serve"},
        {"task": "serve", "model": "deepseek-ai/DeepSeek-V3"},
        {"task": "train", "model": "meta-llama/Llama-3.1-70B", "gpus": "64"},
        {"task": "train", "model": "mistralai/Mixtral-8x7B-v0.1", "gpus": "8", "gradient_accumulation_steps": "8"},
        {"task": "train", "model": "timm/resnet50"},
    ],
    ids=str,
)
def test_an_option_is_what_the_plan_says_on_that_hardware(raw):
    plan = plan_of(**raw)
    options = recommend(plan, wishes_of()).options
    assert options
    for one in options[::97]:
        result = estimate(request_of(plan.with_changes(gpu=one.gpu.id, **one.sets)))
        assert one.required_bytes == pytest.approx(float(result.memory.required), rel=1e-9)
        assert one.rate == pytest.approx(
            float(result.speed.tokens_per_second or result.speed.samples_per_second), rel=1e-9
        )
        assert one.seconds == pytest.approx(result.cost.seconds_to_finish, rel=1e-9)
        if one.joules is not None:
            assert one.joules == pytest.approx(1.2 * result.cost.energy_joules, rel=1e-9)


def test_the_frontier_is_what_nothing_beats():
    result = recommended()
    priced = [(one.price, one.seconds) for one in result.options if one.price is not None]
    unbeaten = {one for one in priced if not any(o[0] <= one[0] and o[1] <= one[1] and o != one for o in priced)}
    assert {(one.price, one.seconds) for one in result.frontier} == unbeaten


def test_training_keeps_its_global_batch_by_accumulation():
    plan = plan_of(method="lora", gpus="8", gradient_accumulation_steps="4")  # 4 x 4 x 8 = 128
    options = recommend(plan, wishes_of()).options
    assert {one.global_batch_size for one in options if one.gpus <= 32 and "tensor_parallel" not in one.sets} == {128}


def test_filters():
    everything = recommended()
    vendor = recommended(vendor="AMD").options
    assert vendor
    assert {one.gpu.vendor for one in vendor} == {"AMD"}
    assert all(one.gpu.memory_bytes >= 80 * 2**30 for one in recommended(memory_gib="80").options)
    limit = everything.options[20].price
    assert all(one.price <= limit for one in recommended(budget=str(limit)).options)
    assert all(one.seconds <= 0.5 * HOUR for one in recommended(deadline_hours="0.5").options)
    assert all(one.charge.kind == "offer" for one in recommended(source="cloud").options)
    assert max(one.gpus for one in recommended(most_gpus="4").options) == 4


def test_a_wish_that_nothing_meets_says_what_would():
    result = recommended(budget="0.0001")
    assert not result.options
    (budget,) = result.relaxed
    assert budget.limit == "budget"
    assert recommended(budget=str(budget.value)).options[0].id == budget.option.id


def test_two_limits_are_each_relaxed_alone():
    result = recommended(budget="0.2", deadline_hours="0.1")
    assert not result.options
    for one in result.relaxed:
        wish = {"budget": "0.2", "deadline_hours": "0.1"}
        wish |= (
            {"budget": str(one.value)} if one.limit == "budget" else {"deadline_hours": str(one.value / HOUR + 1e-9)}
        )
        assert recommended(**wish).options


def test_what_a_model_needs_that_fits_nothing_so_far():
    plan = plan_of(model="deepseek-ai/DeepSeek-V3", method="full", gpus="8", tensor_parallel="8")
    result = recommend(plan, wishes_of(most_gpus="8"))
    assert not result.options
    assert result.smallest
    assert all(one.fits and one.gpus > 8 for one in result.smallest)
    first = result.smallest[0]
    changed = plan.with_changes(gpu=first.gpu.id, **first.sets)
    assert estimate(request_of(changed)).fits


def test_owned_cards_cost_what_they_cost_and_end_where_they_end():
    result = recommended(source="owned", owned="rtx-4090:2:1753.2", utilisation="0.5", power_price="0")
    assert {one.gpus for one in result.options} == {1, 2}
    for one in result.options:
        assert one.charge.per_hour == pytest.approx(0.1 * one.gpus)
        assert one.price == pytest.approx(one.charge.per_hour * one.seconds / HOUR)


def test_offers_are_rented_whole():
    common = {"gpu_id": "x", "pricing": "on_demand", "region": "any", "source": "s", "provider": "p"}
    node = Offer(instance="node", gpus=8, price_per_hour=8.0, as_of="2026-10-01", **common)
    single = Offer(instance="single", gpus=1, price_per_hour=2.0, as_of="2026-10-01", **common)
    undated = Offer(instance="undated", gpus=1, price_per_hour=0.1, as_of=None, **common)
    found = rented([node, single, undated], [1, 3, 5, 8, 9])
    assert [one.per_hour for one in found] == [2.0, 6.0, 8.0, 8.0, 16.0]  # five are cheaper as a whole node of eight
    assert rented([undated], [2])[0].per_hour == pytest.approx(0.2)
    assert rented([], [1, 2]) == [None, None]


def test_a_custom_card_is_tried_like_any_other():
    card = {"name": "Mine", "memory_gib": 96, "bandwidth_gbs": 3000, "bf16": 500, "watts": 400, "price": 0.01}
    result = recommended(custom=json.dumps({"gpus": [card]}))
    assert result.options[0].gpu.id == "custom-mine"
    assert result.options[0].charge.kind == "user"


def test_carbon_by_grid():
    clean, dirty = (recommended(grid=id, owned="l40s:1:5000", source="owned").options[0] for id in ("NOR", "POL"))
    assert clean.joules == dirty.joules
    assert clean.grams == pytest.approx(clean.joules / 3.6e6 * clean.grid.grams_per_kwh)
    assert clean.grams < dirty.grams / 10


def test_owned_text_round_trip_and_problems():
    owned = parse_owned("4090:2:1600, l40s")
    assert [(id, one.count, one.purchase_price) for id, one in owned.items()] == [
        ("rtx-4090", 2, 1600.0),
        ("l40s", 1, 0.0),
    ]
    assert parse_owned(owned_text(owned)) == owned
    with pytest.raises(InputError) as caught:
        parse_owned("nothing:1, l40s:0:1, l40s:1:2:3")
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("raw", ["{", "[]", '{"gpus": 3}', '{"gpus": ["x"]}', '{"gpus": [{}]}'])
def test_bad_custom_cards_are_refused(raw):
    with pytest.raises(InputError):
        parse_custom(raw)


def test_bad_wishes_are_named_and_left_out():
    wishes, problems = parse_wishes({"pue": "9", "grid": "Atlantis", "vendor": "AMD", "nonsense": "1"})
    assert {problem.code for problem in problems} == {"out-of-range", "unknown-grid", "unknown-field"}
    assert wishes.values["pue"] == 1.2
    assert wishes.values["vendor"] == "AMD"


def test_age_of_a_price():
    today = datetime.date(2026, 12, 31)
    assert age("2026-10-02", today) is Age.RECENT  # 90 days
    assert age("2026-10-01", today) is Age.STALE
    assert age(None, today) is Age.UNDATED


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--task", "serve", "--rows", "3"], 0),
        (["--model", "deepseek-ai/DeepSeek-V3", "--method", "lora", "--budget", "1"], 1),
        (["--grid", "Atlantis"], 2),
    ],
)
def test_command_line(arguments, status, capsys):
    assert main(["recommend", *arguments]) == status
    shown = capsys.readouterr()
    assert "Traceback" not in shown.out + shown.err
    assert (shown.out if status < 2 else shown.err).strip()


def test_command_line_json(capsys):
    assert main(["recommend", "--task", "serve", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    first = data["options"][0]
    plan = plan_of(task="serve").with_changes(**first["sets"])
    assert estimate(request_of(plan)).fits
    assert first["price_date"]
    assert first["id"] in data["frontier"]
