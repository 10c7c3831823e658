"""The layer description that everything is computed from.

A model is embeddings, stacks of layers, and an output head. A layer is mixers (attention, latent attention, recurrent),
feed-forward parts, and norms; each lists its weight matrices as `Linear`s. Parameters, FLOPs, saved activations,
key/value cache, LoRA adapters, tensor-parallel shards and quantised weights all follow from that one list, so a new
architecture is one function from its configuration to a `ModelSpec`, and nothing else.

All widths are numbers of elements. Everything is immutable.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from planner.models.parts import (
    Attention,
    Extra,
    FeedForward,
    LatentAttention,
    Linear,
    Mixer,
    MixtureOfExperts,
    Norm,
    NormKind,
    Recurrent,
    RecurrentKind,
    Split,
)

__all__ = [
    "Attention",
    "Component",
    "Embedding",
    "Extra",
    "FeedForward",
    "ImageCosts",
    "LatentAttention",
    "Layer",
    "Linear",
    "Mixer",
    "MixtureOfExperts",
    "ModelSpec",
    "ModelTask",
    "Norm",
    "NormKind",
    "Recurrent",
    "RecurrentKind",
    "Run",
    "Split",
    "Stack",
    "StackKind",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer: mixers, feed-forward parts and norms on a residual stream of `hidden` elements."""

    hidden: int
    mixers: tuple[Mixer, ...] = ()
    feed_forwards: tuple[FeedForward | MixtureOfExperts, ...] = ()
    norms: tuple[Norm, ...] = ()
    extras: tuple[Extra, ...] = ()
    extra_linears: tuple[Linear, ...] = ()
    parallel: bool = False  # several norms read the same residual (GPT-NeoX, Falcon 2)

    @property
    def parts(self) -> tuple[Mixer | FeedForward | MixtureOfExperts, ...]:
        return (*self.mixers, *self.feed_forwards)

    @property
    def linears(self) -> tuple[Linear, ...]:
        return (*(linear for part in self.parts for linear in part.linears), *self.extra_linears)

    @property
    def all_norms(self) -> tuple[Norm, ...]:
        return (*self.norms, *(norm for part in self.parts for norm in part.norms))

    @property
    def all_extras(self) -> tuple[Extra, ...]:
        return (*self.extras, *(extra for part in self.parts for extra in part.extras))

    @property
    def parameters(self) -> int:
        return (
            sum(linear.parameters for linear in self.linears)
            + sum(norm.parameters for norm in self.all_norms)
            + sum(extra.parameters for extra in self.all_extras)
        )

    @property
    def expert_parameters(self) -> int:
        """Parameters of routed experts, which expert parallel divides."""
        return sum(
            linear.parameters
            for part in self.feed_forwards
            if isinstance(part, MixtureOfExperts)
            for linear in part.expert_linears
        )

    @property
    def active_parameters(self) -> float:
        idle = sum(linear.parameters - linear.active_parameters for linear in self.linears)
        return self.parameters - idle


@dataclass(frozen=True, slots=True)
class Run:
    """`count` equal layers in a row. `stored` < count where layers share weights (ALBERT, Zamba)."""

    layer: Layer
    count: int = 1
    stored: int | None = None

    @property
    def stored_count(self) -> int:
        return self.count if self.stored is None else self.stored


class StackKind(StrEnum):
    DECODER = "decoder"
    ENCODER = "encoder"
    VISION = "vision"
    AUDIO = "audio"
    MTP = "mtp"  # multi-token-prediction blocks: stored, used in training and speculation only


