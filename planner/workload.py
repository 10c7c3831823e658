"""The requests: what is to be run, on what, and how. Frozen; numbers may be arrays where a sweep varies them.

`planner.plan` turns a flat, serialisable plan (widgets, link, JSON, command line) into one of these and back, and is
where limits and defaults live. Names are the field's: micro_batch_size is sequences (or images) per GPU and forward
pass; sequence_length is tokens per sequence.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from planner.hardware.types import Cluster, Cpu
from planner.models.spec import ModelSpec
from planner.numeric import Number
from planner.parallel import Layout


class TrainingPrecision(StrEnum):
    """What dtype weights, compute and optimizer states have while training."""

    FP32 = "fp32"  # everything fp32, no tensor-core rounding
    TF32 = "tf32"  # everything stored fp32, products in TF32
    BF16 = "bf16"  # pure: weights, gradients and states bf16
    FP16 = "fp16"  # pure fp16
    AMP_BF16 = "amp-bf16"  # fp32 weights, gradients and states; autocast to bf16
    AMP_FP16 = "amp-fp16"
    BF16_AMP = "bf16-amp"  # bf16 weights (as loaded), autocast on: the Hugging Face Trainer's bf16=True on a bf16 model
    FP16_AMP = "fp16-amp"
    BF16_MASTER = "bf16-master"  # bf16 weights, fp32 gradients, fp32 master copy and states (Megatron, DeepSpeed)
    FP16_MASTER = "fp16-master"
    FP8 = "fp8"  # products in FP8 (Transformer Engine), the rest as bf16-master


class OptimizerKind(StrEnum):
    ADAMW = "adamw"  # foreach: PyTorch's default on a GPU
    ADAMW_FUSED = "adamw-fused"
    ADAMW_LOOP = "adamw-loop"  # foreach=False
    ADAMW_8BIT = "adamw-8bit"  # bitsandbytes
    PAGED_ADAMW_8BIT = "paged-adamw-8bit"
    PAGED_ADAMW = "paged-adamw"
    ADAFACTOR = "adafactor"  # torch.optim, loop
    ADAFACTOR_FOREACH = "adafactor-foreach"
    ADAFACTOR_HF = "hf-adafactor"  # transformers' own
    LION = "lion"
    MUON = "muon"  # matrices by Muon, the rest by AdamW
    SGD = "sgd"
    SGD_MOMENTUM = "sgd-momentum"


class Recompute(StrEnum):
    NONE = "none"
    SELECTIVE = "selective"  # the attention core only (Megatron)
    FULL = "full"  # every `recompute_every`-th layer keeps only its input


class AttentionImplementation(StrEnum):
    EAGER = "eager"
    SDPA = "sdpa"  # torch.scaled_dot_product_attention: flash, memory-efficient or math by its own rules
    FLASH = "flash"  # the flash-attn package


class LossPath(StrEnum):
    """How logits become a loss; decides several bytes per logit."""

    TRANSFORMERS_5 = "transformers-5"  # upcast inside the loss, labels shifted (4.50 and later)
    TRANSFORMERS_4_46 = "transformers-4.46"  # upcast, logits copied to shift
    TRANSFORMERS_4_44 = "transformers-4.44"  # model's forward upcasts
    NO_UPCAST = "no-upcast"  # cross-entropy on 16-bit logits
    IN_PLACE = "in-place"  # a kernel that turns upcast logits into their gradient in place (Unsloth, Triton)
    FUSED = "fused"  # fused linear cross-entropy (Liger): logits never whole
    CHUNKED = "chunked"  # logits computed in `loss_chunks` pieces


class MethodKind(StrEnum):
    FULL = "full"
    FROZEN = "frozen"  # the first `frozen_layers` layers and the embedding get no gradient
    LORA = "lora"
    DORA = "dora"
    QLORA = "qlora"  # LoRA over a base in `base_format`
    ADAPTER = "adapter"  # bottleneck adapters after attention and MLP (Houlsby)


class BaseFormat(StrEnum):
    """Storage of a quantised base model under adapters."""

    NF4 = "nf4"  # bitsandbytes, double quantisation
    INT8 = "int8"  # bitsandbytes LLM.int8()
    GPTQ4 = "gptq4"  # GPTQ-LoRA, group size 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What is trained."""

    kind: MethodKind = MethodKind.FULL
    rank: Number = 16
    targets: str = "all-linear"  # all-linear | attention (q,k,v,o) | qv
    base_format: BaseFormat = BaseFormat.NF4
    kbit_upcast: bool = True  # peft.prepare_model_for_kbit_training: norms, embeddings and logits to fp32
    adapter_fp32: bool = True  # peft's default autocast_adapter_dtype
    dropout: bool = False  # dropout on the adapter's input
    frozen_layers: Number = 0
    bottleneck: Number = 64  # adapter width


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPipeline:
    """How samples reach the GPU. Zero rates mean: not a bound (synthetic or cached data)."""

    sample_bytes: Number = 0  # stored size of one sample (compressed image, tokenised sequence)
    storage_bandwidth: Number = 0.0  # bytes/s that the dataset's storage delivers to the node
    decode_seconds: Number = 0.0  # CPU-core seconds to read, decode and augment one sample
    workers: Number = 4  # loader processes per GPU
    pinned: bool = True
    overlapped: bool = True  # copies run beside compute (non_blocking and a second stream)


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Training from scratch or fine-tuning: one optimizer step of `global_batch_size` sequences."""

    model: ModelSpec
    cluster: Cluster
    layout: Layout = field(default_factory=Layout)
    fine_tuning: bool = False
    method: Method = field(default_factory=Method)
    precision: TrainingPrecision = TrainingPrecision.BF16
    optimizer: OptimizerKind = OptimizerKind.ADAMW
    micro_batch_size: Number = 1
    gradient_accumulation_steps: Number = 1
    sequence_length: Number = 2048  # tokens; ignored by image models
    image_size: Number = 224  # pixels a side; image models and vision towers
    images_per_sample: Number = 0  # multimodal models: images beside each sequence
    recompute: Recompute = Recompute.NONE
    recompute_every: int = 1
    attention: AttentionImplementation = AttentionImplementation.SDPA
    padding_mask: bool = False  # a mask is given to SDPA (batches padded to different lengths)
    dropout: bool = False
    loss: LossPath = LossPath.TRANSFORMERS_5
    loss_chunks: int = 8
    compiled: bool = False  # torch.compile
    bucket_view: bool = False  # DDP gradient_as_bucket_view
    input_pipeline: InputPipeline = field(default_factory=InputPipeline)
    total_samples: Number | None = None  # sequences or images to train on; None: not asked
    host: Cpu | None = None

    @property
    def global_batch_size(self) -> Number:
        return self.micro_batch_size * self.gradient_accumulation_steps * self.layout.data_parallel


class Engine(StrEnum):
    VLLM = "vllm"
    SGLANG = "sglang"
    TENSORRT_LLM = "tensorrt-llm"
    LLAMA_CPP = "llama.cpp"
    TRANSFORMERS = "transformers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Inference: `concurrency` sequences of `input_tokens` read and `output_tokens` generated each."""

    model: ModelSpec
    cluster: Cluster
    layout: Layout = field(default_factory=Layout)
    engine: Engine = Engine.VLLM
    weight_format: str = "bf16"  # an id of planner.memory.formats
    kv_dtype: str = "auto"  # auto (the model's dtype), bf16, fp16, fp32, fp8, int8, int4, q8_0, q4_0
    concurrency: Number = 1  # sequences in flight
    input_tokens: Number = 1024
    output_tokens: Number = 256
    max_model_length: Number = 0  # longest sequence the engine must hold; 0: input + output
    max_batched_tokens: Number = 8192  # prefill chunk of the scheduler
    memory_fraction: Number = 0.9  # gpu_memory_utilization and its kin; meaning differs by engine
    cuda_graphs: bool = True
    attention: AttentionImplementation = AttentionImplementation.FLASH  # EAGER: scores are stored (old llama.cpp)
    images_per_request: Number = 0
    image_size: Number = 0
    total_tokens: Number | None = None  # output tokens to produce in all; None: not asked

    @property
    def context(self) -> Number:
        """Tokens one sequence holds when it is complete."""
        return self.input_tokens + self.output_tokens


Request: TypeAlias = Training | Serving
