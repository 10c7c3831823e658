"""Image networks by their totals: 1,829 rows of timm's and torchvision's published tables.

`data/vision_models.csv` has one network at one image size a line, `data/vision_sources.csv` where each came from and
when it was read. timm rounds parameters to 10,000, multiply-accumulates to 10 million and activations to 10,000.
"""

import csv
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from planner.models.spec import ImageCosts, ModelSpec, ModelTask
from planner.result import InputError, Problem

DATA = Path(__file__).parent.parent / "data"

USUAL_SIZE = 224
"""Pixels: the size that a name without one means, where the table has it; else the smallest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionSource:
    """Where rows come from."""

    source: str
    title: str
    url: str
    read: str  # ISO date on which it was read


@lru_cache(maxsize=1)
def vision_sources() -> dict[str, VisionSource]:
    """Sources of the table by key."""
    with (DATA / "vision_sources.csv").open(encoding="utf-8", newline="") as lines:
        return {row["source"]: VisionSource(**row) for row in csv.DictReader(lines)}


@lru_cache(maxsize=1)
def _rows() -> dict[str, tuple[str, ...]]:
    """Rows by id: `timm/resnet50` at the usual size, `timm/resnet50@288` at another."""
    with (DATA / "vision_models.csv").open(encoding="utf-8", newline="") as lines:
        rows = [tuple(row) for row in csv.reader(lines)][1:]
    sizes: dict[str, list[str]] = {}
    for name, size, *_ in rows:
        sizes.setdefault(name, []).append(size)
    usual = {name: str(USUAL_SIZE) if str(USUAL_SIZE) in all_ else all_[0] for name, all_ in sizes.items()}
    found = {}
    for row in rows:
        name, size = row[0], row[1]
        prefixed = name if name.startswith("torchvision/") else f"timm/{name}"
        found[prefixed if size == usual[name] else f"{prefixed}@{size}"] = row
    return found


def vision_ids() -> tuple[str, ...]:
    """Ids of all rows: `timm/NAME` or `torchvision/NAME`, with `@PIXELS` where the image size isn't the usual one."""
    return tuple(_rows())


@lru_cache(maxsize=4096)
def vision_model(id: str) -> ModelSpec:
    """The image network of an id: parameters, multiply-accumulates and activation elements of one image."""
    row = _rows().get(id)
    if row is None:
        raise InputError([Problem("unknown-model", "model", id[:200])])
    name, size, parameters, multiplies, activations, source = row
    library = "torchvision" if name.startswith("torchvision/") else "timm"
    plain = name.removeprefix("torchvision/")
    word = re.match(r"[a-z]+", plain)
    origin = vision_sources()[source]
    return ModelSpec(
        id=id,
        name=plain,
        model_type="timm",
        task=ModelTask.VISION,
        family=word.group() if word else plain,
        image=ImageCosts(
            parameters=round(float(parameters) * 1e6),
            multiply_accumulates=float(multiplies) * 1e9,
            activation_elements=float(activations) * 1e6,
            image_size=int(size),
        ),
        dtype="float32",
        source=f"{origin.title}, {origin.url}, read {origin.read}",
        config={"library": library, "image_size": int(size)},
    )
