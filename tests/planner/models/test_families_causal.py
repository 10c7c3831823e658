"""Causal language models: exact counts and cache facts from the configuration alone.

Parameters are those of the models built on the meta device by transformers 5.24; cache bytes (16-bit cache, fp32
states) are those that transformers keeps between decode steps of a 6,148-token sequence.
"""

from typing import Any

import pytest

from planner.models.build import build
from planner.models.config import Config
from planner.models.families.text import decoder_of
from planner.models.spec import Attention, LatentAttention, ModelSpec, Recurrent, StackKind
from planner.result import InputError

TOKENS = 6148


def basic(kind: str, hidden: int, depth: int, heads: int, vocabulary: int, **more: Any) -> dict[str, Any]:
    return {
        "model_type": kind,
        "hidden_size": hidden,
        "num_hidden_layers": depth,
        "num_attention_heads": heads,
        "vocab_size": vocabulary,
        **more,
    }


def kinds(period: int, depth: int, most: str, nth: str) -> list[str]:
    return [nth if (index + 1) % period == 0 else most for index in range(depth)]


V3 = basic(
    "deepseek_v3", 7168, 61, 128, 129280, intermediate_size=18432, moe_intermediate_size=2048, n_routed_experts=256,
    n_shared_experts=1, num_experts_per_tok=8, first_k_dense_replace=3, q_lora_rank=1536, kv_lora_rank=512,
    qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128, num_nextn_predict_layers=1, tie_word_embeddings=False,
)  # fmt: skip

