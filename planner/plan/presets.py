"""Plans to start from: what people come to ask, each complete and possible."""

from collections.abc import Mapping
from typing import Any

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "finetune-8b": {"task": "finetune", "model": "meta-llama/Llama-3.1-8B", "method": "lora", "gpu": "rtx-4090"},
    "pretrain-70b": {
        "task": "train",
        "model": "meta-llama/Llama-3.1-70B",
        "gpu": "h100-sxm5-80gb",
        "gpus": 64,
        "micro_batch_size": 1,
        "sequence_length": 8192,
        "recompute": "full",
        "optimizer": "adamw-fused",
        "train_tokens_millions": 100_000.0,
    },
    "serve-32b": {
        "task": "serve",
        "model": "Qwen/Qwen3-32B",
        "gpu": "l40s",
        "gpus": 2,
        "weight_format": "fp8",
        "concurrency": 16,
    },
    "resnet-50": {
        "task": "train",
        "model": "timm/resnet50",
        "gpu": "a100-sxm4-80gb",
        "micro_batch_size": 256,
        "sample_kib": 110.0,
        "storage_gbs": 2.0,
        "decode_ms": 8.0,
        "workers": 16,
    },
    "bert": {
        "task": "finetune",
        "model": "google-bert/bert-large-uncased",
        "method": "full",
        "precision": "amp-fp16",
        "gpu": "t4",
        "micro_batch_size": 8,
        "sequence_length": 384,
        "recompute": "none",
    },
}
"""Chosen values by preset id. ResNet-50: an ImageNet JPEG is about 110 KB; 8 ms is one core's decode and augment."""
