"""A plan as values by field id: parsing with every problem named, defaults, and the link and JSON forms.

Only what the user chose is stored; all the rest follows from the defaults, so a link stays short and a plan made
yesterday still says which values were meant and which were ours.
"""

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.hardware import catalogue as hardware
from planner.hardware import cpus, links
from planner.hardware.custom import custom_gpu
from planner.hardware.types import Gpu
from planner.memory.formats import FORMATS
from planner.models import catalogue as models
from planner.models.build import build
from planner.models.readers.generator import transformer
from planner.models.readers.json_text import parse_json
from planner.models.spec import ModelSpec
from planner.plan.fields import Field, Kind
from planner.plan.table import BY_ID, FIELDS
from planner.result import InputError, Problem
from planner.store.names import LONGEST_NAME as LONGEST_SHOWN
from planner.store.names import clean

SCHEMA = 1
"""Version of the JSON form. Raise it, and migrate in `from_json`, when a field changes meaning."""

CUSTOM = "custom"
"""The id of a model or GPU that the plan itself describes, in model_config or gpu_config."""

LONGEST_NAME = 200
"""Characters of a name; no model or GPU has a longer one."""

LONGEST_CONFIG = 256 * 1024
"""Bytes of a model configuration that a link or file may carry, unpacked."""

_GENERATED = re.compile(r"^transformer-(\d{1,6}(?:\.\d{1,4})?)([mbt])$")
_SCALE = {"m": 1e6, "b": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True)
class Plan:
    """`chosen` holds what the user set; `values` all that applies, with the model as "spec" and the GPU as "card"."""

    chosen: Mapping[str, Any]
    values: Mapping[str, Any]

    @property
    def spec(self) -> ModelSpec:
        return self.values["spec"]

    @property
    def card(self) -> Gpu:
        return self.values["card"]

    def uses(self, field_id: str) -> bool:
        """Whether the field applies to this plan."""
        return BY_ID[field_id].used_in(self.values)

    def with_changes(self, **changes: Any) -> "Plan":
        """This plan with some fields set anew (None: back to the default). Raises `InputError`."""
        chosen = {key: value for key, value in {**self.chosen, **changes}.items() if value is not None}
        return resolve(chosen)


def parse_value(field: Field, raw: Any) -> Any:
    """One field's value from text or JSON, within its limits. Raises `InputError`."""
    if field.kind is Kind.INTEGER:
        return _parse_number(field, raw, whole=True)
    if field.kind is Kind.NUMBER:
        return _parse_number(field, raw, whole=False)
    if field.kind is Kind.FLAG:
        return _parse_flag(field, raw)
    if field.kind is Kind.CONFIG:
        config = _parse_config(field, raw)
        return custom_gpu(config).as_mapping() if field.id == "gpu_config" else config
    if not isinstance(raw, str):
        raise InputError([Problem("not-a-text", field.id, str(raw)[:200])])
    if not 0 < len(raw) <= LONGEST_NAME:
        code = "too-long" if raw else "empty"
        raise InputError([Problem(code, field.id, raw[:40], {"limit": LONGEST_NAME, "length": len(raw)})])
    choices = choices_of(field)
    if choices and raw not in choices:
        raise InputError([Problem("not-a-choice", field.id, raw, {"choices": list(choices)})])
    if field.kind is Kind.GPU:
        return raw if raw == CUSTOM else hardware.gpu(raw).id
    if field.kind is Kind.CPU:
        return cpus.cpu(raw).id
    if field.kind is Kind.MODEL and raw != CUSTOM and not _GENERATED.match(raw):
        return models.find(raw).id
    return raw


def choices_of(field: Field) -> tuple[str, ...]:
    """What a choice field allows; those that follow from a catalogue are looked up."""
    if field.id == "weight_format":
        return tuple(FORMATS)
    if field.id == "network":
        return ("auto", *links.network_ids())
    return field.choices


def _parse_number(field: Field, raw: Any, *, whole: bool) -> Any:
    limits = {"low": field.low, "high": field.high, "unit": field.unit}
    try:
        if isinstance(raw, bool):
            raise ValueError
        value = float(raw) if isinstance(raw, str | int | float) else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value) or (whole and value != int(value)):
        code = "not-an-integer" if whole else "not-a-number"
        raise InputError([Problem(code, field.id, str(raw)[:200], limits)])
    if not field.low <= value <= field.high:
        raise InputError([Problem("out-of-range", field.id, int(value) if whole else value, limits)])
    return int(value) if whole else value