MODELS: dict[str, tuple[dict[str, Any], int, int | None, int, int]] = {
    # name: configuration, parameters, active parameters, cache bytes per token, constant cache bytes
    "Llama-3.1-8B": (basic("llama", 4096, 32, 32, 128256, num_key_value_heads=8, intermediate_size=14336),
                     8030261248, None, 131072, 0),
    "Mistral-7B-v0.1": (basic("mistral", 4096, 32, 32, 32000, num_key_value_heads=8, intermediate_size=14336,
                              sliding_window=4096), 7241732096, None, 0, 4096 * 131072),
    "Qwen2.5-7B": (basic("qwen2", 3584, 28, 28, 152064, num_key_value_heads=4, intermediate_size=18944,
                         use_sliding_window=False, sliding_window=131072, max_window_layers=28),
                   7615616512, None, 57344, 0),
    "Qwen-7B": (basic("qwen", 4096, 32, 32, 151936, intermediate_size=22016), 7721324544, None, 524288, 0),
    "Qwen3-235B-A22B": (basic("qwen3_moe", 4096, 94, 64, 151936, num_key_value_heads=4, head_dim=128,
                              intermediate_size=12288, moe_intermediate_size=1536, num_experts=128,
                              num_experts_per_tok=8, decoder_sparse_step=1, mlp_only_layers=[]),
                        235093634560, 22190763520, 192512, 0),
    "Gemma-2-27B": (basic("gemma2", 4608, 46, 32, 256000, num_key_value_heads=16, head_dim=128,
                          intermediate_size=36864, sliding_window=4096), 27227128320, None, 188416, 771751936),
    "Gemma-3-1B": (basic("gemma3_text", 1152, 26, 4, 262144, num_key_value_heads=1, head_dim=256,
                         intermediate_size=6912, sliding_window=512, sliding_window_pattern=6),
                   999885952, None, 4096, 11534336),
    "OLMo-1B": (basic("olmo", 2048, 16, 16, 50304, intermediate_size=8192, tie_word_embeddings=True),
                1176764416, None, 131072, 0),
    "OLMo-2-32B": (basic("olmo2", 5120, 64, 40, 100352, num_key_value_heads=8, intermediate_size=27648),
                   32234279936, None, 262144, 0),
    "StableLM-2-12B": (basic("stablelm", 5120, 40, 32, 100352, num_key_value_heads=8, intermediate_size=13824,
                             qk_layernorm=True, use_parallel_residual=True), 12143185920, None, 204800, 0),
    "Phi-3-medium": (basic("phi3", 5120, 40, 40, 32064, num_key_value_heads=10, intermediate_size=17920,
                           sliding_window=2047), 13960238080, None, 0, 2047 * 204800),
    "GPT-2": ({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
               "vocab_size": 50257}, 124439808, None, 36864, 0),
    "GPT-J-6B": ({"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_inner": None,
                  "vocab_size": 50400, "tie_word_embeddings": False}, 6050882784, None, 458752, 0),
    "Pythia-70M": (basic("gpt_neox", 512, 6, 8, 50304, intermediate_size=2048), 70426624, None, 12288, 0),
    "OPT-350M": (basic("opt", 1024, 24, 16, 50272, ffn_dim=4096, max_position_embeddings=2048,
                       word_embed_proj_dim=512, do_layer_norm_before=False), 331196416, None, 98304, 0),
    "Falcon-7B": (basic("falcon", 4544, 32, 71, 65024, multi_query=True, parallel_attn=True),
                  6921720704, None, 8192, 0),
    "Mixtral-8x22B": (basic("mixtral", 6144, 56, 48, 32000, num_key_value_heads=8, intermediate_size=16384,
                            num_local_experts=8, num_experts_per_tok=2), 140620634112, 39152031744, 229376, 0),
    "gpt-oss-20b": (basic("gpt_oss", 2880, 24, 64, 201088, num_key_value_heads=8, head_dim=64, intermediate_size=2880,
                          num_local_experts=32, num_experts_per_tok=4, sliding_window=128, attention_bias=True,
                          layer_types=kinds(2, 24, "sliding_attention", "full_attention")),
                    20914757184, 4187440704, 24576, 3145728),
    "GLM-4.5-Air": (basic("glm4_moe", 4096, 46, 96, 151552, num_key_value_heads=8, head_dim=128, attention_bias=True,
                          intermediate_size=10944, moe_intermediate_size=1408, n_routed_experts=128,
                          n_shared_experts=1, num_experts_per_tok=8, first_k_dense_replace=1, use_qk_norm=False),
                    106852245504, 13424123904, 188416, 0),
    "DeepSeek-V3": (V3, 671026404352, 37552282624, 70272, 0),
    "DeepSeek-V3.2": ({**V3, "model_type": "deepseek_v32", "index_n_heads": 64, "index_head_dim": 128},
                      671877929216, 38403807488, 70272 + 61 * 256, 0),
    "Mamba-1.4B": ({"model_type": "mamba", "hidden_size": 2048, "num_hidden_layers": 48, "state_size": 16,
                    "conv_kernel": 4, "expand": 2, "time_step_rank": 128, "vocab_size": 50280},
                   1372178432, None, 0, 14155776),
    "Mamba-Codestral-7B": ({"model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64, "num_heads": 128,
                            "head_dim": 64, "state_size": 128, "n_groups": 8, "conv_kernel": 4, "vocab_size": 32768},
                           7285403648, None, 0, 273678336),
    "Jamba-v0.1": (basic("jamba", 4096, 32, 32, 65536, num_key_value_heads=8, intermediate_size=14336, num_experts=16,
                         num_experts_per_tok=2, mamba_dt_rank=256), 51570323328, 12110311296, 16384, 16515072),
    "Qwen3-Next-80B-A3B": (basic("qwen3_next", 2048, 48, 16, 151936, num_key_value_heads=2, head_dim=256,
                                 moe_intermediate_size=512, shared_expert_intermediate_size=512, num_experts=512,
                                 num_experts_per_tok=10, full_attention_interval=4),
                           79674391296, 3874929408, 24576, 77856768),
    "LFM2-1.2B": (basic("lfm2", 2048, 16, 32, 65536, num_key_value_heads=8, block_ff_dim=12288, conv_L_cache=3,
                        block_auto_adjust_ff_dim=True, block_multiple_of=256, full_attn_idxs=[2, 5, 8, 10, 12, 14]),
                  1170340608, None, 12288, 122880),
    "RWKV-4-169M": ({"model_type": "rwkv", "hidden_size": 768, "num_hidden_layers": 12, "vocab_size": 50277},
                    169342464, None, 0, 12 * (3 * 768 * 4 + 2 * 768 * 2)),
    "xLSTM-7B": ({"model_type": "xlstm", "embedding_dim": 4096, "num_blocks": 32, "num_heads": 8,
                  "vocab_size": 50304, "ffn_proj_factor": 2.667}, 6865424896, None, 0, 32 * 4 * (2048 * 513 + 8)),
    "RecurrentGemma-2B": (basic("recurrent_gemma", 2560, 26, 10, 256000, num_key_value_heads=1, head_dim=256,
                                intermediate_size=15360, lru_width=2560, attention_window_size=2048),
                          2682862080, None, 0, 8 * 2048 * 1024 + 18 * (2560 * 4 + 2560 * 3 * 2)),
    "Zamba2-1.2B": (basic("zamba2", 2048, 38, 32, 32000, intermediate_size=8192, attention_head_dim=128,
                          use_shared_attention_adapter=True, num_mem_blocks=1, mamba_d_state=128, mamba_ngroups=1,
                          n_mamba_heads=64,
                          layers_block_type=["hybrid" if i in (5, 11, 17, 23, 29, 35) else "mamba" for i in range(38)]),
                    1215064704, None, 6 * 16384, 38 * (4096 * 128 * 4 + 4352 * 4 * 2)),
}  # fmt: skip


