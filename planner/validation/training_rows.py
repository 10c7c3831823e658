"""Rows of training.csv -> requests. What a row leaves open takes its framework's default, and is listed."""

import re
from dataclasses import replace

from planner.hardware.links import inter_node_link
from planner.hardware.types import Cluster, Gpu, Link
from planner.models.build import build
from planner.models.spec import ModelSpec
from planner.naming import training as words
from planner.naming.gpus import named_gpu
from planner.naming.models import named_model
from planner.naming.named import refuse
from planner.naming.training import Framework
from planner.parallel import Layout, Schedule, Sharding
from planner.units import GIB
from planner.validation.case import Case, Quantity, Row
from planner.validation.sources import source_of
from planner.validation.tables import number, whole
from planner.workload import AttentionImplementation, LossPath, MethodKind, Recompute, Training

IMAGE_BATCH = 128
"""Images per GPU where a source doesn't say: the batch of most ImageNet recipes on 16 to 40 GB cards."""

_COUNTERS = {
    "allocated": Quantity.ALLOCATED,
    "reserved": Quantity.RESERVED,
    "nvidia-smi": Quantity.DEVICE,
    "device": Quantity.DEVICE,
}


def training_case(row: Row) -> Case:
    """The case of a row. Raises `InputError` where something decisive is unknown, `BadCell` on a bad number."""
    image = row.text("domain") == "vision"
    length = whole(row, "seq_len", 0)
    notes = row.text("arch_notes")
    model = named_model(row.text("model"), number(row, "params_b"), notes, length or None, image)
    gpu = named_gpu(row.text("gpu"), number(row, "gpu_mem_gb"))
    framework = words.named_framework(row.text("framework"))
    assumed = [*model.assumed, *gpu.assumed]
    request, decided = _request(row, _fused_activation(model.value, framework), gpu.value, framework, length, assumed)
    measured, left_out = _measured(row, request)
    return Case(
        id=row.text("id") or f"line {row.line}",
        line=row.line,
        source=source_of(row),
        url=row.text("source_url_or_repo_path"),
        date=row.text("date"),
        model=model.value.name,
        gpu=gpu.value.id,
        domain=row.text("domain") or "llm_pretrain",
        quality=row.text("quality") or "B",
        request=request,
        measured=measured,
        assumed=tuple(assumed),
        left_out=left_out,
        ran=True if decided else None,
    )


def _request(
    row: Row, spec: ModelSpec, gpu: Gpu, framework: Framework, length: int, assumed: list[str]
) -> tuple[Training, bool]:
    """The request, and whether all that decides its memory is stated."""
    tokens = spec.image is None
    if tokens and not length:
        raise refuse("sequence-length-not-stated", "seq_len", "")
    method = words.named_method(row.text("method"), row.text("precision"), framework, row.text("notes"))
    adapters = method.value.kind is not MethodKind.FULL
    precision = words.named_precision(row.text("precision"), framework, adapters)
    optimizer = words.named_optimizer(_optimizer(row, framework, adapters), not tokens)
    assumed += [*method.assumed, *precision.assumed, *optimizer.assumed]
    layout = _layout(row, assumed)
    if framework is Framework.LITGPT and layout.sharding is Sharding.FSDP:
        raise refuse("unsupported-sharding", "sharding", "LitGPT loads whole weights on every GPU before it shards")
    micro, accumulation = _batch(row, layout, tokens, assumed)
    recompute = words.named_recompute(row.text("recompute"))
    if recompute is None:
        recompute = Recompute.FULL if framework is Framework.TORCHTUNE else Recompute.NONE
        assumed.append(f"recomputation not stated: {recompute}")
        decided = False
    else:
        decided = not any("micro batch" in each or "sharding" in each for each in assumed)
    offload_optimizer, offload_parameters = words.named_offload(row.text("offload"))
    request = Training(
        model=spec,
        cluster=_cluster(row, gpu, int(layout.gpus)),
        layout=replace(layout, offload_optimizer=offload_optimizer, offload_parameters=offload_parameters),
        fine_tuning=adapters or "finetune" in row.text("domain"),
        method=method.value,
        precision=precision.value,
        optimizer=optimizer.value,
        micro_batch_size=micro,
        gradient_accumulation_steps=accumulation,
        sequence_length=_within_positions(spec, length, assumed) if tokens else 1,
        image_size=spec.image.image_size if spec.image else 224,
        recompute=recompute if tokens else Recompute.NONE,
        attention=_attention(row, framework),
        loss=loss_path(framework, row.text("date"), row.text("framework")),
        compiled=row.text("compile") == "true"
        or framework is Framework.MEGATRON,  # its fused kernels are compiled ones
    )
    return request, decided


def _optimizer(row: Row, framework: Framework, adapters: bool) -> str:
    """The optimizer's cell; torchtune's single-GPU recipes of full fine-tuning step inside the backward pass."""
    stated = row.text("optimizer")
    if framework is Framework.TORCHTUNE and not adapters and not stated and row.text("n_gpus") == "1":
        return "PagedAdamW8bit in backward"
    return stated


def _fused_activation(spec: ModelSpec, framework: Framework) -> ModelSpec:
    """LitGPT calls PyTorch's fused GELU where transformers composes it of element-wise steps."""
    names = ("activation_function", "hidden_act")
    if framework is not Framework.LITGPT or not any(str(spec.config.get(name)) == "gelu_new" for name in names):
        return spec
    return build({**spec.config, **dict.fromkeys(names, "gelu")}, id=spec.id, name=spec.name)


