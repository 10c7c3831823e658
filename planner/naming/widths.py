"""Models that a source describes by numbers: "layers=32;hidden=4096;heads=32;..." or "img=224;fwd_gmacs=4.1;..."."""

import re
from dataclasses import dataclass
from typing import Any

from planner.models.build import build
from planner.models.spec import Attention, ImageCosts, LatentAttention, ModelSpec, ModelTask
from planner.result import InputError

_PAIR = re.compile(r"(\w+)\s*=\s*([\d.]+)")
_IMAGE = re.compile(r"(?:img|image)\s*[= ]\s*(\d+)")
_MACS = re.compile(r"(?:fwd_gmacs\s*=\s*([\d.]+))|(?:([\d.]+)\s*GMACs)", re.IGNORECASE)
_ACTIVATIONS = re.compile(r"(?:fwd_mactivations\s*=\s*([\d.]+))|(?:([\d.]+)\s*M activations)", re.IGNORECASE)
UNTOLD_VOCABULARY = 51200
"""GPT-2's vocabulary padded for tensor parallel: what the papers that leave it out have trained with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Widths:
    """Numbers of a decoder as a source states them; 0 where it doesn't."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int = 0
    ffn: int = 0
    vocab: int = 0
    head_dim: int = 0
    experts: int = 0
    topk: int = 0
    tied: bool = False
    learned_positions: bool = False
    latent: bool = False

    def agree(self, spec: ModelSpec) -> bool:
        """Whether a model has these layers, hidden size, heads and, where stated, vocabulary (padding allowed for)."""
        stack = spec.text_stack
        if stack is None:
            return False
        mixers = [mixer for run in stack.runs for mixer in run.layer.mixers]
        heads = {m.heads for m in mixers if isinstance(m, Attention | LatentAttention)}
        vocabulary = not self.vocab or abs(spec.vocabulary - self.vocab) <= 1024
        positions = not self.learned_positions or any(table.role == "position" for table in spec.embeddings)
        shape = stack.depth == self.layers and stack.hidden == self.hidden and (self.heads in heads or not heads)
        return shape and vocabulary and positions


def stated_widths(notes: str) -> Widths | None:
    """The widths in a note, or None where layers, hidden size or heads are missing."""
    pairs = {key.lower(): value for key, value in _PAIR.findall(notes)}
    if not {"layers", "hidden", "heads"} <= pairs.keys():
        return None
    names = ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "head_dim", "experts", "topk")
    return Widths(
        **{name: int(float(pairs.get(name, 0))) for name in names},
        tied="tied_emb" in notes,
        learned_positions="learned_pos" in notes,
        latent="MLA" in notes,
    )


def spec_of_widths(name: str, widths: Widths, sequence_length: int | None = None) -> ModelSpec | None:
    """The decoder of those widths; None where they leave too much open (experts, latent attention).

    The family follows from the name: MPT and GPT have LayerNorms and an ungated MLP of 4 x hidden, StableLM Alpha is a
    GPT-NeoX; everything else is a Llama (RMSNorm, gated MLP), which needs its MLP width stated.
    """
    if widths.experts or widths.latent:
        return None
    config = _config(name.lower(), widths, sequence_length)
    if config is None:
        return None
    try:
        return build(config, id=name, name=name)
    except InputError:
        return None


def _config(name: str, widths: Widths, sequence_length: int | None) -> dict[str, Any] | None:
    shared: dict[str, Any] = {
        "hidden_size": widths.hidden,
        "num_hidden_layers": widths.layers,
        "num_attention_heads": widths.heads,
        "vocab_size": widths.vocab or UNTOLD_VOCABULARY,
    }
    if widths.ffn:
        shared["intermediate_size"] = widths.ffn
    if widths.head_dim:
        shared["head_dim"] = widths.head_dim
    positions = sequence_length or 2048
    if "mpt" in name:
        model_type = "gpt2" if widths.learned_positions else "mpt"
        keys = {"d_model": widths.hidden, "n_layers": widths.layers, "n_heads": widths.heads}
        return {**shared, **keys, "model_type": model_type, "n_positions": positions, "activation_function": "gelu"}
    if "stablelm" in name and "alpha" in name:
        return {**shared, "model_type": "gpt_neox", "tie_word_embeddings": widths.tied}
    if re.search(r"\bgpt|mt-nlg|\bopt\b", name):
        return {**shared, "model_type": "gpt2", "n_positions": positions, "n_inner": widths.ffn or 4 * widths.hidden}
    if not widths.ffn:
        return None
    kv_heads = widths.kv_heads or widths.heads
    if re.match(r"qwen-?\d", name):  # the first generation: one qkv matrix with a bias
        return {**shared, "model_type": "qwen", "intermediate_size": 2 * widths.ffn, "tie_word_embeddings": False}
    return {**shared, "model_type": "llama", "num_key_value_heads": kv_heads, "tie_word_embeddings": widths.tied}


def image_network(name: str, parameters_b: float | None, notes: str) -> ModelSpec | None:
    """The image network of a note's image size, multiply-accumulates and activations; None where one is missing."""
    size, macs, activations = _IMAGE.search(notes), _MACS.search(notes), _ACTIVATIONS.search(notes)
    if not (size and macs and activations and parameters_b):
        return None
    costs = ImageCosts(
        parameters=round(parameters_b * 1e9),
        multiply_accumulates=float(macs.group(1) or macs.group(2)) * 1e9,
        activation_elements=float(activations.group(1) or activations.group(2)) * 1e6,
        image_size=int(size.group(1)),
    )
    return ModelSpec(id=name, name=name, model_type="image", task=ModelTask.VISION, image=costs, dtype="float32")