@dataclass(frozen=True, kw_only=True)
class Stack:
    """Layers in order, with what comes before and after them (patch embedding, projector, final norm)."""

    kind: StackKind
    hidden: int
    runs: tuple[Run, ...]
    norms: tuple[Norm, ...] = ()
    linears: tuple[Linear, ...] = ()  # outside the layers: patch embedding, merger, projector
    extras: tuple[Extra, ...] = ()
    tokens_per_item: int | None = None  # tokens that one image or audio clip becomes inside this stack
    tokens_out: int | None = None  # tokens that one image or audio clip brings into the decoder
    item_pixels: int | None = None  # side of that image where tokens grow with its area; None: it is resized to fit

    @property
    def depth(self) -> int:
        return sum(run.count for run in self.runs)

    @cached_property
    def groups(self) -> tuple[Run, ...]:
        """The runs with equal layers merged; order is lost."""
        merged: dict[Layer, tuple[int, int]] = {}
        for run in self.runs:
            count, stored = merged.get(run.layer, (0, 0))
            merged[run.layer] = (count + run.count, stored + run.stored_count)
        return tuple(Run(layer, count, stored) for layer, (count, stored) in merged.items())

    def layers(self) -> Iterator[Layer]:
        for run in self.runs:
            for _ in range(run.count):
                yield run.layer

    @cached_property
    def parameters(self) -> int:
        return (
            sum(run.stored_count * run.layer.parameters for run in self.groups)
            + sum(norm.parameters for norm in self.norms)
            + sum(linear.parameters for linear in self.linears)
            + sum(extra.parameters for extra in self.extras)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """A look-up table of `rows` x `width`; role is token, position, type, or a table of another kind."""

    role: str
    rows: int
    width: int

    @property
    def parameters(self) -> int:
        return self.rows * self.width


class ModelTask(StrEnum):
    CAUSAL_LM = "causal-lm"
    MULTIMODAL = "multimodal"
    VISION = "vision"
    EMBEDDING = "embedding"
    ENCODER = "encoder"
    SEQ2SEQ = "seq2seq"
    SPEECH = "speech"
    DIFFUSION = "diffusion"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCosts:
    """A convolutional or other image network, known by its totals at one image size (timm's benchmark tables).

    `multiply_accumulates` and `activation_elements` are for one image of `image_size` x `image_size` pixels; both
    scale with the number of pixels. `activation_elements` counts the outputs of convolutions and products.
    """

    parameters: int
    multiply_accumulates: float
    activation_elements: float
    image_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A part of a diffusion pipeline, known by its parameter count."""

    name: str
    role: str  # denoiser, text encoder, vae, ...
    parameters: int


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSpec:
    """A whole model. Two specs are equal when they are the same object: the catalogue builds each once."""

    id: str
    name: str
    model_type: str
    task: ModelTask = ModelTask.CAUSAL_LM
    family: str = ""
    hidden: int = 0
    vocabulary: int = 0
    max_positions: int | None = None
    embeddings: tuple[Embedding, ...] = ()
    head: Linear | None = None  # output projection; its weight is the token embedding's where `tied`
    tied: bool = False
    logit_softcap: bool = False  # logits pass through a scaled tanh (Gemma 2)
    stacks: tuple[Stack, ...] = ()
    norms: tuple[Norm, ...] = ()  # outside the stacks (embedding norm)
    linears: tuple[Linear, ...] = ()  # outside the stacks (pooler, classifier, embedding projection)
    extras: tuple[Extra, ...] = ()
    image: ImageCosts | None = None
    components: tuple[Component, ...] = ()
    recorded_parameters: int | None = None  # published count, where the configuration alone cannot give it
    assumed: tuple[str, ...] = ()  # what was assumed about an unknown model_type
    dtype: str = "bfloat16"
    quantization: str | None = None  # format the checkpoint is published in, when not 16 or 32 bit
    source: str = ""
    config: dict[str, object] = field(default_factory=dict, repr=False)  # the normalised configuration it came from

    def stack(self, kind: StackKind) -> Stack | None:
        """The first stack of a kind, or None."""
        return next((stack for stack in self.stacks if stack.kind is kind), None)

    @cached_property
    def text_stack(self) -> Stack | None:
        """The stack that the workload's tokens run through: the decoder, else the encoder, else the vision tower."""
        return (
            self.stack(StackKind.DECODER)
            or self.stack(StackKind.ENCODER)
            or self.stack(StackKind.VISION)
            or self.stack(StackKind.AUDIO)
        )

    @cached_property
    def embedding_parameters(self) -> int:
        return sum(table.parameters for table in self.embeddings)

    @cached_property
    def head_parameters(self) -> int:
        """Stored parameters of the output head: only its bias where the weight is tied."""
        if self.head is None:
            return 0
        if self.tied:
            return self.head.outputs if self.head.bias else 0
        return self.head.parameters

    @cached_property
    def computed_parameters(self) -> int:
        """Stored parameters by the description alone, multi-token-prediction blocks left out."""
        if self.image is not None and not self.stacks:
            return self.image.parameters
        if self.components:
            return sum(component.parameters for component in self.components)
        return (
            self.embedding_parameters
            + self.head_parameters
            + sum(stack.parameters for stack in self.stacks if stack.kind is not StackKind.MTP)
            + sum(norm.parameters for norm in self.norms)
            + sum(linear.parameters for linear in self.linears)
            + sum(extra.parameters for extra in self.extras)
        )

    @cached_property
    def total_parameters(self) -> int:
        """Stored parameters: the recorded count where one is needed, else the computed one."""
        return self.computed_parameters if self.recorded_parameters is None else self.recorded_parameters

    @cached_property
    def mtp_parameters(self) -> int:
        return sum(stack.parameters for stack in self.stacks if stack.kind is StackKind.MTP)

    @cached_property
    def expert_parameters(self) -> int:
        return sum(
            run.stored_count * run.layer.expert_parameters
            for stack in self.stacks
            if stack.kind is not StackKind.MTP
            for run in stack.groups
        )

    @cached_property
    def active_parameters(self) -> int:
        """Parameters that one token meets: all, less the routed experts that the router leaves out."""
        idle = sum(
            run.stored_count * (run.layer.parameters - run.layer.active_parameters)
            for stack in self.stacks
            if stack.kind is not StackKind.MTP
            for run in stack.groups
        )
        return round(self.total_parameters - idle)