def _layout(row: Row, assumed: list[str]) -> Layout:
    tensor, pipeline, context = (whole(row, name, 1) for name in ("tp", "pp", "cp"))
    product = tensor * pipeline * context
    data = whole(row, "dp", 0)
    gpus = whole(row, "n_gpus", data * product or 1)
    data = data or max(1, gpus // product)
    if data * product != gpus:
        raise refuse("degrees-are-not-the-gpus", "n_gpus", f"{data} x {tensor} x {pipeline} x {context} != {gpus}")
    stated = row.text("sharding")
    sharding, group = words.named_sharding(stated)
    if stated.lower() in ("", "unknown") and gpus > 1:
        assumed.append("sharding not stated: none")
    virtual = whole(row, "vpp", 1)
    if pipeline == 1:
        virtual = 1
    if data * context == 1 and sharding.divides_optimizer:
        sharding = Sharding.NONE
    return Layout(
        data_parallel=data,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        context_parallel=context,
        expert_parallel=whole(row, "ep", 1),
        sequence_parallel=row.text("sequence_parallel") == "true"
        or (tensor > 1 and row.text("sequence_parallel") == ""),
        sharding=sharding,
        shard_group=min(group, data) if group else 0,
        schedule=Schedule.INTERLEAVED if virtual > 1 else Schedule.ONE_F_ONE_B,
        virtual_stages=virtual,
    )


def _batch(row: Row, layout: Layout, tokens: bool, assumed: list[str]) -> tuple[int, int]:
    micro, steps, whole_batch = (whole(row, name, 0) for name in ("micro_batch", "grad_accum", "global_batch"))
    data = int(layout.data_parallel)
    if not micro:
        micro = whole_batch // (data * (steps or 1)) if whole_batch >= data else 0
        if not micro:
            micro = 1 if tokens else IMAGE_BATCH
            assumed.append(f"micro batch not stated: {micro}")
    if not steps:
        steps = max(1, round(whole_batch / (micro * data))) if whole_batch else 1
    return micro, steps


_DOMAIN = {"GB200": 72, "GB300": 72}
_NETWORKS = ((r"hdr|1600|8x ?200", "ib-hdr"), (r"400g|ndr", "ib-ndr"), (r"xdr|800g", "xdr"), (r"edr|100g", "ib-edr"))


def _cluster(row: Row, gpu: Gpu, gpus: int) -> Cluster:
    text = row.text("interconnect").lower()
    per_node = whole(row, "gpus_per_node", 8)
    if "nvl72" in text or gpu.id.startswith(("gb200", "gb300")):
        per_node = 72
    return Cluster(gpu=gpu, gpus=gpus, gpus_per_node=max(1, min(per_node, gpus)), inter_node=_network(text))


def _network(text: str) -> Link | None:
    for pattern, link in _NETWORKS:
        if re.search(pattern, text):
            return inter_node_link(link if link.startswith("ib") else f"ib-{link}")
    return None


def _attention(row: Row, framework: Framework) -> AttentionImplementation:
    stated = words.named_attention(row.text("attention"))
    if framework is Framework.MEGATRON and stated is AttentionImplementation.FLASH:
        return AttentionImplementation.SDPA  # Transformer Engine's fused attention is cuDNN's, which SDPA stands for
    return stated or AttentionImplementation.SDPA


def _within_positions(spec: ModelSpec, length: int, assumed: list[str]) -> int:
    table = next((t for t in spec.embeddings if t.role == "position"), None)
    if table is not None and table.rows < length:
        assumed.append(f"sequences end at the model's {table.rows} positions")
        return table.rows
    return length


def loss_path(framework: Framework, date: str, text: str = "") -> LossPath:
    """How logits become a loss in a framework at a date (ISO, any precision; empty: today).

    transformers raised logits in the model until 4.44 (August 2024), in shifted copies until 4.49 (February 2025).
    """
    if framework is Framework.TORCHTUNE:
        return LossPath.CHUNKED
    if framework in (Framework.LITGPT, Framework.AUTOMODEL, Framework.COMPOSER):  # Composer: flash-attn's, in place
        return LossPath.NO_UPCAST
    if framework is Framework.MEGATRON or re.search(r"unsloth|flash-attn", text.lower()):
        return LossPath.IN_PLACE
    if date and date < "2024-08":
        return LossPath.TRANSFORMERS_4_44
    if date and date < "2025-02":
        return LossPath.TRANSFORMERS_4_46
    return LossPath.TRANSFORMERS_5


def _measured(row: Row, request: Training) -> tuple[dict[Quantity, float], tuple[str, ...]]:
    found: dict[Quantity, float] = {}
    left_out = []
    peak = number(row, "peak_mem_gib")
    if peak:
        found[_COUNTERS.get(row.text("peak_mem_kind"), Quantity.UNSTATED)] = peak * GIB
    gpus = request.layout.gpus
    tokens, samples, step = (number(row, n) for n in ("tokens_per_s_per_gpu", "samples_per_s_total", "step_time_s"))
    varying = re.search(r"over-long|longest .*sample|mean length|progressive resiz", row.text("notes"), re.IGNORECASE)
    if varying and (samples or step):
        left_out.append("lengths or sizes vary: rates of samples cannot be compared")
        samples = step = None
    if re.search(r"not (performance )?tuned|first steps? only", row.text("notes"), re.IGNORECASE):
        left_out.append("the source says that the run was not tuned for speed")
        tokens = samples = step = None
    if tokens and request.model.image is None:
        found[Quantity.TOKENS_RATE] = tokens * gpus
    elif samples:
        found[Quantity.SAMPLES_RATE] = samples
    if step:
        found[Quantity.STEP_TIME] = step
    if not found and number(row, "tflops_per_gpu"):
        left_out.append("only a rate of FLOPs, in the source's own count")
    return found, tuple(left_out)
