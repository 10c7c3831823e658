"""Parameter counts of models that aren't plain causal language models, from a few numbers of their configurations.

Reference counts are those of transformers 5.24, built without weights on PyTorch's meta device.
"""

from typing import Any

import pytest

from planner.models.build import build
from planner.models.spec import Attention, ModelSpec, StackKind
from planner.result import InputError

# fmt: off
MODELS: dict[str, tuple[int, dict[str, Any]]] = {
    "google-bert/bert-base-uncased": (109_482_240,
        {"architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512,
        "type_vocab_size": 2, "position_embedding_type": "absolute"}),
    "BAAI/bge-m3": (567_754_752,
        {"model_type": "xlm-roberta", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096, "vocab_size": 250002, "max_position_embeddings": 8194, "type_vocab_size": 1,
        "position_embedding_type": "absolute"}),
    "BAAI/bge-reranker-v2-m3": (567_755_777,
        {"architectures": ["XLMRobertaForSequenceClassification"], "model_type": "xlm-roberta", "hidden_size":
        1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 250002,
        "max_position_embeddings": 8194, "type_vocab_size": 1, "position_embedding_type": "absolute", "num_labels":
        1}),
    "distilbert/distilbert-base-uncased": (66_362_880,
        {"architectures": ["DistilBertForMaskedLM"], "model_type": "distilbert", "dim": 768, "n_layers": 6,
        "n_heads": 12, "hidden_dim": 3072, "vocab_size": 30522, "max_position_embeddings": 512}),
    "microsoft/deberta-v3-base": (183_831_552,
        {"model_type": "deberta-v2", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "vocab_size": 128100, "max_position_embeddings": 512, "type_vocab_size": 0,
        "relative_attention": True, "position_buckets": 256, "norm_rel_ebd": "layer_norm", "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"], "max_relative_positions": -1, "position_biased_input": False}),
    "sentence-transformers/all-mpnet-base-v2": (109_486_464,
        {"architectures": ["MPNetForMaskedLM"], "model_type": "mpnet", "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30527, "max_position_embeddings": 514,
        "relative_attention_num_buckets": 32}),
    "nomic-ai/nomic-embed-text-v1.5": (136_731_648,
        {"vocab_size": 30528, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "max_position_embeddings": 2048, "type_vocab_size": 2, "head_dim": 64,
        "model_type": "nomic_bert"}),
    "answerdotai/ModernBERT-base": (149_014_272,
        {"architectures": ["ModernBertForMaskedLM"], "model_type": "modernbert", "hidden_size": 768,
        "num_hidden_layers": 22, "num_attention_heads": 12, "intermediate_size": 1152, "vocab_size": 50368,
        "max_position_embeddings": 8192, "global_attn_every_n_layers": 3, "local_attention": 128, "norm_bias":
        False, "attention_bias": False}),
    "facebook/esm2_t12_35M_UR50D": (33_500_401,
        {"architectures": ["EsmForMaskedLM"], "model_type": "esm", "hidden_size": 480, "num_hidden_layers": 12,
        "num_attention_heads": 20, "intermediate_size": 1920, "vocab_size": 33, "max_position_embeddings": 1026,
        "position_embedding_type": "rotary", "emb_layer_norm_before": False, "tie_word_embeddings": True}),
    "jinaai/jina-embeddings-v3-hf": (559_364_096,
        {"vocab_size": 250002, "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096, "max_position_embeddings": 8194, "type_vocab_size": 1, "tie_word_embeddings":
        True, "model_type": "jina_embeddings_v3"}),
    "facebook/bart-base": (139_420_416,
        {"model_type": "bart", "d_model": 768, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads":
        12, "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072, "vocab_size": 50265,
        "max_position_embeddings": 1024, "tie_word_embeddings": True}),
    "facebook/nllb-200-3.3B": (3_344_863_232,
        {"architectures": ["M2M100ForConditionalGeneration"], "model_type": "m2m_100", "d_model": 2048,
        "encoder_layers": 24, "decoder_layers": 24, "encoder_attention_heads": 16, "decoder_attention_heads": 16,
        "encoder_ffn_dim": 8192, "decoder_ffn_dim": 8192, "vocab_size": 256206, "max_position_embeddings": 1024,
        "tie_word_embeddings": True}),
    "google-t5/t5-11b": (11_307_321_344,
        {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_model": 1024, "d_kv": 128, "d_ff":
        65536, "num_layers": 24, "num_decoder_layers": 24, "num_heads": 128, "vocab_size": 32128,
        "feed_forward_proj": "relu", "tie_word_embeddings": True, "relative_attention_num_buckets": 32,
        "n_positions": 512}),
    "google/mt5-base": (582_401_280,
        {"architectures": ["MT5ForConditionalGeneration"], "model_type": "mt5", "d_model": 768, "d_kv": 64, "d_ff":
        2048, "num_layers": 12, "num_decoder_layers": 12, "num_heads": 12, "vocab_size": 250112,
        "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "relative_attention_num_buckets": 32,
        "n_positions": 512}),
    "openai/whisper-base": (72_593_920,
        {"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper", "d_model": 512,
        "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8, "decoder_attention_heads": 8,
        "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "vocab_size": 51865, "num_mel_bins": 80,
        "max_source_positions": 1500, "max_target_positions": 448, "tie_word_embeddings": True}),
    "facebook/wav2vec2-base-960h": (94_396_320,
        {"architectures": ["Wav2Vec2ForCTC"], "model_type": "wav2vec2", "hidden_size": 768, "num_hidden_layers":
        12, "num_attention_heads": 12, "intermediate_size": 3072, "conv_dim": [512, 512, 512, 512, 512, 512, 512],
        "conv_kernel": [10, 3, 3, 3, 3, 2, 2], "conv_bias": False, "feat_extract_norm": "group",
        "do_stable_layer_norm": False, "num_conv_pos_embeddings": 128, "num_conv_pos_embedding_groups": 16,
        "vocab_size": 32, "num_feat_extract_layers": 7}),
    "google/vit-base-patch16-224": (86_567_656,
        {"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 768,
        "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224,
        "patch_size": 16, "qkv_bias": True, "num_labels": 1000}),
    "google/vit-huge-patch14-224-in21k": (632_404_480,
        {"architectures": ["ViTModel"], "model_type": "vit", "hidden_size": 1280, "num_hidden_layers": 32,
        "num_attention_heads": 16, "intermediate_size": 5120, "image_size": 224, "patch_size": 14, "qkv_bias":
        True, "num_labels": 1000}),
    "facebook/deit-base-distilled-patch16-224": (87_338_192,
        {"architectures": ["DeiTForImageClassificationWithTeacher"], "model_type": "deit", "hidden_size": 768,
        "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224,
        "patch_size": 16, "qkv_bias": True, "num_labels": 1000}),
    "facebook/dinov2-giant": (1_136_480_768,
        {"model_type": "dinov2", "hidden_size": 1536, "num_hidden_layers": 40, "num_attention_heads": 24,
        "mlp_ratio": 4, "image_size": 518, "patch_size": 14, "layerscale_value": 1.0, "qkv_bias": True,
        "use_swiglu_ffn": True, "use_mask_token": True}),
    "openai/clip-vit-large-patch14": (427_616_513,
        {"model_type": "clip", "projection_dim": 768, "text_config": {"model_type": "clip_text_model",
        "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
        "max_position_embeddings": 77, "vocab_size": 49408, "projection_dim": 768}, "vision_config": {"model_type":
        "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
        "num_attention_heads": 16, "image_size": 224, "patch_size": 14, "projection_dim": 768}}),
    "google/siglip-base-patch16-224": (203_155_970,
        {"model_type": "siglip", "text_config": {"model_type": "siglip_text_model", "hidden_size": 768,
        "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 32000,
        "max_position_embeddings": 64}, "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 768,
        "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 224,
        "patch_size": 16}}),
    "microsoft/swin-base-patch4-window7-224": (87_768_224,
        {"architectures": ["SwinForImageClassification"], "model_type": "swin", "embed_dim": 128, "depths": [2, 2,
        18, 2], "num_heads": [4, 8, 16, 32], "window_size": 7, "image_size": 224, "patch_size": 4, "mlp_ratio":
        4.0, "qkv_bias": True, "num_labels": 1000}),
    "facebook/convnext-base-224": (88_591_464,
        {"architectures": ["ConvNextForImageClassification"], "model_type": "convnext", "depths": [3, 3, 27, 3],
        "hidden_sizes": [128, 256, 512, 1024], "num_stages": 4, "patch_size": 4, "image_size": 224,
        "layer_scale_init_value": 1e-06, "num_labels": 1000}),
    "microsoft/resnet-18": (11_689_512,
        {"architectures": ["ResNetForImageClassification"], "model_type": "resnet", "depths": [2, 2, 2, 2],
        "hidden_sizes": [64, 128, 256, 512], "embedding_size": 64, "layer_type": "basic",
        "downsample_in_first_stage": False, "num_labels": 1000}),
    "microsoft/resnet-101": (44_549_160,
        {"architectures": ["ResNetForImageClassification"], "model_type": "resnet", "depths": [3, 4, 23, 3],
        "hidden_sizes": [256, 512, 1024, 2048], "embedding_size": 64, "layer_type": "bottleneck",
        "downsample_in_first_stage": False, "num_labels": 1000}),
    "facebook/sam-vit-base": (93_735_728,
        {"model_type": "sam", "vision_config": {"model_type": "sam_vision_model", "hidden_size": 768,
        "output_channels": 256, "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 1024,
        "patch_size": 16, "mlp_dim": 3072, "num_pos_feats": 128, "global_attn_indexes": [2, 5, 8, 11],
        "window_size": 14, "use_rel_pos": True}, "prompt_encoder_config": {"hidden_size": 256, "image_size": 1024,
        "patch_size": 16, "mask_input_channels": 16, "num_point_embeddings": 4}, "mask_decoder_config":
        {"hidden_size": 256, "mlp_dim": 2048, "num_hidden_layers": 2, "num_attention_heads": 8,
        "num_multimask_outputs": 3, "iou_head_depth": 3, "iou_head_hidden_dim": 256}}),
    "llava-hf/llava-1.5-7b-hf": (7_063_427_072,
        {"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava", "text_config": {"model_type":
        "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads":
        32, "num_key_value_heads": 32, "max_position_embeddings": 4096, "vocab_size": 32064}, "vision_config":
        {"model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers":
        24, "num_attention_heads": 16, "image_size": 336, "patch_size": 14, "projection_dim": 768}}),
    "Qwen/Qwen2-VL-2B-Instruct": (2_208_985_600,
        {"architectures": ["Qwen2VLForConditionalGeneration"], "model_type": "qwen2_vl", "hidden_size": 1536,
        "num_hidden_layers": 28, "num_attention_heads": 12, "num_key_value_heads": 2, "intermediate_size": 8960,
        "vocab_size": 151936, "max_position_embeddings": 32768, "sliding_window": 32768, "tie_word_embeddings":
        True, "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "in_chans": 3,
        "hidden_size": 1536, "patch_size": 14, "spatial_merge_size": 2, "spatial_patch_size": 14,
        "temporal_patch_size": 2}}),
    "meta-llama/Llama-3.2-11B-Vision": (10_642_941_475,
        {"architectures": ["MllamaForConditionalGeneration"], "model_type": "mllama", "text_config": {"model_type":
        "mllama_text_model", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "cross_attention_layers": [3,
        8, 13, 18, 23, 28, 33, 38], "max_position_embeddings": 131072, "tie_word_embeddings": False},
        "vision_config": {"model_type": "mllama_vision_model", "hidden_size": 1280, "attention_heads": 16,
        "intermediate_size": 5120, "num_hidden_layers": 32, "num_global_layers": 8, "image_size": 448,
        "patch_size": 14, "max_num_tiles": 4, "vision_output_dim": 7680, "supported_aspect_ratios": [[1, 1], [1,
        2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]]}}),
    "google/paligemma-3b-pt-224": (2_923_466_480,
        {"architectures": ["PaliGemmaForConditionalGeneration"], "model_type": "paligemma", "hidden_size": 2048,
        "projection_dim": 2048, "vocab_size": 257152, "text_config": {"model_type": "gemma", "hidden_size": 2048,
        "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256,
        "intermediate_size": 16384, "vocab_size": 257216, "max_position_embeddings": 8192, "num_image_tokens": 256,
        "tie_word_embeddings": True}, "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152,
        "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 224,
        "patch_size": 14, "projection_dim": 2048, "vision_use_head": False, "num_image_tokens": 256}}),
    "mistralai/Voxtral-Mini-3B-2507": (4_676_271_104,
        {"architectures": ["VoxtralForConditionalGeneration"], "model_type": "voxtral", "hidden_size": 3072,
        "vocab_size": 131072, "audio_config": {"model_type": "voxtral_encoder", "hidden_size": 1280,
        "intermediate_size": 5120, "num_attention_heads": 20, "num_key_value_heads": 20, "head_dim": 64,
        "num_hidden_layers": 32, "num_mel_bins": 128, "max_source_positions": 1500, "vocab_size": 51866},
        "text_config": {"model_type": "llama", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers":
        30, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 131072,
        "max_position_embeddings": 131072, "attention_bias": False}}),
    "google/gemma-3-4b-it": (4_300_079_472,
        {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "mm_tokens_per_image": 256,
        "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34,
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 10240,
        "vocab_size": 262208, "max_position_embeddings": 131072, "sliding_window": 1024, "sliding_window_pattern":
        6, "query_pre_attn_scalar": 256, "rope_local_base_freq": 10000.0, "attention_bias": False},
        "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152, "intermediate_size": 4304,
        "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 896, "patch_size": 14, "vision_use_head":
        False}}),
    "mistralai/Mistral-Small-3.1-24B-Instruct-2503": (24_011_361_280,
        {"architectures": ["Mistral3ForConditionalGeneration"], "model_type": "mistral3",
        "multimodal_projector_bias": False, "spatial_merge_size": 2, "tie_word_embeddings": False, "text_config":
        {"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 32768, "vocab_size": 131072,
        "max_position_embeddings": 131072}, "vision_config": {"model_type": "pixtral", "hidden_size": 1024,
        "num_hidden_layers": 24, "num_attention_heads": 16, "head_dim": 64, "intermediate_size": 4096,
        "image_size": 1540, "patch_size": 14}}),
}
# fmt: on


