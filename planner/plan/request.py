"""A plan's values -> the request that the planner computes, and the checks that span several fields."""

from typing import Any

from planner import workload as w
from planner.hardware import cpus, links, prices
from planner.hardware.types import Cluster
from planner.parallel import Layout, Offload, Schedule, Sharding
from planner.plan.plan import CUSTOM, Plan
from planner.units import GIGA, KIB, MEGA


def request_of(plan: Plan) -> w.Request:
    """The request of a plan. Fields that do not apply take their neutral value, whatever was chosen for them."""
    return _serving(plan) if plan.values["task"] == "serve" else _training(plan)


def _value(plan: Plan, field_id: str, neutral: Any) -> Any:
    return plan.values[field_id] if plan.uses(field_id) else neutral


def cluster_of(plan: Plan) -> Cluster:
    """The machines of a plan, with a price: the user's own, else the cheapest dated on-demand offer."""
    values = plan.values
    gpu = plan.card
    offer = prices.cheapest(gpu.id)
    price, source, date = values["price"], "user", None
    if price is None and values["gpu"] == CUSTOM:
        price = values["gpu_config"].get("price")
    if price is None and offer is not None:
        price, source, date = offer.price_per_gpu_hour, f"{offer.provider}: {offer.source}", offer.as_of
    network = _value(plan, "network", "auto")
    return Cluster(
        gpu=gpu,
        gpus=values["gpus"],
        gpus_per_node=_value(plan, "gpus_per_node", 8),
        intra_node=links.intra_node_link(gpu, _value(plan, "link", "auto")),
        inter_node=None if network == "auto" else links.inter_node_link(network),
        price_per_gpu_hour=price,
        price_source=source if price is not None else "",
        price_date=date,
    )


def layout_of(plan: Plan) -> Layout:
    """The parallel layout; data parallel takes the GPUs that the other degrees leave."""
    tensor, pipeline = _value(plan, "tensor_parallel", 1), _value(plan, "pipeline_parallel", 1)
    context = _value(plan, "context_parallel", 1)
    return Layout(
        data_parallel=max(1, plan.values["gpus"] // (tensor * pipeline * context)),
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        context_parallel=context,
        expert_parallel=_value(plan, "expert_parallel", 1),
        sequence_parallel=_value(plan, "sequence_parallel", False),
        sharding=Sharding(_value(plan, "sharding", "none")),
        shard_group=_value(plan, "shard_group", 0),
        schedule=Schedule(_value(plan, "schedule", "1f1b")),
        virtual_stages=_value(plan, "virtual_stages", 1),
        offload_optimizer=Offload(_value(plan, "offload_optimizer", "none")),
        offload_parameters=Offload(_value(plan, "offload_parameters", "none")),
    )


def _method(plan: Plan) -> w.Method:
    if plan.values["task"] != "finetune":
        return w.Method()
    return w.Method(
        kind=w.MethodKind(plan.values["method"]),
        rank=_value(plan, "lora_rank", 16),
        targets=_value(plan, "lora_targets", "all-linear"),
        base_format=w.BaseFormat(_value(plan, "base_format", "nf4")),
        kbit_upcast=_value(plan, "kbit_upcast", False),
        adapter_fp32=_value(plan, "adapter_fp32", True),
        dropout=_value(plan, "lora_dropout", False),
        frozen_layers=_value(plan, "frozen_layers", 0),
        bottleneck=_value(plan, "bottleneck", 64),
    )


def _samples(plan: Plan) -> float | None:
    if plan.uses("train_images_millions"):
        return plan.values["train_images_millions"] * MEGA or None
    return plan.values["train_tokens_millions"] * MEGA / plan.values["sequence_length"] or None


def _training(plan: Plan) -> w.Training:
    values = plan.values
    return w.Training(
        model=plan.spec,
        cluster=cluster_of(plan),
        layout=layout_of(plan),
        fine_tuning=values["task"] == "finetune",
        method=_method(plan),
        precision=w.TrainingPrecision(values["precision"]),
        optimizer=w.OptimizerKind(values["optimizer"]),
        micro_batch_size=values["micro_batch_size"],
        gradient_accumulation_steps=values["gradient_accumulation_steps"],
        sequence_length=_value(plan, "sequence_length", 1),
        image_size=values["image_size"],
        images_per_sample=_value(plan, "images_per_sample", 0),
        recompute=w.Recompute(_value(plan, "recompute", "none")),
        recompute_every=_value(plan, "recompute_every", 1),
        attention=w.AttentionImplementation(_value(plan, "attention", "sdpa")),
        padding_mask=_value(plan, "padding_mask", False),
        dropout=_value(plan, "dropout", False),
        loss=w.LossPath(_value(plan, "loss", "transformers-5")),
        loss_chunks=_value(plan, "loss_chunks", 8),
        compiled=values["compiled"],
        bucket_view=_value(plan, "bucket_view", False),
        input_pipeline=w.InputPipeline(
            sample_bytes=values["sample_kib"] * KIB,
            storage_bandwidth=values["storage_gbs"] * GIGA,
            decode_seconds=values["decode_ms"] / 1000,
            workers=values["workers"],
            pinned=values["pinned"],
            overlapped=values["overlapped"],
        ),
        total_samples=_samples(plan),
        host=cpus.cpu(values["host"]) if values["host"] else None,
    )


def _serving(plan: Plan) -> w.Serving:
    values = plan.values
    return w.Serving(
        model=plan.spec,
        cluster=cluster_of(plan),
        layout=layout_of(plan),
        engine=w.Engine(values["engine"]),
        weight_format=values["weight_format"],
        kv_dtype=_value(plan, "kv_dtype", "auto"),
        concurrency=values["concurrency"],
        input_tokens=_value(plan, "input_tokens", 0),
        output_tokens=_value(plan, "output_tokens", 0),
        max_model_length=_value(plan, "max_model_length", 0),
        max_batched_tokens=_value(plan, "max_batched_tokens", 8192),
        memory_fraction=values["memory_fraction"],
        cuda_graphs=values["cuda_graphs"],
        images_per_request=_value(plan, "images_per_sample", 0),
        image_size=values["image_size"],
        total_tokens=_value(plan, "serve_tokens_millions", 0.0) * MEGA or None,
    )
