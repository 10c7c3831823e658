"""Convolutional and hierarchical image networks, whose costs are those of one image at the configured size."""

from collections.abc import Iterable
from dataclasses import dataclass

from planner.models.config import Config
from planner.models.families.blocks import MOST_LAYERS, layer_norm
from planner.models.families.registry import family
from planner.models.families.vision import classifiers
from planner.models.families.vision_towers import LARGEST_SIDE
from planner.models.spec import Extra, ImageCosts, Linear, ModelSpec, ModelTask, Norm
from planner.numeric import ceil_div
from planner.result import InputError, Problem

MOST_STAGES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Convolution:
    """`copies` equal square convolutions whose outputs have `side` x `side` positions."""

    inputs: int
    outputs: int
    side: int
    kernel: int = 1
    groups: int = 1
    bias: bool = False
    copies: int = 1

    @property
    def linear(self) -> Linear:
        """The convolution as a matrix over its patch."""
        patch = self.inputs // self.groups * self.kernel**2
        return Linear(
            role="conv", inputs=patch, outputs=self.outputs, bias=self.bias, copies=self.copies, active=self.copies
        )

    @property
    def activations(self) -> int:
        """Elements that come out."""
        return self.copies * self.side**2 * self.outputs

    @property
    def multiply_accumulates(self) -> int:
        return self.copies * self.side**2 * self.linear.matrix_elements


def _stages(config: Config, *widths: str) -> tuple[list[int], list[int]]:
    """Depth and width of each stage."""
    depths = config.integers("depths", low=1, high=MOST_LAYERS)
    sizes = config.integers(*widths, low=1, high=10**6)
    if len(depths) != len(sizes) or not 1 <= len(depths) <= MOST_STAGES:
        raise InputError([Problem("length-mismatch", "depths", depths, {"hidden_sizes": sizes})])
    return depths, sizes


def _spec(
    config: Config,
    image_size: int,
    convolutions: Iterable[Convolution],
    norms: tuple[Norm, ...],
    last: int,
    extras: tuple[Extra, ...] = (),
) -> ModelSpec:
    """The network of these convolutions, known by its totals and what one image costs."""
    convolutions = tuple(convolutions)
    after = classifiers(config, last)
    matrices = (*(convolution.linear for convolution in convolutions), *after)
    return ModelSpec(
        id="",
        name="",
        model_type=config.text("model_type"),
        task=ModelTask.VISION,
        hidden=last,
        image=ImageCosts(
            parameters=sum(matrix.parameters for matrix in matrices)
            + sum(norm.parameters for norm in norms)
            + sum(extra.parameters for extra in extras),
            multiply_accumulates=float(
                sum(convolution.multiply_accumulates for convolution in convolutions)
                + sum(matrix.matrix_elements for matrix in after)
            ),
            activation_elements=float(
                sum(convolution.activations for convolution in convolutions) + sum(matrix.outputs for matrix in after)
            ),
            image_size=image_size,
        ),
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )


@family("resnet")
def build_resnet(config: Config) -> ModelSpec:
    """ResNet (arXiv:1512.03385) with the stride on the 3 x 3 convolution (v1.5); batch norms hold gain and bias."""
    depths, sizes = _stages(config, "hidden_sizes")
    image = config.integer("image_size", default=224, high=LARGEST_SIDE)
    stem = config.integer("embedding_size", default=64)
    bottleneck = config.text("layer_type", default="bottleneck") == "bottleneck"
    side = ceil_div(image, 2)
    convolutions = [Convolution(inputs=config.integer("num_channels", default=3), outputs=stem, kernel=7, side=side)]
    side = ceil_div(side, 2)
    width = stem
    for stage, (depth, size) in enumerate(zip(depths, sizes, strict=True)):
        stride = 2 if stage or config.flag("downsample_in_first_stage") else 1
        entry, side = side, ceil_div(side, stride)
        if width != size or stride > 1:
            convolutions.append(Convolution(inputs=width, outputs=size, side=side))
        early = config.flag("downsample_in_bottleneck")
        if bottleneck:
            inner = max(1, size // 4)
            first = Convolution(inputs=width, outputs=inner, side=side if early else entry)
            rest = Convolution(inputs=size, outputs=inner, side=side, copies=depth - 1)
            convolutions += [first, rest, Convolution(inputs=inner, outputs=inner, kernel=3, side=side, copies=depth)]
            convolutions.append(Convolution(inputs=inner, outputs=size, side=side, copies=depth))
        else:
            convolutions.append(Convolution(inputs=width, outputs=size, kernel=3, side=side))
            convolutions.append(Convolution(inputs=size, outputs=size, kernel=3, side=side, copies=2 * depth - 1))
        width = size
    norms = tuple(
        layer_norm(convolution.outputs, copies=convolution.copies) for convolution in convolutions if convolution.copies
    )
    return _spec(config, image, (c for c in convolutions if c.copies), norms, width)


@family("convnext")
def build_convnext(config: Config) -> ModelSpec:
    """ConvNeXt (arXiv:2201.03545): depthwise 7 x 7, then a four times wider pointwise MLP."""
    depths, sizes = _stages(config, "hidden_sizes")
    image = config.integer("image_size", default=224, high=LARGEST_SIDE)
    patch = config.integer("patch_size", default=4, high=LARGEST_SIDE)
    side = max(1, image // patch)
    channels = config.integer("num_channels", default=3)
    convolutions = [Convolution(inputs=channels, outputs=sizes[0], kernel=patch, side=side, bias=True)]
    norms = [layer_norm(sizes[0])]
    scale = config.number("layer_scale_init_value", default=1e-6) > 0
    width = sizes[0]
    for stage, (depth, size) in enumerate(zip(depths, sizes, strict=True)):
        if stage:
            side = max(1, side // 2)
            norms.append(layer_norm(width))
            convolutions.append(Convolution(inputs=width, outputs=size, kernel=2, side=side, bias=True))
        convolutions += [
            Convolution(inputs=size, outputs=size, kernel=7, groups=size, side=side, bias=True, copies=depth),
            Convolution(inputs=size, outputs=4 * size, side=side, bias=True, copies=depth),
            Convolution(inputs=4 * size, outputs=size, side=side, bias=True, copies=depth),
        ]
        norms.append(layer_norm(size, copies=depth))
        width = size
    gains = sum(depth * size for depth, size in zip(depths, sizes, strict=True)) if scale else 0
    norms.append(layer_norm(width))
    return _spec(config, image, convolutions, tuple(norms), width, extras=(Extra("layer_scale", gains),))
