"""Image networks that are known by their totals: multiply-accumulates and activations of one image."""

from dataclasses import dataclass

from planner.models.spec import ModelSpec
from planner.numeric import Number
from planner.throughput import constants
from planner.throughput.passes import Pass
from planner.throughput.roofline import Machine

DEFAULT_IMAGE = 224


@dataclass(frozen=True, slots=True)
class Traffic:
    """Times that each activation element is moved, and the intensity at which it costs twice that.

    Networks of low intensity are chains of depthwise convolutions, gates and squeeze layers, each a kernel of its own.
    """

    forward: float
    backward: float
    depthwise_intensity: float


TRAINING = {False: Traffic(6.0, 9.0, 80.0), True: Traffic(4.0, 7.0, 80.0)}
"""Eager, compiled. Written by the convolution, normalised (two reads and a write), activated (read, write), read by the
next; backward reads them again and writes gradients."""
INFERENCE = {False: Traffic(4.0, 0.0, 30.0), True: Traffic(2.0, 0.0, 30.0)}
"""Fixed statistics make a norm one read and write; compiled, norm and activation join one kernel. Channels-last layout,
as servers use it, spares depthwise convolutions most of their cost."""


def native_scale(spec: ModelSpec, image_size: Number) -> Number:
    """Pixels of an image over those of the size that the network's figures are for."""
    native: object = spec.image.image_size if spec.image else spec.config.get("image_size", DEFAULT_IMAGE)
    if not isinstance(native, int) or native <= 0:
        native = DEFAULT_IMAGE
    return (image_size / native) ** 2


def image_pass(
    spec: ModelSpec, images: Number, image_size: Number, on: Machine, element_bytes: float, traffic: Traffic
) -> Pass:
    """Forward pass of `images` images; time grows with the number of pixels."""
    costs = spec.image
    if costs is None:
        raise ValueError(f"{spec.id}: neither layers nor image costs")
    images = images * native_scale(spec, image_size)
    intensity = costs.multiply_accumulates / costs.activation_elements
    share = constants.FITTED["convolution"] * intensity / (intensity + constants.FITTED["half_intensity"])
    products = 2 * costs.multiply_accumulates * images / (on.flops * share)
    moved = costs.activation_elements * images * element_bytes / on.bandwidth
    moved = moved * (1 + traffic.depthwise_intensity / intensity)
    return Pass(products, 0.0, 0.0, 0.0, traffic.forward * moved, traffic.backward * moved)