def _spec(id: str) -> ModelSpec:
    return build(MODELS[id][1], id=id)


@pytest.mark.parametrize("id", MODELS)
def test_parameters_are_exact(id: str) -> None:
    assert _spec(id).computed_parameters == MODELS[id][0]


@pytest.mark.parametrize(
    ("id", "kind", "inside", "out"),
    [
        ("google/vit-base-patch16-224", StackKind.VISION, 197, 197),
        ("openai/clip-vit-large-patch14", StackKind.VISION, 257, 256),
        ("llava-hf/llava-1.5-7b-hf", StackKind.VISION, 577, 576),
        ("google/gemma-3-4b-it", StackKind.VISION, 4096, 256),
        ("Qwen/Qwen2-VL-2B-Instruct", StackKind.VISION, 2304, 576),
        ("mistralai/Mistral-Small-3.1-24B-Instruct-2503", StackKind.VISION, 12100, 3025),
        ("openai/whisper-base", StackKind.ENCODER, 1500, 1500),
        ("mistralai/Voxtral-Mini-3B-2507", StackKind.AUDIO, 1500, 375),
    ],
)
def test_tokens_of_one_image_or_clip(id: str, kind: StackKind, inside: int, out: int) -> None:
    stack = _spec(id).stack(kind)
    assert stack is not None
    assert (stack.tokens_per_item, stack.tokens_out) == (inside, out)


