"""The columns of the measured rows that the planner carries, and what other tables call them."""

import re

TRAINING = {
    "source": "source_title",
    "url": "source_url_or_repo_path",
    "parameters_b": "params_b",
    "widths": "arch_notes",
    "gpu_memory_gb": "gpu_mem_gb",
    "gpus": "n_gpus",
    "network": "interconnect",
    "sequence_length": "seq_len",
    "micro_batch_size": "micro_batch",
    "gradient_accumulation_steps": "grad_accum",
    "global_batch_size": "global_batch",
    "tensor_parallel": "tp",
    "pipeline_parallel": "pp",
    "virtual_stages": "vpp",
    "context_parallel": "cp",
    "expert_parallel": "ep",
    "data_parallel": "dp",
    "compiled": "compile",
    "peak_gib": "peak_mem_gib",
    "counter": "peak_mem_kind",
    "tokens_per_second_per_gpu": "tokens_per_s_per_gpu",
    "samples_per_second": "samples_per_s_total",
    "step_seconds": "step_time_s",
    "remarks": "notes",
}
FINETUNE = {
    "gpus": "n_gpus",
    "method_rank": "lora_rank",
    "targets": "target_modules",
    "base_format": "weight_quant",
    "dtype": "torch_dtype",
    "autocast": "amp_flag",
    "micro_batch_size": "per_device_batch",
    "gradient_accumulation_steps": "grad_accum",
    "longest_sequence": "max_seq_len",
    "recompute": "grad_checkpoint",
    "device_mib": "nvidia_smi_peak_mib",
    "allocated_bytes": "torch_peak_alloc_bytes",
    "allocated_after_bytes": "torch_alloc_after_bytes",
    "tokens_per_second_per_gpu": "tokens_per_second_per_gpu",
}
INFERENCE = {
    "source": "source_title",
    "url": "source_url_or_repo_path",
    "parameters_b": "params_b",
    "gpu_memory_gb": "gpu_mem_gb",
    "gpus": "n_gpus",
    "weight_format": "weight_dtype_or_quant",
    "tensor_parallel": "tp",
    "pipeline_parallel": "pp",
    "expert_parallel": "ep",
    "data_parallel": "dp",
    "max_model_length": "max_model_len",
    "memory_fraction": "gpu_memory_utilization",
    "input_tokens": "input_len",
    "output_tokens": "output_len",
    "concurrency": "batch_or_concurrency",
    "weights_scope": "weights_gib_scope",
    "peak_gib": "peak_mem_gib",
    "prefill_tokens_per_second": "prefill_tok_s",
    "decode_tokens_per_second": "decode_tok_s",
    "output_tokens_per_second": "output_tok_s_total",
    "samples_per_second": "samples_per_s",
    "remarks": "notes",
}
"""The planner's own column -> what the readers ask for. Columns that are named alike are not listed."""

_KEPT = {
    "training": "id date domain model gpu gpus_per_node framework precision optimizer method sharding "
    "sequence_parallel recompute attention offload quality",
    "finetune": "id source model gpu method framework packed attention sharding outcome",
    "inference": "id date domain model gpu engine engine_version kv_dtype weights_gib kv_tokens kv_gib activation_gib "
    "other_gib graph_gib ttft_ms tpot_ms quality",
}
KEPT = {layout: tuple(names.split()) for layout, names in _KEPT.items()}
"""Columns that are named alike everywhere."""

ALIASES = {"training": TRAINING, "finetune": FINETUNE, "inference": INFERENCE}

_REMARKS = re.compile(
    r"over-long|longest [^.;,]*sample|not (?:performance )?tuned|first steps? only|max_num_batched_tokens\s*=\s*\d+|"
    r"\bub \d+|context depth \d+|length ratio|summed over|enforce_eager|image \d+|[\d.]+ GMACs|[\d.]+ M activations|"
    r"torch\.compile|generated tokens/s|LoRA targets \[[^\]]*\]|no flash attention|no FA\b|FA on|"
    r"progressive resiz|(?:int8|fp8|bf16|fp16) KV\b|token pool",
    re.IGNORECASE,
)


def remarks(notes: str) -> str:
    """The facts of a row's notes that predictions use; the rest stays at the source."""
    return "; ".join(dict.fromkeys(found.group() for found in _REMARKS.finditer(notes)))


def asked_for(header: list[str]) -> list[str]:
    """A header with the planner's own names replaced by those that the readers ask for, layout by layout."""
    best = max(ALIASES.values(), key=lambda names: len(set(names) & set(header)))
    if len(set(best) & set(header)) <= len(set(best.values()) & set(header)):
        return header
    return [best.get(name, name) for name in header]