def cache_bytes(spec: ModelSpec) -> tuple[int, int]:
    """Bytes per token and constant bytes of one sequence of `TOKENS` tokens, by the layers' own fields."""
    stack = spec.stack(StackKind.DECODER)
    assert stack is not None
    growing = constant = 0
    for mixer in (mixer for layer in stack.layers() for mixer in layer.mixers):
        if isinstance(mixer, Recurrent):
            constant += 4 * mixer.state_elements + 2 * mixer.convolution_elements
        elif isinstance(mixer, LatentAttention):
            growing += 2 * (mixer.kv_lora_rank + mixer.qk_rope_head_dim + mixer.indexer_cache_elements)
        elif mixer.cached:
            width = 2 * mixer.kv_heads * (mixer.head_dim + mixer.v_dim)
            if mixer.window is not None and mixer.window < TOKENS:
                constant += mixer.window * width
            else:
                growing += width
    return growing, constant


@pytest.mark.parametrize("name", MODELS)
def test_parameters_and_cache(name: str) -> None:
    config, parameters, active, growing, constant = MODELS[name]
    spec = build(config)
    assert spec.computed_parameters == parameters
    assert active is None or spec.active_parameters == active
    assert cache_bytes(spec) == (growing, constant)


def test_prediction_blocks_stay_out_of_the_count() -> None:
    """DeepSeek-V3's block: 11.6 B without its copies of embedding and head."""
    assert build(V3).mtp_parameters == 11610067968
    assert build({**V3, "num_nextn_predict_layers": 0}).computed_parameters == build(V3).computed_parameters


def windows(config: dict[str, Any]) -> list[int | None]:
    stack = build(config).stacks[0]
    return [mixer.window for layer in stack.layers() for mixer in layer.mixers if isinstance(mixer, Attention)]


