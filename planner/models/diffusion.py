"""Diffusion pipelines by their components: denoiser, text encoders, autoencoder.

`data/diffusion_models.csv` has one component a line: its parameters, whether they were counted from the configuration
or published, the source, the pipeline's release date, usual number of steps, dtype and licence.
"""

import csv
from functools import lru_cache
from pathlib import Path

from planner.models.spec import Component, ModelSpec, ModelTask
from planner.result import InputError, Problem

DATA = Path(__file__).parent.parent / "data" / "diffusion_models.csv"

PARTIAL = "denoiser-only"
"""Said in `ModelSpec.assumed` where the table holds no text encoder or autoencoder of the pipeline."""


@lru_cache(maxsize=1)
def _pipelines() -> dict[str, list[dict[str, str]]]:
    """Rows of each pipeline by id."""
    found: dict[str, list[dict[str, str]]] = {}
    with DATA.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault(f"diffusion/{row['model']}", []).append(row)
    return found


def diffusion_ids() -> tuple[str, ...]:
    """Ids of all pipelines: `diffusion/PUBLISHER/NAME`."""
    return tuple(_pipelines())


@lru_cache(maxsize=512)
def diffusion_model(id: str) -> ModelSpec:
    """The pipeline of an id, as its components' parameters."""
    rows = _pipelines().get(id)
    if rows is None:
        raise InputError([Problem("unknown-model", "model", id[:200])])
    first = rows[0]
    steps = next((int(row["steps"]) for row in rows if row["steps"]), None)
    roles = {row["role"] for row in rows}
    return ModelSpec(
        id=id,
        name=first["model"].rpartition("/")[2],
        model_type="diffusion",
        task=ModelTask.DIFFUSION,
        family=first["modality"],
        components=tuple(
            Component(name=row["component"], role=row["role"], parameters=int(row["parameters"])) for row in rows
        ),
        assumed=(PARTIAL,) if roles == {"denoiser"} else (),
        dtype=first["dtype"],
        source="; ".join(dict.fromkeys(row["source"] for row in rows)),
        config={
            "modality": first["modality"],
            "released": first["released"],
            "license": first["license"],
            "steps": steps,
            "notes": tuple(dict.fromkeys(row["note"] for row in rows if row["note"])),
        },
    )
