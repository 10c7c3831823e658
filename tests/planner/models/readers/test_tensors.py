import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.models.readers.safetensors import read_header
from planner.models.readers.tensors import spec_from_tensors
from planner.result import InputError
from tests.planner.models.readers.samples import llama_tensors, safetensors_bytes


def table(tensors):
    return read_header(safetensors_bytes(tensors))


def attention(spec):
    return spec.text_stack.runs[0].layer.mixers[0]


def test_a_llama_from_its_tensors():
    read = table(llama_tensors())
    spec = spec_from_tensors(read)
    assert spec.computed_parameters == read.total_parameters == spec.total_parameters
    assert spec.text_stack.depth == 2
    assert spec.assumed == ("model_type", "head_dim")
    assert (attention(spec).heads * attention(spec).head_dim, attention(spec).kv_heads * attention(spec).head_dim) == (
        256,
        128,
    )
    assert spec.quantization is None
    assert not spec.tied


def test_metadata_wins():
    spec = spec_from_tensors(
        table(llama_tensors()), {"num_attention_heads": 8, "head_dim": 32, "model_type": "mistral"}
    )
    assert spec.model_type == "mistral"
    assert (attention(spec).heads, attention(spec).kv_heads) == (8, 4)
    assert spec.assumed == ()


def test_tied_embeddings_and_dtype():
    tensors = llama_tensors(dtype="F16")
    del tensors["lm_head.weight"]
    spec = spec_from_tensors(table(tensors))
    assert spec.tied
    assert spec.dtype == "float16"


def test_query_norms_give_the_head_width():
    tensors = llama_tensors()
    for index in range(2):
        for name in "qk":
            tensors[f"model.layers.{index}.self_attn.{name}_norm.weight"] = ("BF16", (64,))
    read = table(tensors)
    spec = spec_from_tensors(read)
    assert spec.model_type == "qwen3"
    assert attention(spec).head_dim == 64
    assert spec.computed_parameters == read.total_parameters


def test_query_biases():
    tensors = llama_tensors()
    for index in range(2):
        for name, width in (("q", 256), ("k", 128), ("v", 128)):
            tensors[f"model.layers.{index}.self_attn.{name}_proj.bias"] = ("BF16", (width,))
    read = table(tensors)
    spec = spec_from_tensors(read)
    assert spec.model_type == "qwen2"
    assert spec.computed_parameters == read.total_parameters


def moe_tensors(names, experts=4):
    tensors = {name: value for name, value in llama_tensors().items() if ".mlp." not in name}
    for layer in range(2):
        tensors[f"model.layers.{layer}.{names[0]}.gate.weight"] = ("BF16", (experts, 256))
        for expert in range(experts):
            at = f"model.layers.{layer}.{names[0]}.experts.{expert}"
            for name, shape in zip(names[1:], ((96, 256), (96, 256), (256, 96)), strict=True):
                tensors[f"{at}.{name}.weight"] = ("BF16", shape)
    return tensors


def test_experts_need_to_be_told_how_many_are_met():
    read = table(moe_tensors(("block_sparse_moe", "w1", "w3", "w2")))
    with pytest.raises(InputError) as caught:
        spec_from_tensors(read)
    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == ("missing-key", "num_experts_per_tok")
    assert problem.parameters["total_parameters"] == read.total_parameters
    spec = spec_from_tensors(read, {"num_experts_per_tok": 2})
    assert spec.model_type == "mixtral"
    assert spec.computed_parameters == read.total_parameters
    assert spec.active_parameters == read.total_parameters - 2 * 2 * 3 * 256 * 96


