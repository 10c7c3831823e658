"""Hybrids of state-space layers and attention: Jamba, Falcon-H1, Granite 4, Nemotron-H, Zamba2."""

from typing import Any

from planner.models.config import Config
from planner.models.families import windows
from planner.models.families.decoder import (
    DEEPEST,
    WIDEST,
    Sizes,
    attention,
    block,
    decoder,
    mlp,
    mtp_count,
    runs_of,
    sizes_of,
    width_of,
)
from planner.models.families.experts import experts
from planner.models.families.mamba import mamba1, mamba2
from planner.models.families.registry import family
from planner.models.spec import (
    Attention,
    FeedForward,
    Layer,
    Linear,
    MixtureOfExperts,
    ModelSpec,
    Norm,
    Recurrent,
    Run,
    Stack,
    StackKind,
)
from planner.result import InputError, Problem


def _mamba2(config: Config, hidden: int, **options: Any) -> Recurrent:
    """A Mamba-2 mixer, its numbers named as Granite, Falcon-H1, Nemotron-H and Zamba2 name them."""
    head_dim = config.integer("mamba_d_head", "mamba_head_dim", "mamba_headdim", default=64, high=WIDEST)
    inner = config.integer("mamba_expand", "expand", default=2, high=64) * hidden
    return mamba2(
        hidden,
        config.integer("mamba_n_heads", "mamba_num_heads", "n_mamba_heads", default=inner // head_dim, high=WIDEST),
        head_dim,
        config.integer("mamba_d_state", "ssm_state_size", default=128, high=WIDEST),
        config.integer("mamba_n_groups", "mamba_ngroups", "n_groups", default=1, high=WIDEST),
        config.integer("mamba_d_conv", "conv_kernel", default=4, high=1000),
        bias=config.flag("mamba_proj_bias", "add_bias_linear", default=False),
        conv_bias=config.flag("mamba_conv_bias", "use_conv_bias", default=True),
        **options,
    )


@family("jamba")
def build_jamba(config: Config) -> ModelSpec:
    """Jamba (arXiv:2403.19887): one attention in eight layers, experts in every second."""
    sizes = sizes_of(config)
    period = config.integer("attn_layer_period", default=8)
    offset = config.integer("attn_layer_offset", default=4, low=0)
    expert_period = config.integer("expert_layer_period", default=2)
    expert_offset = config.integer("expert_layer_offset", default=1, low=0)
    recurrent = mamba1(
        sizes.hidden,
        config.integer("mamba_expand", default=2, high=64) * sizes.hidden,
        config.integer("mamba_d_state", default=16, high=WIDEST),
        config.integer("mamba_d_conv", default=4, high=1000),
        config.integer("mamba_dt_rank", default=-(-sizes.hidden // 16), high=WIDEST),
        bias=config.flag("mamba_proj_bias", default=False),
        conv_bias=config.flag("mamba_conv_bias", default=True),
        normed=True,
    )
    many = config.integer("num_experts", default=16, high=WIDEST) > 1
    dense = mlp(config, sizes.hidden, width_of(config))

    def layer_at(index: int) -> Layer:
        mixer = attention(sizes) if index % period == offset else recurrent
        sparse = many and index % expert_period == expert_offset
        return block(sizes.hidden, mixer, experts(config, sizes.hidden) if sparse else dense)

    return decoder(config, runs_of(layer_at, sizes.depth), family="Jamba")


@family("falcon_h1")
def build_falcon_h1(config: Config) -> ModelSpec:
    """Falcon-H1 (arXiv:2507.22448): attention and Mamba-2 side by side in every layer."""
    sizes = sizes_of(config)
    inner = config.integer("mamba_d_ssm", default=2 * sizes.hidden, high=WIDEST)
    heads = config.integer("mamba_n_heads", default=128, high=WIDEST)
    head_dim = config.values.get("mamba_d_head")
    flat = Config({**config.values, "mamba_d_head": inner // heads if head_dim in (None, "auto") else head_dim})
    recurrent = _mamba2(flat, sizes.hidden, normed=config.flag("mamba_rms_norm", default=False))
    bias = config.flag("attention_bias", default=False)
    mixer = attention(sizes, q_bias=bias, kv_bias=bias, o_bias=bias)
    feed_forward = mlp(config, sizes.hidden, width_of(config), bias=config.flag("mlp_bias", default=False))
    layer = block(sizes.hidden, (recurrent, mixer), feed_forward)
    return decoder(config, (Run(layer, sizes.depth),), family="Falcon-H1")


@family("granitemoehybrid", "bamba")
def build_granite_hybrid(config: Config) -> ModelSpec:
    """Granite 4: Mamba-2 or attention, then a shared MLP with routed experts beside it, if any."""
    sizes = sizes_of(config)
    kinds = windows.kinds_of(config, sizes.depth, ["mamba"] * sizes.depth)
    bias = config.flag("attention_bias", default=False)
    mixer = attention(sizes, q_bias=bias, kv_bias=bias, o_bias=bias)
    recurrent = _mamba2(config, sizes.hidden) if "mamba" in kinds else None
    width = config.integer("shared_intermediate_size", "intermediate_size", high=WIDEST)
    part: FeedForward | MixtureOfExperts = mlp(config, sizes.hidden, width, fused_gate=True)
    if config.integer("num_local_experts", default=0, low=0):
        part = experts(config, sizes.hidden, shared=part)

    def layer_at(index: int) -> Layer:
        return block(sizes.hidden, recurrent if recurrent and kinds[index] == "mamba" else mixer, part)

    return decoder(config, runs_of(layer_at, sizes.depth), family="Granite", tied=True)


@family("nemotron_h")
def build_nemotron_h(config: Config) -> ModelSpec:
    """Nemotron-H (arXiv:2504.03624) and Nemotron 3: one mixer or MLP a layer, by the letters of a pattern: M Mamba-2,
    * attention, - MLP, E experts, which Nemotron 3 Super runs in a narrower latent space."""
    pattern = _letters(config, "layers_block_type", "hybrid_override_pattern", "")
    config = Config({"num_hidden_layers": len(pattern), **config.values}, config.path)
    sizes = sizes_of(config)
    if len(pattern) < sizes.depth:
        name = f"{config.path}hybrid_override_pattern"
        raise InputError([Problem("wrong-length", name, len(pattern), {"low": sizes.depth})])
    layers = {letter: _nemotron_layer(config, sizes, letter) for letter in set(pattern)}
    runs = runs_of(lambda index: layers[pattern[index]], sizes.depth)
    mtp: tuple[Stack, ...] = ()
    if mtp_count(config):
        ahead = _letters(config, "mtp_layers_block_type", "mtp_hybrid_override_pattern", "*E")
        joined = block(
            sizes.hidden,
            norms=3,
            extra_linears=(Linear(role="eh_proj", inputs=2 * sizes.hidden, outputs=sizes.hidden),),
        )
        blocks = (Run(joined), *(Run(_nemotron_layer(config, sizes, letter)) for letter in ahead))
        mtp = (Stack(kind=StackKind.MTP, hidden=sizes.hidden, runs=blocks * mtp_count(config)),)
    return decoder(config, runs, family="Nemotron-H", mtp=mtp)


LETTERS = {"mamba": "M", "attention": "*", "mlp": "-", "moe": "E"}


def _letters(config: Config, names: str, letters: str, default: str) -> str:
    """The pattern of layers, spelled as words in newer configurations and as letters in older ones."""
    words = config.items(names, default=None, longest=DEEPEST)
    if words is None:
        return str(config.text(letters, default=default))
    unknown = [word for word in words if not isinstance(word, str) or word not in LETTERS]
    if unknown:
        raise InputError([Problem("unknown-layer", f"{config.path}{names}", str(unknown[0])[:100])])
    return "".join(LETTERS[word] for word in words)


def _nemotron_layer(config: Config, sizes: Sizes, letter: str) -> Layer:
    hidden = sizes.hidden
    squared = {"gated": False, "activation": "relu2", "bias": config.flag("mlp_bias", default=False)}
    if letter == "M":
        return block(hidden, _mamba2(config, hidden), norms=1)
    if letter == "*":
        bias = config.flag("attention_bias", default=False)
        return block(hidden, attention(sizes, q_bias=bias, kv_bias=bias, o_bias=bias), norms=1)
    if letter == "-":
        return block(hidden, (), mlp(config, hidden, width_of(config), **squared), norms=1)
    if letter != "E":
        raise InputError([Problem("unknown-layer", f"{config.path}hybrid_override_pattern", letter)])
    latent = config.integer("moe_latent_size", default=None, high=WIDEST)
    width = config.integer("moe_intermediate_size", high=WIDEST)
    shared = config.integer("moe_shared_expert_intermediate_size", default=width, high=WIDEST)
    linears = (
        Linear(role="latent_down", inputs=hidden, outputs=latent or 1),
        Linear(role="latent_up", inputs=latent or 1, outputs=hidden),
    )
    part = experts(
        config,
        hidden,
        expert=mlp(config, latent or hidden, width, **squared),
        shared=mlp(config, hidden, shared, **squared),
        extra_linears=linears if latent else (),
    )
    return block(hidden, (), part, norms=1)


@family("zamba2")
def build_zamba2(config: Config) -> ModelSpec:
    """Zamba2 (arXiv:2411.15242): Mamba-2 layers; before some of them one of a few shared transformer blocks runs on the
    hidden state and the embeddings side by side, through adapters of the place's own.

    A shared block counts as a layer where it is met, and is stored once.
    """
    sizes = sizes_of(config)
    kinds = windows.kinds_of(config, sizes.depth, ["mamba"] * sizes.depth)
    plain = block(sizes.hidden, _mamba2(config, sizes.hidden), norms=1)
    place = block(sizes.hidden, _mamba2(config, sizes.hidden), norms=1, extra_linears=_adapters(config, sizes))
    wide = config.integer("attention_hidden_size", default=2 * sizes.hidden, high=WIDEST)
    mixer = Attention(
        hidden=wide,
        heads=sizes.heads,
        kv_heads=sizes.kv_heads,
        head_dim=config.integer("attention_head_dim", default=wide // sizes.heads, high=WIDEST),
        rotary=config.flag("use_mem_rope", default=False),
        output=sizes.hidden,
    )
    shared = Layer(
        hidden=sizes.hidden,
        mixers=(mixer,),
        feed_forwards=(mlp(config, sizes.hidden, width_of(config), fused_gate=True),),
        norms=(Norm(width=wide), Norm(width=sizes.hidden)),
    )
    stored = config.integer("num_mem_blocks", default=1, high=sizes.depth)
    runs: list[Run] = []
    for kind in kinds:
        if kind == "hybrid":
            runs += [Run(shared, 1, 1 if stored > 0 else 0), Run(place)]
            stored -= 1
        else:
            runs.append(Run(plain))
    return decoder(config, tuple(runs), family="Zamba2", tied=True)


def _adapters(config: Config, sizes: Sizes) -> tuple[Linear, ...]:
    """What a place has of its own: the way into the Mamba layer, low-rank additions to the shared matrices."""
    rank = config.integer("adapter_rank", default=128, high=WIDEST)
    wide = config.integer("attention_hidden_size", default=2 * sizes.hidden, high=WIDEST)
    pairs = [(sizes.hidden, 2 * width_of(config))]
    if config.flag("use_shared_attention_adapter", default=False):
        pairs += [(wide, wide)] * 3
    linears = [Linear(role="shared_out", inputs=sizes.hidden, outputs=sizes.hidden)]
    for inputs, outputs in pairs:
        linears.append(Linear(role="adapter_down", inputs=inputs, outputs=rank))
        linears.append(Linear(role="adapter_up", inputs=rank, outputs=outputs))
    return tuple(linears)
