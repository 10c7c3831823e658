"""A plain PyTorch script: FSDP2 (`torch.distributed.fsdp.fully_shard`), its settings as constants at the top.

Names: PyTorch 2.9 and later, transformers 5. The constants are the script's own; reading one back reads them.
"""

from planner.launch import launcher, pairs, trainer_names
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.pairs import Pair
from planner.launch.render import python_value
from planner.launch.types import File, Framework
from planner.plan.plan import Plan

PRECISIONS = {
    "fp32": "fp32",
    "tf32": "tf32",
    "bf16": "bf16",
    "fp16": "fp16",
    "amp-bf16": "amp-bf16",
    "bf16-amp": "bf16-amp",
}
OPTIMIZERS = {name: name for name in ("adamw", "adamw-fused", "adamw-loop", "sgd", "sgd-momentum")}
SHARDING = {name: name for name in ("none", "zero2", "fsdp", "hsdp")}
PAIRS = (
    Pair("sequence_length", "SEQUENCE_LENGTH"),
    Pair("micro_batch_size", "MICRO_BATCH_SIZE"),
    Pair("gradient_accumulation_steps", "GRADIENT_ACCUMULATION_STEPS"),
    Pair("precision", "PRECISION", PRECISIONS),
    Pair("optimizer", "OPTIMIZER", OPTIMIZERS),
    Pair("sharding", "SHARDING", SHARDING),
    Pair("shard_group", "SHARD_GROUP"),
    Pair("offload_parameters", "OFFLOAD", {"none": False, "cpu": True}, comment="parameters and optimizer on the host"),
    Pair("bucket_view", "GRADIENT_AS_BUCKET_VIEW", {True: True, False: False}),
    Pair("attention", "ATTENTION", trainer_names.ATTENTION),
    Pair("recompute", "RECOMPUTE", {"none": False, "full": True}),
    Pair("recompute_every", "RECOMPUTE_EVERY"),
    Pair("compiled", "COMPILED", {True: True, False: False}),
    Pair("workers", "WORKERS"),
    Pair("pinned", "PINNED", {True: True, False: False}),
)

_BODY = """
import functools
import os

import torch
import torch.distributed as dist
from datasets import load_dataset
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, DistributedSampler
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("nccl" if device == "cuda" else "gloo")
rank, world, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
if device == "cuda":
    torch.cuda.set_device(local)
torch.manual_seed(0)

half = torch.float16 if PRECISION == "fp16" else torch.bfloat16
stored = half if PRECISION in ("bf16", "fp16", "bf16-amp") else torch.float32
products = torch.float32 if PRECISION in ("fp32", "tf32") else half
if PRECISION == "tf32":
    torch.set_float32_matmul_precision("high")

if FROM_SCRATCH:
    shape = AutoConfig.from_pretrained(MODEL)
    model = AutoModelForCausalLM.from_config(shape, dtype=stored, attn_implementation=ATTENTION)
else:
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=stored, attn_implementation=ATTENTION)
model.config.use_cache = False
layers = model.get_decoder().layers
for index, layer in enumerate(layers):
    if RECOMPUTE and index % RECOMPUTE_EVERY == 0:
        layer.forward = functools.partial(checkpoint, layer.forward, use_reentrant=False)

replicated = SHARDING == "none"
if replicated:
    model = model.to(device)
    if world > 1:
        model = DistributedDataParallel(model, gradient_as_bucket_view=GRADIENT_AS_BUCKET_VIEW)
else:
    shape, names = (world,), ("shard",)
    if SHARDING == "hsdp":
        shape, names = (world // SHARD_GROUP, SHARD_GROUP), ("copy", "shard")
    settings = dict(
        mesh=init_device_mesh(device, shape, mesh_dim_names=names),
        reshard_after_forward=SHARDING != "zero2",
        mp_policy=MixedPrecisionPolicy(param_dtype=products, reduce_dtype=torch.float32),
        offload_policy=CPUOffloadPolicy() if OFFLOAD else OffloadPolicy(),
    )
    for layer in layers:
        fully_shard(layer, **settings)
    fully_shard(model, **settings)

kind = torch.optim.SGD if OPTIMIZER.startswith("sgd") else torch.optim.AdamW
choice = {"adamw-fused": {"fused": True}, "adamw-loop": {"foreach": False}, "sgd-momentum": {"momentum": 0.9}}
optimizer = kind(model.parameters(), lr=1e-4, **choice.get(OPTIMIZER, {}))
run = torch.compile(model) if COMPILED else model

tokenizer = AutoTokenizer.from_pretrained(MODEL)
text = load_dataset("text", data_files="train.txt", split="train")["text"]
tokens = torch.tensor(tokenizer("\\n".join(text))["input_ids"])
samples = tokens[: len(tokens) // SEQUENCE_LENGTH * SEQUENCE_LENGTH].view(-1, SEQUENCE_LENGTH)
sampler = DistributedSampler(samples, world, rank)
loader = DataLoader(samples, MICRO_BATCH_SIZE, sampler=sampler, num_workers=WORKERS, pin_memory=PINNED, drop_last=True)

for step, batch in enumerate(loader, 1):
    batch = batch.to(device, non_blocking=True)
    last = step % GRADIENT_ACCUMULATION_STEPS == 0
    if not replicated:
        model.set_requires_gradient_sync(last)
    elif world > 1:
        model.require_backward_grad_sync = last
    with torch.autocast(device, half, enabled=replicated and "amp" in PRECISION):
        loss = run(input_ids=batch, labels=batch).loss
    (loss / GRADIENT_ACCUMULATION_STEPS).backward()
    if last:
        optimizer.step()
        optimizer.zero_grad()
        if rank == 0:
            print(f"step {step // GRADIENT_ACCUMULATION_STEPS}: loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
"""

