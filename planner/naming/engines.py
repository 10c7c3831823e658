"""Serving engines and their versions, as sources write them."""

import re

from planner.naming.named import refuse
from planner.workload import Engine

_ENGINES: tuple[tuple[str, Engine], ...] = (
    (r"^vllm", Engine.VLLM),
    (r"^sglang$", Engine.SGLANG),
    (r"tensorrt-?llm|^trt-?llm", Engine.TENSORRT_LLM),
    (r"^llama\.?cpp|^ollama|^lm ?studio", Engine.LLAMA_CPP),
    (r"^transformers|^hf transformers|^pytorch lightning$", Engine.TRANSFORMERS),
)


def named_engine(text: str) -> Engine:
    """The serving engine of a cell. Raises `InputError` "unknown-engine"."""
    key = text.strip().lower()
    for pattern, engine in _ENGINES:
        if re.search(pattern, key):
            return engine
    raise refuse("unknown-engine", "engine", text)


def version_of(text: str) -> tuple[int, ...]:
    """Numbers of a version ("0.19.2rc1" -> (0, 19, 2), "b2824" -> (2824,)); empty where there is none."""
    found = re.search(r"\d+(\.\d+)*", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()