def _parse_flag(field: Field, raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    flag = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(str(raw).lower())
    if flag is None:
        raise InputError([Problem("not-a-flag", field.id, str(raw)[:200])])
    return flag


def _parse_config(field: Field, raw: Any) -> dict[str, Any]:
    if isinstance(raw, Mapping):
        if len(json.dumps(raw, default=str)) > LONGEST_CONFIG:
            raise InputError([Problem("too-large", field.id, None, {"limit": LONGEST_CONFIG})])
        return dict(raw)
    if not isinstance(raw, str):
        raise InputError([Problem("not-an-object", field.id, type(raw).__name__)])
    if raw.lstrip().startswith("{"):
        return parse_json(raw, limit=LONGEST_CONFIG, infinite=True)
    return parse_json(_unpack(field, raw), limit=LONGEST_CONFIG, infinite=True)


def _unpack(field: Field, packed: str) -> bytes:
    """The inverse of `_pack`, never producing more than LONGEST_CONFIG bytes."""
    try:
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        inflater = zlib.decompressobj()
        plain = inflater.decompress(data, LONGEST_CONFIG + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise InputError([Problem("not-a-packed-config", field.id, packed[:40])]) from error
    if len(plain) > LONGEST_CONFIG:
        raise InputError([Problem("too-large", field.id, None, {"limit": LONGEST_CONFIG})])
    return plain


def _pack(config: Mapping[str, Any]) -> str:
    """A configuration as url-safe text."""
    plain = json.dumps(config, separators=(",", ":"), sort_keys=True).encode()
    return base64.urlsafe_b64encode(zlib.compress(plain, 9)).decode().rstrip("=")


def parse(raw: Mapping[str, Any]) -> tuple[Plan, tuple[Problem, ...]]:
    """The plan that `raw` describes, with every bad value left out and named: the rest of a form keeps its state.

    `raw` maps field ids to text (a link, a command line) or to JSON values. Unknown names are problems too.
    """
    chosen: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, value in raw.items():
        field = BY_ID.get(key)
        if field is None:
            problems.append(Problem("unknown-field", str(key)[:60], str(value)[:60]))
            continue
        try:
            chosen[key] = parse_value(field, value)
        except InputError as error:
            problems.extend(error.problems)
    if chosen.get("gpu") == CUSTOM and "gpu_config" not in chosen:
        problems.append(Problem("missing-gpu-config", "gpu_config"))
        del chosen["gpu"]
    try:
        return resolve(chosen), tuple(problems)
    except InputError as error:
        problems.extend(error.problems)
    kept = {key: value for key, value in chosen.items() if key not in ("model", "model_config")}
    return resolve(kept), tuple(problems)


def resolve(chosen: Mapping[str, Any]) -> Plan:
    """A plan with its defaults filled in, in the table's order. Raises `InputError` for a model or GPU that is none."""
    values: dict[str, Any] = {}
    for field in FIELDS:
        if field.id in chosen:
            values[field.id] = chosen[field.id]
        elif field.id in ("model", "gpu") and f"{field.id}_config" in chosen:
            values[field.id] = CUSTOM
        else:
            values[field.id] = field.default_for(values)
        if field.id == "model_config":
            values["spec"] = model_of(values["model"], values["model_config"])
        elif field.id == "gpu_config":
            values["card"] = card_of(values["gpu"], values["gpu_config"])
    return Plan(dict(chosen), values)


def model_of(model: str, config: Mapping[str, Any] | None) -> ModelSpec:
    """The `ModelSpec` of a plan's model: catalogue, generated from a parameter count, or the user's own."""
    if model == CUSTOM:
        if config is None:
            raise InputError([Problem("missing-config", "model_config")])
        name = " ".join(clean(str(config.get("_name_or_path") or config.get("model_type") or "")).split())
        return build(config, id="custom", name=name[:LONGEST_SHOWN] or "custom")
    generated = _GENERATED.match(model)
    if generated:
        parameters = float(generated[1]) * _SCALE[generated[2]]
        return build(transformer(parameters), id=model, name=model)
    return models.model(model)


def card_of(gpu: str, config: Mapping[str, Any] | None) -> Gpu:
    """The `Gpu` of a plan: the catalogue's, or the user's own."""
    if gpu != CUSTOM:
        return hardware.gpu(gpu)
    if config is None:
        raise InputError([Problem("missing-gpu-config", "gpu_config")])
    return custom_gpu(config).gpu()


def to_query(plan: Plan) -> dict[str, str]:
    """What the user chose, as the text pairs of a link."""
    query = {}
    for field in FIELDS:
        if field.id in plan.chosen:
            value = plan.chosen[field.id]
            if field.kind is Kind.CONFIG:
                query[field.id] = _pack(value)
            elif field.kind is Kind.FLAG:
                query[field.id] = "true" if value else "false"
            else:
                query[field.id] = f"{value:g}" if isinstance(value, float) else str(value)
    return query


def to_json(plan: Plan) -> dict[str, Any]:
    """What the user chose, as a JSON object with the schema's version."""
    return {"schema": SCHEMA, **{field.id: plan.chosen[field.id] for field in FIELDS if field.id in plan.chosen}}


def from_json(data: Mapping[str, Any]) -> tuple[Plan, tuple[Problem, ...]]:
    """The inverse of `to_json`; a version from the future is a problem, not a guess."""
    values = dict(data)
    if isinstance(values.get("plan"), Mapping):  # an estimate as it is downloaded: the plan is a part of it
        values = dict(values["plan"])
    schema = values.pop("schema", SCHEMA)
    if schema != SCHEMA:
        return parse({})[0], (Problem("unknown-schema", "schema", schema, {"known": SCHEMA}),)
    return parse(values)
