"""Free text of measured rows: what is understood, what is refused."""

import pytest

from planner.naming.engines import named_engine, version_of
from planner.naming.formats import named_format, named_kv
from planner.naming.gpus import named_gpu
from planner.naming.models import named_model
from planner.naming.training import Framework, named_framework, named_method, named_precision, named_sharding
from planner.parallel import Sharding
from planner.result import InputError
from planner.workload import BaseFormat, Engine, MethodKind, TrainingPrecision


@pytest.mark.parametrize(
    ("text", "memory", "id"),
    [
        ("A100 SXM", 40, "a100-sxm4-40gb"),
        ("A100-80GB", None, "a100-sxm4-80gb"),
        ("A100 PCIe 80GB", 80, "a100-pcie-80gb"),
        ("NVIDIA H100 80GB HBM3", None, "h100-sxm5-80gb"),
        ("H100 NVL 94GB", 94, "h100-nvl-94gb"),
        ("Tesla T4", None, "t4"),
        ("GB300 NVL72", None, "gb300"),
        ("B200 192GB", None, "b200-sxm-180gb"),
        ("AMD Instinct MI300X", 192, "mi300x"),
        ("M2 Ultra 192GB", None, "apple-m2-ultra"),
        ("GB10 (DGX Spark)", 128, "dgx-spark-gb10"),
        ("RTX 6000 Ada", None, "rtx-6000-ada"),
        ("4090", None, "rtx-4090"),
    ],
)
def test_gpus_are_found_by_the_words_that_sources_use(text, memory, id):
    assert named_gpu(text, memory).value.id == id


@pytest.mark.parametrize(
    ("text", "memory", "code"),
    [
        ("", None, "no-gpu-stated"),
        ("unspecified", None, "no-gpu-stated"),
        ("A100", None, "ambiguous-gpu"),
        ("RTX 3080", None, "ambiguous-gpu"),
        ("MI50 32GB", 32, "unknown-gpu"),
        ("RTX 3080 10GB + V100 16GB", None, "unknown-gpu"),
    ],
)
def test_gpus_are_refused_when_unsure(text, memory, code):
    with pytest.raises(InputError) as error:
        named_gpu(text, memory)
    assert error.value.problems[0].code == code


def test_an_assumed_form_factor_is_told():
    assert named_gpu("A100", 80.0).assumed
    assert not named_gpu("A100 SXM", 80.0).assumed


@pytest.mark.parametrize(
    ("text", "billions", "id"),
    [
        ("Llama3 70B", 70.554, "meta-llama/Meta-Llama-3-70B"),
        ("LLAMA2-13B", 13.016, "meta-llama/Llama-2-13b-hf"),
        ("DeepSeekV3 (dropless)", 671, "deepseek-ai/DeepSeek-V3"),
        ("RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", 70.55, "meta-llama/Llama-3.3-70B-Instruct"),
        ("Qwen3 235B a22B (tokendrop)", 235.09, "Qwen/Qwen3-235B-A22B"),
        ("TheBloke/Mistral-7B-v0.1-GPTQ", None, "mistralai/Mistral-7B-v0.1"),
        ("Nemotron 3 Nano", None, "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"),
        ("GaMS-9B (Gemma-2-9B based)", 9.24, "google/gemma-2-9b"),
    ],
)
def test_models_are_found_by_the_words_that_sources_use(text, billions, id):
    assert named_model(text, billions).value.id == id


def test_stated_widths_describe_a_model_that_no_catalogue_has():
    notes = "layers=24;hidden=2048;heads=16;kv_heads=16;ffn=8192;vocab=50368;learned_pos_emb sized to seq_len;tied_emb"
    found = named_model("MPT-1b", 1.316, notes, 2048)
    assert found.assumed
    assert found.value.total_parameters == pytest.approx(1.316e9, rel=0.01)


@pytest.mark.parametrize(
    ("text", "billions", "code"),
    [("Llama-3.1-8B", 70.0, "parameters-disagree"), ("Jasper 10x5", 0.333, "unknown-model")],
)
def test_models_are_refused_when_unsure(text, billions, code):
    with pytest.raises(InputError) as error:
        named_model(text, billions)
    assert error.value.problems[0].code == code


def test_an_image_network_is_taken_at_the_stated_size():
    found = named_model("vit_base_patch14_dinov2", 0.08658, "image 518; 151.71 GMACs, 397.58 M activations", None, True)
    assert found.value.image is not None
    assert found.value.image.image_size == 518


def test_the_same_word_means_what_the_framework_makes_of_it():
    bf16 = {kind: named_precision("bf16", kind, False).value for kind in Framework}
    assert bf16[Framework.MEGATRON] is TrainingPrecision.BF16_MASTER
    assert bf16[Framework.TORCHTUNE] is TrainingPrecision.BF16
    assert named_precision("bf16-true + nf4 base", Framework.LITGPT, True).value is TrainingPrecision.BF16
    with pytest.raises(InputError):
        named_precision("nvfp4", Framework.MEGATRON, False)


def test_methods_ranks_and_targets():
    framework = named_framework("HF Trainer + PEFT/DeepSpeed")
    gptq = named_method("qlora r=64 (GPTQ int4 base)", "fp16 + int4 GPTQ base", framework).value
    assert (gptq.kind, gptq.rank, gptq.base_format) == (MethodKind.QLORA, 64, BaseFormat.GPTQ4)
    assert not gptq.kbit_upcast
    listed = named_method("lora r=32", "bf16-true", Framework.LITGPT, "LoRA targets ['query', 'value'].").value
    assert listed.targets == "qv"
    with pytest.raises(InputError):
        named_method("p-tuning v2", "bf16", framework)


def test_sharding_with_its_group():
    assert named_sharding("fsdp-full (group 8)") == (Sharding.HSDP, 8)
    assert named_sharding("zero1 (megatron distributed optimizer)") == (Sharding.ZERO1, 0)


def test_formats_caches_and_engines():
    assert named_format("Q4_K_M", "Llama-3-8B", Engine.LLAMA_CPP).value == "gguf-q4_k_m"
    assert named_format("", "nvidia/Qwen3-32B-NVFP4", Engine.VLLM).value == "nvfp4"
    assert named_format("int8 w8a8 (bfloat16 act)", "m", Engine.VLLM).value == "int8"
    assert named_kv("fp8_e4m3") == "fp8"
    assert named_engine("Nvidia TensorRT-LLM") is Engine.TENSORRT_LLM
    assert version_of("0.19.2rc1") == (0, 19, 2)
    with pytest.raises(InputError):
        named_engine("ctranslate")
