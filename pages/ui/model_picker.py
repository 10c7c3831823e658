"""Choosing the model: from the catalogue, or one's own by configuration, file, Hub id, size or dimensions."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import streamlit as st

from pages.ui import labels, state, words
from pages.ui.text import Text
from planner.models import catalogue
from planner.models.diffusion import diffusion_ids
from planner.models.readers.content import config_of, read_model
from planner.models.readers.generator import free_dimensions
from planner.models.readers.huggingface import fetch_config
from planner.models.readers.json_text import parse_json
from planner.models.vision import vision_ids
from planner.plan.plan import LONGEST_CONFIG, Plan
from planner.plan.table import BY_ID
from planner.result import InputError, Problem

_FAILED = "model.problems"
_WAYS = ("config", "file", "hub", "size", "dimensions", "image")


def draw(text: Text, plan: Plan, problems: tuple[Problem, ...]) -> None:
    """The catalogue's list with search, and a button to bring a model of one's own."""
    field, current = BY_ID["model"], plan.values["model"]
    options = list(_names(text))
    if current not in _names(text):
        options.insert(0, current)
    st.selectbox(
        labels.field(text, field),
        options,
        format_func=lambda id: _names(text).get(id) or _own_name(text, plan, id),
        index=options.index(current),
        key=state.seed("model", current),
        on_change=_choose,
        help=text.t("Type to search by name, family, size or task."),
    )
    for problem in problems:
        if problem.field in ("model", "model_config") or problem.field.startswith("model_config."):
            st.error(words.problem(text, problem), icon=":material/error:")
    own = st.popover(text.t("Another model"), key="own-model", type="tertiary", on_change="rerun")
    if own.open:
        with own:
            _draw_own(text)


def _choose() -> None:
    state.change({"model": st.session_state[state.widget_key("model")], "model_config": None})


@lru_cache
def _names(text: Text) -> dict[str, str]:
    """Every catalogue model's line: id, parameters, task."""
    lines = {
        entry.id: text.isolate(f"{entry.name} · {text.count(entry.parameters)} · {_publisher(entry.id)} · {entry.task}")
        for entry in catalogue.entries()
    }
    return {**lines, **{id: text.isolate(id) for id in diffusion_ids()}}


def _publisher(id: str) -> str:
    return id.partition("/")[0]


def _own_name(text: Text, plan: Plan, id: str) -> str:
    name = plan.spec.name if id == "custom" else id
    return text.isolate(f"{name} · {text.count(plan.spec.total_parameters)}")


def _draw_own(text: Text) -> None:
    ways: dict[str, tuple[str, Callable[[Text], None]]] = {
        "config": (text.t("Configuration"), _draw_config),
        "file": (text.t("File"), _draw_file),
        "hub": (text.t("Hugging Face"), _draw_hub),
        "size": (text.t("Size"), _draw_size),
        "dimensions": (text.t("Dimensions"), _draw_dimensions),
        "image": (text.t("Image network"), _draw_image),
    }
    way = st.segmented_control(
        text.t("Bring a model"),
        _WAYS,
        format_func=lambda id: ways[id][0],
        key="own.way",
        default="config",
        required=True,
    )
    ways[way][1](text)
    for problem in st.session_state.get(_FAILED, ()):
        st.error(words.problem(text, problem), icon=":material/error:")


def _use(make: Callable[[], dict[str, Any]]) -> None:
    """Take the values that `make` gives into the plan, or keep the plan and say what was wrong."""
    try:
        state.change(make())
        st.session_state[_FAILED] = st.session_state.get("plan.problems", ())
        if not st.session_state[_FAILED]:
            st.session_state["own-model"] = False  # done: the popover would cover the answer
    except InputError as error:
        st.session_state[_FAILED] = error.problems