@pytest.mark.parametrize(
    ("id", "pixels"),
    [
        ("google/vit-base-patch16-224", 224),
        ("Qwen/Qwen2-VL-2B-Instruct", 672),
        ("mistralai/Mistral-Small-3.1-24B-Instruct-2503", 1540),
        ("google/gemma-3-4b-it", None),  # every image is resized to the tower's own size
    ],
)
def test_image_that_the_tokens_are_counted_for(id: str, pixels: int | None) -> None:
    tower = _spec(id).stack(StackKind.VISION)
    assert tower is not None
    assert tower.item_pixels == pixels


@pytest.mark.parametrize(
    ("id", "billions", "millions"),
    [
        ("microsoft/resnet-18", 1.814, 2.48),
        ("microsoft/resnet-101", 7.801, 16.23),
        ("facebook/convnext-base-224", 15.355, 28.75),
        ("microsoft/swin-base-patch4-window7-224", 15.431, 36.63),
    ],
)
def test_cost_of_an_image_is_that_of_the_published_tables(id: str, billions: float, millions: float) -> None:
    """Multiply-accumulates of torchvision's metadata, activations of timm's tables, both at 224 pixels."""
    image = _spec(id).image
    assert image is not None
    assert image.multiply_accumulates == pytest.approx(billions * 1e9, rel=1e-3)
    assert image.activation_elements == pytest.approx(millions * 1e6, abs=5_000)  # they round to 10,000
    assert image.parameters == _spec(id).computed_parameters


