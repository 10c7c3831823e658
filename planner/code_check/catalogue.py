"""Every rule: its weight, the repair as a few lines of code, and the fields of a plan that know of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.code_check.finding import Severity

_HIGH, _MEDIUM, _LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW


@dataclass(frozen=True, slots=True)
class Rule:
    """`sets`: plan fields as repaired; `was`: the same as the script has them. `source`: where it is documented."""

    severity: Severity
    fix: str
    source: str
    sets: Mapping[str, Any] = field(default_factory=dict)
    was: Mapping[str, Any] = field(default_factory=dict)


_TUNING = "docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"
_PINNED = "docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html"
_AMP = "docs.pytorch.org/docs/stable/notes/amp_examples.html"
_CUDA = "docs.pytorch.org/docs/stable/notes/cuda.html"
_FAQ = "docs.pytorch.org/docs/stable/notes/faq.html"
_DATA = "docs.pytorch.org/docs/stable/data.html"
_DDP = "docs.pytorch.org/docs/stable/notes/ddp.html"
_TRAINER = "huggingface.co/docs/transformers/perf_train_gpu_one"
_LIGHTNING = "lightning.ai/docs/pytorch/stable/common/trainer.html"
_TFDATA = "tensorflow.org/guide/data_performance"
_TF = "tensorflow.org/guide"

RULES: Mapping[str, Rule] = {
    # Where the work runs
    "device.cpu": Rule(
        _HIGH,
        'device = torch.device("cuda")\nmodel.to(device)\n'
        "for x, y in loader:\n    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)",
        _CUDA,
    ),
    "device.made-on-cpu": Rule(_MEDIUM, "noise = torch.randn(n, dim, device=x.device)", _TUNING),
    # Loaders
    "loader.workers": Rule(
        _MEDIUM,
        "DataLoader(dataset, num_workers=8, pin_memory=True, persistent_workers=True)",
        _TUNING,
        {"workers": 8},
        {"workers": 0},
    ),
    "loader.pin": Rule(
        _MEDIUM, "DataLoader(dataset, ..., pin_memory=True)", _PINNED, {"pinned": True}, {"pinned": False}
    ),
    "loader.persistent": Rule(_LOW, "DataLoader(dataset, num_workers=8, persistent_workers=True)", _DATA),
    "loader.prefetch": Rule(_LOW, "DataLoader(dataset, num_workers=8, prefetch_factor=4)", _DATA),
    "transfer.blocking": Rule(
        _LOW, "x = x.to(device, non_blocking=True)", _PINNED, {"overlapped": True}, {"overlapped": False}
    ),
    "cpu.tokenize": Rule(_MEDIUM, "dataset = dataset.map(tokenize, batched=True)  # once, before training", _DATA),
    "cpu.read-file": Rule(
        _MEDIUM,
        "class Files(Dataset):\n    def __getitem__(self, i):\n        "
        "return decode(self.paths[i])  # in the loader's workers",
        _DATA,
    ),
    # Precision
    "precision.none": Rule(
        _HIGH,
        'with torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = criterion(model(x), y)\nloss.backward()',
        _AMP,
        {"precision": "amp-bf16"},
        {"precision": "fp32"},
    ),
    "precision.tf32": Rule(
        _MEDIUM, 'torch.set_float32_matmul_precision("high")', _CUDA, {"precision": "tf32"}, {"precision": "fp32"}
    ),
    "scaler.clip": Rule(
        _HIGH,
        "scaler.scale(loss).backward()\nscaler.unscale_(optimizer)\n"
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\nscaler.step(optimizer)\nscaler.update()",
        _AMP,
    ),
    "scaler.update": Rule(_HIGH, "scaler.step(optimizer)\nscaler.update()", _AMP),
    "scaler.step": Rule(_HIGH, "scaler.scale(loss).backward()\nscaler.step(optimizer)\nscaler.update()", _AMP),
    "scaler.bf16": Rule(
        _LOW,
        'with torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = criterion(model(x), y)\n'
        "loss.backward()\noptimizer.step()",
        _AMP,
    ),
    # Waiting for the GPU
    "sync.item": Rule(
        _LOW,
        "running += loss.detach()        # stays on the GPU\nif step % 100 == 0:\n    print(running.item() / 100)",
        _TUNING,
    ),
    "sync.to-host": Rule(
        _MEDIUM,
        "outputs.append(out.detach())     # one copy after the loop\nall_outputs = torch.cat(outputs).cpu()",
        _TUNING,
    ),
    "sync.print": Rule(_LOW, "if step % 100 == 0:\n    print(step, loss.item())", _TUNING),
    "sync.branch": Rule(
        _LOW, "if step % 100 == 0 and not torch.isfinite(loss):\n    raise RuntimeError(step)", _TUNING
    ),
    "sync.synchronize": Rule(
        _MEDIUM, "if step % 100 == 0:\n    torch.cuda.synchronize()  # only to measure time", _TUNING
    ),
    "sync.empty-cache": Rule(_HIGH, "# without torch.cuda.empty_cache(): the allocator reuses what it holds", _FAQ),
    "sync.gc": Rule(_LOW, "if step % 1000 == 0:\n    gc.collect()", _TUNING),
    # Memory
    "leak.kept-graph": Rule(_HIGH, "total += loss.detach()\nlosses.append(loss.detach())", _FAQ),
    "leak.retain-graph": Rule(_MEDIUM, "loss.backward()", _FAQ),
    "grad.zero": Rule(_LOW, "optimizer.zero_grad()  # sets to None since PyTorch 2.0", _TUNING),
    "eval.grad": Rule(
        _HIGH,
        "model.eval()\nwith torch.inference_mode():\n    for x, y in val_loader:\n        out = model(x)",
        _TUNING,
    ),
    "eval.mode": Rule(_MEDIUM, "model.eval()\n...\nmodel.train()", _FAQ),
    "eval.never-back": Rule(_HIGH, "for epoch in range(epochs):\n    model.train()", _FAQ),
    # Several GPUs
    "parallel.data-parallel": Rule(
        _HIGH,
        "# torchrun --nproc_per_node=8 train.py\ntorch.distributed.init_process_group()\n"
        "model = DistributedDataParallel(model.to(local_rank), device_ids=[local_rank])",
        _DDP,
    ),
    "ddp.sampler": Rule(
        _HIGH, "sampler = DistributedSampler(dataset)\nloader = DataLoader(dataset, sampler=sampler)", _DATA
    ),
    "ddp.set-epoch": Rule(_MEDIUM, "for epoch in range(epochs):\n    sampler.set_epoch(epoch)", _DATA),
    "ddp.no-sync": Rule(
        _MEDIUM, "with model.no_sync() if micro < n - 1 else nullcontext():\n    loss.backward()", _DDP
    ),
    "ddp.find-unused": Rule(_LOW, "DistributedDataParallel(model, device_ids=[local_rank])", _DDP),
    # Faster
    "compile.none": Rule(_LOW, "model = torch.compile(model)", _TUNING, {"compiled": True}, {"compiled": False}),
    "layout.channels-last": Rule(
        _MEDIUM,
        "model = model.to(memory_format=torch.channels_last)\n"
        "x = x.to(device, non_blocking=True, memory_format=torch.channels_last)",
        _TUNING,
    ),
    "cudnn.benchmark": Rule(_LOW, "torch.backends.cudnn.benchmark = True", _TUNING),
    "cudnn.deterministic": Rule(_LOW, "torch.backends.cudnn.deterministic = False", _TUNING),
    "cudnn.off": Rule(_HIGH, "torch.backends.cudnn.enabled = True", _TUNING),
    "anomaly": Rule(_HIGH, "torch.autograd.set_detect_anomaly(False)", _TUNING),
    "attention.unfused": Rule(
        _MEDIUM,
        "y = F.scaled_dot_product_attention(q, k, v, is_causal=True)",
        "docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
        {"attention": "sdpa"},
        {"attention": "eager"},
    ),
    "save.every-step": Rule(_HIGH, "if step % 1000 == 0:\n    torch.save(model.state_dict(), path)", _TUNING),
    # Trainers
    "trainer.cpu": Rule(_HIGH, 'Trainer(accelerator="gpu")   # TrainingArguments(use_cpu=False)', _TRAINER),
    "trainer.precision": Rule(
        _HIGH, "TrainingArguments(..., bf16=True)", _TRAINER, {"precision": "amp-bf16"}, {"precision": "fp32"}
    ),
    "trainer.workers": Rule(
        _MEDIUM, "TrainingArguments(..., dataloader_num_workers=8)", _TRAINER, {"workers": 8}, {"workers": 0}
    ),
    "trainer.checkpointing": Rule(
        _LOW,
        "TrainingArguments(..., gradient_checkpointing=False)  # where memory suffices",
        _TRAINER,
        {"recompute": "none"},
        {"recompute": "full"},
    ),
    "trainer.logging": Rule(_LOW, "TrainingArguments(..., logging_steps=50)", _TRAINER),
    "trainer.saving": Rule(_MEDIUM, "TrainingArguments(..., save_steps=500)", _TRAINER),
    "lightning.precision": Rule(
        _HIGH, 'Trainer(..., precision="bf16-mixed")', _LIGHTNING, {"precision": "amp-bf16"}, {"precision": "fp32"}
    ),
    "lightning.manual-move": Rule(
        _LOW, "x = torch.zeros(n, device=self.device)  # batches come on the device", _LIGHTNING
    ),
    # Keras
    "keras.prefetch": Rule(_HIGH, "dataset = dataset.prefetch(tf.data.AUTOTUNE)", _TFDATA),
    "keras.map": Rule(_MEDIUM, "dataset = dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE)", _TFDATA),
    "keras.cache": Rule(_LOW, "dataset = dataset.map(decode).cache()  # where it fits into memory", _TFDATA),
    "keras.precision": Rule(
        _HIGH,
        'keras.mixed_precision.set_global_policy("mixed_bfloat16")',
        f"{_TF}/mixed_precision",
        {"precision": "amp-bf16"},
        {"precision": "fp32"},
    ),
    "keras.jit": Rule(_LOW, "model.compile(..., jit_compile=True)", "tensorflow.org/xla"),
    "keras.eager": Rule(_HIGH, "model.compile(...)  # run_eagerly is for debugging", f"{_TF}/function"),
    "keras.no-function": Rule(_HIGH, "@tf.function\ndef train_step(x, y):", f"{_TF}/function"),
    "keras.predict": Rule(_MEDIUM, "scores = model.predict(all_inputs, batch_size=256)", "keras.io/api/models"),
}
"""Every rule by its stable id."""