_NEUTRAL = {
    "SHARDING": "none",
    "SHARD_GROUP": 1,
    "GRADIENT_AS_BUCKET_VIEW": False,
    "RECOMPUTE_EVERY": 1,
    "RECOMPUTE": False,
    "ATTENTION": "sdpa",
    "PRECISION": "amp-bf16",
    "OPTIMIZER": "adamw-fused",
    "OFFLOAD": False,
}


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """train.py: constants, then the script."""
    lines = {line.name: line for line in pairs.written(plan, PAIRS)}
    rows = [f"MODEL = {python_value(plan.values['model'])}", f"FROM_SCRATCH = {plan.values['task'] == 'train'}"]
    for pair in PAIRS:
        line = lines.get(pair.option)
        value = line.value if line else _NEUTRAL[pair.option]
        comment = f"  # {line.comment}" if line and line.comment else ""
        rows.append(f"{pair.option} = {python_value(value)}{comment}")
    head = f'"""Made by GPU Planner for {FRAMEWORK.version}. Put your text in train.txt."""\n\n'
    text = head + "\n".join(rows) + "\n" + _BODY
    return (File("train.py", text, "python"),), launcher.torchrun(plan, "train.py")


def recognise(options: Options) -> bool:
    """The script's constants."""
    return options.kind == "python" and options.has("SHARDING") and options.has("MICRO_BATCH_SIZE")


def read(options: Options, found: Found) -> None:
    """The constants at the top."""
    pairs.read(options, PAIRS, found)
    found.set("offload_optimizer", found.get("offload_parameters", "none"))
    scratch = options.flag("FROM_SCRATCH")
    found.set("task", "train" if scratch else "finetune")
    if not scratch:
        found.set("method", "full")
    found.model(options.take("MODEL"), "MODEL")
    for name in options.rest:
        options.take(name)


FRAMEWORK = Framework(
    id="torch-fsdp2",
    name="PyTorch FSDP2, torchrun",
    version="PyTorch 2.9 and later, transformers 5",
    source="https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html",
    tasks=("train", "finetune"),
    write=write,
    recognise=recognise,
    read=read,
    adapters=False,
    decoders_only=True,
)