def _draw_config(text: Text) -> None:
    st.text_area(
        text.t("The text of a config.json"),
        key="own.config",
        height=160,
        max_chars=LONGEST_CONFIG,
        placeholder='{"model_type": "llama", "hidden_size": 4096, …}',
    )
    st.button(text.t("Use this model"), key="own.config.use", on_click=_use, args=(_from_text,))


def _from_text() -> dict[str, Any]:
    config = parse_json(st.session_state.get("own.config", ""), limit=LONGEST_CONFIG, infinite=True)
    return {"model": "custom", "model_config": config}


def _draw_file(text: Text) -> None:
    st.file_uploader(
        text.t("config.json, a safetensors or GGUF file's header, or a safetensors index"),
        type=["json", "safetensors", "gguf"],
        key="own.file",
        help=text.t("Only the header is read. A large file's first megabytes are enough: head -c 8000000 model.gguf"),
    )
    disabled = st.session_state.get("own.file") is None
    st.button(text.t("Use this model"), key="own.file.use", on_click=_use, args=(_from_file,), disabled=disabled)


def _from_file() -> dict[str, Any]:
    file = st.session_state["own.file"]
    config = config_of(read_model(file.getvalue()))
    return {"model": "custom", "model_config": {"_name_or_path": file.name[:60], **config}}


def _draw_hub(text: Text) -> None:
    st.text_input(text.t("Repository on the Hugging Face Hub"), key="own.hub", placeholder="Qwen/Qwen3-8B")
    st.caption(text.t("Reads config.json only, over the network."))
    st.button(text.t("Look up"), key="own.hub.use", on_click=_use, args=(_from_hub,))


def _from_hub() -> dict[str, Any]:
    return {"model": "custom", "model_config": fetch_config(st.session_state.get("own.hub", "").strip())}


def _draw_size(text: Text) -> None:
    st.number_input(text.t("Billions of parameters"), 0.01, 2000.0, 7.0, key="own.size", format="%g")
    st.caption(text.t("A Llama-like decoder with usual proportions."))
    st.button(text.t("Use this model"), key="own.size.use", on_click=_use, args=(_from_size,))


def _from_size() -> dict[str, Any]:
    return {"model": f"transformer-{st.session_state['own.size']:g}b", "model_config": None}


_DIMENSIONS = {"depth": (1, 512, 32), "width": (64, 65536, 4096), "heads": (1, 512, 32), "kv_heads": (1, 512, 8)}
_MORE_DIMENSIONS = {"mlp_width": (64, 262144, 14336), "vocabulary": (256, 1048576, 128256), "experts": (0, 1024, 0)}


def _draw_dimensions(text: Text) -> None:
    names = {
        "depth": text.t("Layers"),
        "width": text.t("Hidden size"),
        "heads": text.t("Attention heads"),
        "kv_heads": text.t("Key/value heads"),
        "mlp_width": text.t("MLP width"),
        "vocabulary": text.t("Vocabulary"),
        "experts": text.t("Experts (0: dense)"),
    }
    for id, (low, high, usual) in {**_DIMENSIONS, **_MORE_DIMENSIONS}.items():
        st.slider(names[id], low, high, usual, key=f"own.{id}")
    st.button(text.t("Use this model"), key="own.dimensions.use", on_click=_use, args=(_from_dimensions,))


def _from_dimensions() -> dict[str, Any]:
    values = {id: st.session_state[f"own.{id}"] for id in (*_DIMENSIONS, *_MORE_DIMENSIONS)}
    return {"model": "custom", "model_config": free_dimensions(**values)}


def _draw_image(text: Text) -> None:
    st.selectbox(
        text.t("Image network"),
        vision_ids(),
        index=None,
        key="own.image",
        placeholder="timm/resnet50",
        help=text.t("Known by its totals at one image size: convolutional networks and vision transformers."),
    )
    disabled = st.session_state.get("own.image") is None
    st.button(text.t("Use this model"), key="own.image.use", on_click=_use, args=(_from_image,), disabled=disabled)


def _from_image() -> dict[str, Any]:
    return {"model": st.session_state["own.image"], "model_config": None}
