"""Image networks that are known by their totals: multiply-accumulates and activations of one image."""

from planner.models.spec import ModelSpec
from planner.numeric import Number
from planner.throughput.passes import Pass
from planner.throughput.roofline import Machine

PRODUCT_SHARE = 0.9
"""Rate of the convolutions of a network with much arithmetic per activation over that of large matrix products."""
HALF_INTENSITY = 150.0
"""Multiply-accumulates per activation at which convolutions reach half of that: few channels leave tensor cores part
empty, and depthwise convolutions do not use them. ResNet-50 has 370, ViT-B 740, EfficientNet-B0 60."""
DEPTHWISE_INTENSITY = 80.0
"""Intensity at which activations cost twice their passes: networks below it are chains of depthwise convolutions,
gates and squeeze layers, each a kernel of its own."""
ACTIVATION_PASSES = (6.0, 9.0)
"""Times that each activation element is moved, forward and backward: written by the convolution, normalised (two reads
and a write), activated (read, write); backward reads them again and writes gradients."""
FUSED_PASSES = (4.0, 7.0)
DEFAULT_IMAGE = 224


def native_scale(spec: ModelSpec, image_size: Number) -> Number:
    """Pixels of an image over those of the size that the network's figures are for."""
    native: object = spec.image.image_size if spec.image else spec.config.get("image_size", DEFAULT_IMAGE)
    if not isinstance(native, int) or native <= 0:
        native = DEFAULT_IMAGE
    return (image_size / native) ** 2


def image_pass(
    spec: ModelSpec, images: Number, image_size: Number, on: Machine, element_bytes: float, fused: bool
) -> Pass:
    """Forward pass of `images` images; time grows with the number of pixels."""
    costs = spec.image
    if costs is None:
        raise ValueError(f"{spec.id}: neither layers nor image costs")
    images = images * native_scale(spec, image_size)
    intensity = costs.multiply_accumulates / costs.activation_elements
    share = PRODUCT_SHARE * intensity / (intensity + HALF_INTENSITY)
    products = 2 * costs.multiply_accumulates * images / (on.flops * share)
    forward, backward = FUSED_PASSES if fused else ACTIVATION_PASSES
    moved = costs.activation_elements * images * element_bytes / on.bandwidth * (1 + DEPTHWISE_INTENSITY / intensity)
    return Pass(products, 0.0, 0.0, 0.0, forward * moved, backward * moved)