def gptq(bits, tensors, group=128):
    packed = {}
    for name, (_dtype, shape) in tensors.items():
        if not name.endswith("_proj.weight"):
            packed[name] = ("F16", shape)
            continue
        outputs, inputs = shape
        stem, groups = name.removesuffix(".weight"), inputs // group
        packed |= {
            f"{stem}.qweight": ("I32", (inputs * bits // 32, outputs)),
            f"{stem}.qzeros": ("I32", (groups, outputs * bits // 32)),
            f"{stem}.scales": ("F16", (groups, outputs)),
            f"{stem}.g_idx": ("I32", (inputs,)),
        }
    return packed


def awq(tensors, group=128):
    packed = {}
    for name, (_dtype, shape) in tensors.items():
        if not name.endswith("_proj.weight"):
            packed[name] = ("F16", shape)
            continue
        outputs, inputs = shape
        stem, groups = name.removesuffix(".weight"), inputs // group
        packed |= {
            f"{stem}.qweight": ("I32", (inputs, outputs // 8)),
            f"{stem}.qzeros": ("I32", (groups, outputs // 8)),
            f"{stem}.scales": ("F16", (groups, outputs)),
        }
    return packed


def each(tensors, replace):
    packed = {}
    for name, (dtype, shape) in tensors.items():
        packed |= replace(name, *shape) if name.endswith("_proj.weight") else {name: (dtype, shape)}
    return packed


def nf4(name, outputs, inputs):
    size = outputs * inputs
    return {
        name: ("U8", (size // 2, 1)),
        f"{name}.absmax": ("U8", (size // 64,)),
        f"{name}.nested_absmax": ("F32", (size // 64 // 256,)),
        f"{name}.quant_map": ("F32", (16,)),
        f"{name}.nested_quant_map": ("F32", (256,)),
        f"{name}.quant_state.bitsandbytes__nf4": ("U8", (90,)),
    }


def int8(name, outputs, inputs):
    return {name: ("I8", (outputs, inputs)), name.removesuffix("weight") + "SCB": ("F32", (outputs,))}


def fp8(name, outputs, inputs):
    return {name: ("F8_E4M3", (outputs, inputs)), f"{name}_scale_inv": ("F32", (outputs // 128, inputs // 128))}


def nvfp4(name, outputs, inputs):
    return {
        name: ("U8", (outputs, inputs // 2)),
        f"{name}_scale": ("F8_E4M3", (outputs, inputs // 16)),
        f"{name}_scale_2": ("F32", ()),
        name.removesuffix("weight") + "input_scale": ("F32", ()),
    }


def packed_int4(name, outputs, inputs):
    return {
        f"{name}_packed": ("I32", (outputs, inputs // 8)),
        f"{name}_scale": ("BF16", (outputs, inputs // 128)),
        f"{name}_shape": ("I64", (2,)),
    }


@pytest.mark.parametrize(
    ("tensors", "quantization"),
    [
        (gptq(4, llama_tensors()), "gptq"),
        (gptq(8, llama_tensors()), "gptq"),
        (gptq(3, llama_tensors()), "gptq"),
        (awq(llama_tensors()), "awq"),
        (each(llama_tensors(), nf4), "nf4"),
        (each(llama_tensors(), int8), "int8"),
        (each(llama_tensors(), fp8), "fp8"),
        (each(llama_tensors(), nvfp4), "nvfp4"),
        (each(llama_tensors(), packed_int4), "compressed-tensors"),
    ],
    ids=["gptq4", "gptq8", "gptq3", "awq", "nf4", "int8", "fp8", "nvfp4", "packed-int4"],
)
def test_quantised_checkpoints_count_as_the_model_they_hold(tensors, quantization):
    whole = table(llama_tensors())
    read = table(tensors)
    spec = spec_from_tensors(read)
    assert read.total_parameters == whole.total_parameters
    assert read.total_bytes < whole.total_bytes
    assert spec.computed_parameters == whole.total_parameters
    assert spec.quantization == quantization


def test_masks_and_frequencies_are_no_parameters():
    tensors = llama_tensors() | {
        "model.layers.0.self_attn.rotary_emb.inv_freq": ("F32", (32,)),
        "transformer.h.0.attn.bias": ("U8", (1, 1, 64, 64)),
    }
    assert table(tensors).total_parameters == table(llama_tensors()).total_parameters


@pytest.mark.parametrize("lost", ["model.embed_tokens", "model.norm", "model.layers.0."])
def test_one_file_of_several_is_not_taken_for_the_model(lost):
    tensors = {name: value for name, value in llama_tensors().items() if not name.startswith(lost)}
    with pytest.raises(InputError) as caught:
        spec_from_tensors(table(tensors))
    assert caught.value.problems[0].code == "incomplete-checkpoint"


def test_mixers_that_are_not_known_are_refused():
    """A layer of linear attention beside one of attention: its cache would be told wrong."""
    tensors = {name: value for name, value in llama_tensors().items() if ".1.self_attn." not in name}
    tensors["model.layers.1.linear_attn.in_proj_qkvz.weight"] = ("BF16", (768, 256))
    with pytest.raises(InputError) as caught:
        spec_from_tensors(table(tensors))
    (problem,) = caught.value.problems
    assert problem.code == "cannot-infer"
    assert problem.parameters["unknown"][:1] == ["model.layers.1.linear_attn.in_proj_qkvz.weight"]


def test_a_description_far_from_the_file_is_not_believed():
    tensors = llama_tensors() | {"vision_tower.weight": ("BF16", (1000, 2000))}
    with pytest.raises(InputError) as caught:
        spec_from_tensors(table(tensors))
    assert caught.value.problems[0].code == "cannot-infer"


def test_an_mlp_without_a_gate():
    read = table({name: value for name, value in llama_tensors().items() if "gate_proj" not in name})
    spec = spec_from_tensors(read)
    assert spec.computed_parameters == read.total_parameters


def test_dense_layers_among_sparse_ones():
    tensors = moe_tensors(("mlp", "gate_proj", "up_proj", "down_proj"))
    dense = {name: value for name, value in tensors.items() if not name.startswith("model.layers.0.mlp")}
    dense |= {name: value for name, value in llama_tensors().items() if name.startswith("model.layers.0.mlp")}
    for index in range(2):
        for name in "qk":
            dense[f"model.layers.{index}.self_attn.{name}_norm.weight"] = ("BF16", (64,))
    read = table(dense)
    spec = spec_from_tensors(read, {"num_experts_per_tok": 2})
    assert spec.model_type == "qwen3_moe"
    assert spec.assumed == ("model_type",)
    assert spec.computed_parameters == read.total_parameters


def test_what_is_no_decoder_is_refused_with_its_size():
    read = table({"conv1.weight": ("F32", (64, 3, 7, 7)), "fc.weight": ("F32", (1000, 2048))})
    with pytest.raises(InputError) as caught:
        spec_from_tensors(read)
    (problem,) = caught.value.problems
    assert problem.code == "cannot-infer"
    assert problem.parameters["total_parameters"] == 64 * 3 * 49 + 2_048_000
    assert problem.parameters["total_bytes"] == 4 * problem.parameters["total_parameters"]


def test_what_the_description_misses_is_recorded():
    read = table(llama_tensors() | {"vision_tower.weight": ("BF16", (100, 1000))})
    spec = spec_from_tensors(read)
    assert spec.recorded_parameters == spec.total_parameters == read.total_parameters


NAMES = [*llama_tensors(), "model.layers.0.mlp.experts.0.gate_proj.weight", "model.layers.1.mlp.gate.weight", "blk.0.x"]
SHAPES = st.lists(st.sampled_from([0, 1, 2, 64, 128, 256, 1000, 2**40]), max_size=3).map(tuple)


@given(st.dictionaries(st.sampled_from(NAMES), st.tuples(st.sampled_from(["BF16", "U8", "I32"]), SHAPES)))
def test_any_shapes(tensors):
    try:
        spec = spec_from_tensors(table(llama_tensors() | tensors))
    except InputError:
        return
    assert spec.total_parameters > 0