@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        ("mistral", {}, [None] * 4),
        ("mistral", {"sliding_window": 64}, [64] * 4),
        ("qwen2", {"sliding_window": 64, "max_window_layers": 2}, [None] * 4),
        ("qwen2", {"sliding_window": 64, "max_window_layers": 2, "use_sliding_window": True}, [None, None, 64, 64]),
        ("gemma2", {"sliding_window": 64}, [64, None, 64, None]),
        ("gemma3_text", {"sliding_window": 64, "sliding_window_pattern": 2}, [64, None, 64, None]),
        ("gemma3_text", {"sliding_window": 64, "sliding_window_pattern": 6}, [64] * 4),
        ("cohere2", {"sliding_window": 64, "sliding_window_pattern": 4}, [64, 64, 64, None]),
        ("exaone4", {"sliding_window": 64, "sliding_window_pattern": "LLG"}, [64, 64, None, 64]),
        ("olmo3", {"sliding_window": 64}, [64, 64, 64, None]),
        ("olmo3", {"sliding_window": 64, "layer_types": ["full_attention", "sliding_attention"] * 2}, [None, 64] * 2),
        (
            "llama4_text",
            {"attention_chunk_size": 64, "num_local_experts": 2, "num_experts_per_tok": 1},
            [64, 64, 64, None],
        ),
    ],
)
def test_windows(kind: str, more: dict[str, Any], expected: list[int | None]) -> None:
    assert windows(basic(kind, 64, 4, 4, 100, intermediate_size=128, **more)) == expected


def test_nested_text_model() -> None:
    config = basic("llama", 64, 2, 4, 100, intermediate_size=128)
    nested = Config({"text_config": config}).child("text_config")
    assert decoder_of(nested).computed_parameters == build(config).computed_parameters
    untyped = Config({key: value for key, value in config.items() if key != "model_type"})
    assert decoder_of(untyped, "gemma2").model_type == "gemma2"
    assert (
        decoder_of(untyped, "gemma2").computed_parameters
        == build({**config, "model_type": "gemma2"}).computed_parameters
    )


def test_unknown_type_is_built_and_says_what_it_assumed() -> None:
    known = basic("llama", 64, 2, 4, 100, intermediate_size=128, tie_word_embeddings=True)
    spec = build({**known, "model_type": "something-new"})
    assert spec.computed_parameters == build(known).computed_parameters
    assert spec.assumed == ("llama-like", "gated-mlp")
    assert build(known).assumed == ()
    experts = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    del known["tie_word_embeddings"]
    mixture = build({**known, **experts, "model_type": "something-new"})
    assert mixture.assumed == ("llama-like", "gated-mlp", "untied-head", "experts")
    assert mixture.expert_parameters == 2 * 8 * 3 * 64 * 32


def test_unknown_type_lists_every_missing_key() -> None:
    with pytest.raises(InputError) as caught:
        build({"model_type": "something-new", "hidden_size": 64})
    assert {problem.field for problem in caught.value.problems} == {
        "num_hidden_layers",
        "num_attention_heads",
        "vocab_size",
    }
    assert {problem.code for problem in caught.value.problems} == {"missing-key"}


HOSTILE: tuple[Any, ...] = (0, -1, 1e308, float("nan"), 10**30, "x", [], [None], {}, True)


@pytest.mark.parametrize("name", ["Gemma-3-1B", "DeepSeek-V3.2", "Jamba-v0.1", "Zamba2-1.2B", "LFM2-1.2B", "xLSTM-7B"])
def test_hostile_values_make_a_model_or_an_input_error(name: str) -> None:
    config = MODELS[name][0]
    for key in [key for key in config if key != "model_type"]:
        for value in HOSTILE:
            try:
                spec = build({**config, key: value})
            except InputError:
                continue
            assert spec.computed_parameters > 0, (key, value)


def test_depth_is_bounded() -> None:
    with pytest.raises(InputError) as caught:
        build({**MODELS["Llama-3.1-8B"][0], "num_hidden_layers": 10**7})
    assert [(problem.code, problem.field) for problem in caught.value.problems] == [
        ("out-of-range", "num_hidden_layers")
    ]


def test_key_value_heads_that_cannot_be_shared_are_named() -> None:
    config = basic("llama", 64, 2, 8, 100, intermediate_size=128, num_key_value_heads=3)
    with pytest.raises(InputError) as caught:
        build(config)
    assert [problem.code for problem in caught.value.problems] == ["heads-not-shared"]