def _attentions(id: str, kind: StackKind) -> list[Attention]:
    return [
        mixer
        for stack in _spec(id).stacks
        if stack.kind is kind
        for layer in stack.layers()
        for mixer in layer.mixers
        if isinstance(mixer, Attention)
    ]


@pytest.mark.parametrize(
    "id", ["google-bert/bert-base-uncased", "facebook/bart-base", "google/siglip-base-patch16-224"]
)
def test_encoders_see_both_ways_and_cache_nothing(id: str) -> None:
    found = _attentions(id, StackKind.ENCODER)
    assert found
    assert not any(attention.causal or attention.cached for attention in found)


def test_decoders_of_pairs_attend_to_themselves_and_across() -> None:
    found = _attentions("google-t5/t5-11b", StackKind.DECODER)
    assert [attention.cross for attention in found] == [False, True] * 24
    assert all(attention.cached for attention in found)
    assert all(attention.causal is not attention.cross for attention in found)


def test_llama_vision_attends_across_at_the_listed_depths() -> None:
    found = _attentions("meta-llama/Llama-3.2-11B-Vision", StackKind.DECODER)
    assert [place for place, attention in enumerate(found) if attention.cross] == [3, 8, 13, 18, 23, 28, 33, 38]


def test_modernbert_windows_two_layers_of_three() -> None:
    found = _attentions("answerdotai/ModernBERT-base", StackKind.ENCODER)
    assert [attention.window for attention in found][:6] == [None, 128, 128, None, 128, 128]


def test_projectors_run_once_for_each_token_that_goes_out() -> None:
    tower = _spec("Qwen/Qwen2-VL-2B-Instruct").stack(StackKind.VISION)
    assert tower is not None
    assert {matrix.active for matrix in tower.linears if matrix.role == "projector"} == {0.25}


HOSTILE: tuple[Any, ...] = (-1, 0, 10**30, 1e308, float("nan"), "many", [], {}, [[1] * 5], None, True)


@pytest.mark.parametrize("id", MODELS)
def test_hostile_values_are_refused_or_harmless(id: str) -> None:
    """Each number, list or text of the configuration is replaced in turn; nothing but `InputError` may come out."""
    config = MODELS[id][1]
    places: list[tuple[str | None, str]] = [(None, key) for key in config]
    places += [(key, inner) for key, value in config.items() if isinstance(value, dict) for inner in value]
    for outer, key in places:
        for value in HOSTILE:
            if (outer, key) == (None, "model_type"):
                continue
            level = {**(config[outer] if outer else config), key: value}
            try:
                spec = build({**config, outer: level} if outer else level, id=id)
            except InputError:
                continue
            assert spec.computed_parameters >= 0
