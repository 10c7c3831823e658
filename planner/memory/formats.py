"""Weight formats: true bits per stored weight, which matrices they cover, and the dtype that products run in.

A format covers the matrices inside the layers. Embeddings, norms, routers, vision towers and the output head stay at
16 bits, as checkpoint publishers leave them; GGUF has its own rules for each tensor (`planner.memory.gguf`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planner.memory import gguf
from planner.models.spec import Linear
from planner.numeric import Number
from planner.workload import Engine

KEPT_ROLES = frozenset(
    {
        "router",
        "shared_gate",
        "relative_position",
        "altup_router",
        "altup_correction",
        "altup_prediction",
        "laurel_left",
        "laurel_right",
    }
)
"""Small matrices that steer others: every format leaves them alone (vLLM's ignore lists; llama.cpp's quantiser)."""

_PYTORCH = frozenset({Engine.VLLM, Engine.SGLANG, Engine.TENSORRT_LLM, Engine.TRANSFORMERS})
_SERVERS = frozenset({Engine.VLLM, Engine.SGLANG, Engine.TENSORRT_LLM})
_VLLM_SGLANG = frozenset({Engine.VLLM, Engine.SGLANG})
_LLAMA = frozenset({Engine.LLAMA_CPP})


@dataclass(frozen=True, slots=True)
class Scale:
    """Side numbers: `bits` for each block of `columns` inputs x `rows` outputs. 0 means the whole extent."""

    bits: float
    columns: int = 0
    rows: int = 1

    def bits_per_weight(self, inputs: int, outputs: int) -> float:
        """The share of one weight of a matrix of `inputs` x `outputs`."""
        blocks = -(-inputs // (self.columns or inputs)) * -(-outputs // (self.rows or outputs))
        return self.bits * blocks / (inputs * outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFormat:
    """One way to store weights. `bits` counts the weight itself; `scales` come on top."""

    id: str  # stable
    label: str
    bits: float
    compute: str  # dtype of the products, a key of `Gpu.peaks`
    engines: frozenset[Engine]
    source: str
    scales: tuple[Scale, ...] = ()
    other_bytes: float = 2  # bytes of a parameter that the format leaves alone
    experts_only: bool = False  # of a mixture of experts only the experts are covered
    expert_multiples: tuple[int, int] = (1, 1)  # kernels pad experts' hidden size, and each rank's part of their width
    file_type: gguf.FileType | None = None

    @property
    def bits_per_weight(self) -> float:
        """Bits per weight of a large layer matrix (4096 x 4096), scales included."""
        return self.matrix_bits(4096, 4096)

    @property
    def tower_bytes(self) -> float:
        """Bytes of a parameter outside the text model: vision towers, image networks. GGUF keeps them in 16 bits."""
        return self.other_bytes if self.file_type is None else 2

    def matrix_bits(self, inputs: int, outputs: int, *, routed: bool = False) -> float:
        """Bits per weight of a covered matrix of `inputs` x `outputs`, scales and zero points included.

        `routed`: of an expert behind a router, which GGUF mixtures may store in a type of its own.
        """
        if self.file_type is not None:
            base = self.file_type.experts if routed and self.file_type.experts else self.file_type.base
            return gguf.block_bits(gguf.fitting(base, inputs))
        return self.bits + sum(scale.bits_per_weight(inputs, outputs) for scale in self.scales)

    def matrix_bytes(self, linear: Linear) -> float:
        """Bytes of one copy of a covered matrix, its bias included."""
        bias = linear.outputs * self.other_bytes if linear.bias else 0
        return linear.matrix_elements * self.matrix_bits(linear.inputs, linear.outputs) / 8 + bias

    def covers(self, linear: Linear, *, routed: bool, has_experts: bool) -> bool:
        """Whether a matrix inside a layer is stored in this format (`routed`: it belongs to the routed experts)."""
        if linear.role in KEPT_ROLES:
            return False
        return routed or not (self.experts_only and has_experts)


def _grouped(id: str, label: str, bits: int, group: int, zeros: int, source: str) -> WeightFormat:
    """Integers in groups along the inputs, an fp16 scale each and a zero point of `zeros` bits; products in 16 bits."""
    engines = _PYTORCH if bits == 4 else _VLLM_SGLANG | {Engine.TRANSFORMERS}
    scale = Scale(16 + zeros, columns=group)
    return WeightFormat(id=id, label=label, bits=bits, compute="bf16", engines=engines, source=source, scales=(scale,))


def _whole(id: str, label: str, size: int, compute: str) -> WeightFormat:
    return WeightFormat(
        id=id, label=label, bits=size * 8, compute=compute, engines=_PYTORCH, source="IEEE 754", other_bytes=size
    )


_AWQ = "AWQ, arXiv:2306.00978; AutoAWQ checkpoint layout"
_GPTQ = "GPTQ, arXiv:2210.17323; GPTQModel checkpoint layout"
_OCP = "OCP Microscaling Formats (MX) v1.0"

_PLAIN = (
    _whole("bf16", "BF16", 2, "bf16"),
    _whole("fp16", "FP16", 2, "fp16"),
    _whole("fp32", "FP32", 4, "fp32"),
    WeightFormat(
        id="fp8",
        label="FP8 (per channel)",
        bits=8,
        compute="fp8",
        engines=_PYTORCH,
        source="compressed-tensors FP8-dynamic checkpoints",
        scales=(Scale(16),),
    ),
    WeightFormat(
        id="fp8-tensor",
        label="FP8 (per tensor)",
        bits=8,
        compute="fp8",
        engines=_SERVERS,
        source="NVIDIA ModelOpt FP8 checkpoints",
        scales=(Scale(32, rows=0),),
    ),
    WeightFormat(
        id="fp8-block",
        label="FP8 (128 x 128 blocks)",
        bits=8,
        compute="fp8",
        engines=_PYTORCH,
        source="DeepSeek-V3, arXiv:2412.19437, section 3.3",
        scales=(Scale(32, columns=128, rows=128),),
    ),
    WeightFormat(
        id="int8",
        label="INT8 (W8A8)",
        bits=8,
        compute="int8",
        engines=_PYTORCH,
        source="SmoothQuant, arXiv:2211.10438; compressed-tensors W8A8 checkpoints",
        scales=(Scale(16),),
    ),
    _grouped("awq-int4", "AWQ INT4, group 128", 4, 128, 4, _AWQ),
    _grouped("awq-int4-g64", "AWQ INT4, group 64", 4, 64, 4, _AWQ),
    _grouped("awq-int4-g32", "AWQ INT4, group 32", 4, 32, 4, _AWQ),
    _grouped("gptq-int4", "GPTQ INT4, group 128", 4, 128, 4, _GPTQ),
    _grouped("gptq-int4-g64", "GPTQ INT4, group 64", 4, 64, 4, _GPTQ),
    _grouped("gptq-int4-g32", "GPTQ INT4, group 32", 4, 32, 4, _GPTQ),
    _grouped("gptq-int8", "GPTQ INT8, group 128", 8, 128, 8, _GPTQ),
    WeightFormat(
        id="nf4",
        label="NF4 (double quantisation)",
        bits=4 + 8 / 64 + 32 / (64 * 256),
        compute="bf16",
        engines=_VLLM_SGLANG | {Engine.TRANSFORMERS},
        source="QLoRA, arXiv:2305.14314, section 3; bitsandbytes",
    ),
    WeightFormat(
        id="mxfp4",
        label="MXFP4",
        bits=4,
        compute="bf16",
        engines=_PYTORCH,
        source=f"{_OCP}; gpt-oss model card (experts only)",
        scales=(Scale(8, columns=32),),
        experts_only=True,
        expert_multiples=(256, 128),  # vLLM, layers/quantization/mxfp4.py, Marlin (TensorRT-LLM kernels: 256, 256)
    ),
    WeightFormat(
        id="nvfp4",
        label="NVFP4",
        bits=4,
        compute="fp4",
        engines=_SERVERS,
        source="NVIDIA TensorRT Model Optimizer, NVFP4",
        scales=(Scale(8, columns=16), Scale(32, rows=0)),
    ),
)


def _gguf(name: str) -> WeightFormat:
    mixture = gguf.FILE_TYPES[name]
    compute = {"F32": "fp32", "F16": "fp16", "BF16": "bf16"}.get(name, "int8")  # q8_1 activations, integer products
    return WeightFormat(
        id=f"gguf-{name.lower()}",
        label=f"GGUF {name}",
        bits=gguf.block_bits(mixture.experts or mixture.base),
        compute=compute,
        engines=_LLAMA,
        source=gguf.SOURCE,
        other_bytes=4,
        file_type=mixture,
    )


FORMATS: Mapping[str, WeightFormat] = MappingProxyType(
    {format.id: format for format in (*_PLAIN, *(_gguf(name) for name in gguf.FILE_TYPES))}
)
"""Every weight format by its stable id."""


KV_BYTES: Mapping[str, float] = MappingProxyType(
    {"bf16": 2.0, "fp16": 2.0, "fp32": 4.0, "fp8": 1.0, "int8": 1.0, "int4": 0.5, "q8_0": 34 / 32, "q4_0": 18 / 32}
)
"""Bytes of one cached element by key/value dtype (GGML blocks carry an fp16 scale for 32 elements)."""


def kv_element_bytes(kv_dtype: str, model_bytes: Number = 2) -> Number:
    """Bytes of one cached element; "auto" is the dtype that the model computes in (`model_bytes`)."""
    return model_bytes if kv_dtype == "auto" else KV_BYTES[kv_dtype]
