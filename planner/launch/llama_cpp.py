"""llama.cpp: `llama-server`.

Option names: llama.cpp, tools/server/README.md at commit 00dc805.
"""

import re
from typing import Any

from planner.launch import pairs, serving
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.pairs import Pair
from planner.launch.render import Line
from planner.launch.types import File, Framework, Unread, names
from planner.memory.formats import FORMATS
from planner.plan.plan import Plan

KV_WORDS = {"auto": "f16", "fp16": "f16", "bf16": "bf16", "fp32": "f32", "q8_0": "q8_0", "q4_0": "q4_0"}
PAIRS = (Pair("kv_dtype", "cache-type-k", KV_WORDS, aliases=("ctk",)),)
_QUANTISED = re.compile(
    r"[-._:](?P<type>(?:UD-)?(?:I?Q\d\w*|TQ\d\w*|F16|F32|BF16|MXFP4\w*))(?:-\d{5}-of-\d{5})?(?:\.gguf)?$", re.IGNORECASE
)


def file_name(plan: Plan) -> str:
    """What a GGUF of the plan's model is called."""
    kind = plan.values["weight_format"].removeprefix("gguf-").upper()
    return f"{plan.values['model'].rsplit('/', 1)[-1]}-{kind}.gguf"


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """serve.sh. Its context is shared by all slots."""
    values = plan.values
    slots, batch = values["concurrency"], values["max_batched_tokens"]
    lines = [
        Line("model", file_name(plan)),
        Line("ctx-size", slots * serving.longest(plan), "tokens of all slots together"),
        Line("parallel", slots, pairs.COMMENTS["concurrency"]),
        Line("batch-size", batch),
        Line("ubatch-size", batch, pairs.COMMENTS["max_batched_tokens"]),
        Line("n-gpu-layers", 999, "every layer on the GPU"),
        Line("flash-attn", "on"),
        *pairs.written(plan, PAIRS),
        *(Line("cache-type-v", line.value) for line in pairs.written(plan, PAIRS)),
    ]
    if values["gpus"] > 1:
        tensor = plan.uses("tensor_parallel") and values["tensor_parallel"] > 1
        lines.append(Line("device", ",".join(f"CUDA{index}" for index in range(values["gpus"])), "the GPUs"))
        lines.append(
            Line(
                "split-mode",
                "row" if tensor else "layer",
                "matrices over the GPUs" if tensor else "layers over the GPUs",
            )
        )
    environment = "" if values["cuda_graphs"] else "export GGML_CUDA_DISABLE_GRAPHS=1\n\n"
    return serving.script("serve.sh", "llama-server", lines, FRAMEWORK.version, plan, environment)


def recognise(options: Options) -> bool:
    """Its programs, or flags that only it has."""
    if options.kind != "shell":
        return False
    named = any(
        word.rsplit("/", 1)[-1].startswith(("llama-server", "llama-cli", "llama-bench")) for word in options.words
    )
    return named or options.has("ngl", "n_gpu_layers", "gpu_layers", "ctk", "cache_type_k")


def read(options: Options, found: Found) -> None:
    """A command line."""
    found.set("task", "serve")
    found.set("engine", "llama.cpp")
    for flag in ("cont_batching", "mlock", "no_mmap", "jinja", "no_webui", "kv_unified", "swa_full", "no_warmup"):
        options.flag(flag)
    name = options.take("m", "model", "hf", "hfr", "hf_repo", "hf_file", "model_url")
    if name is not None:
        read_gguf(str(name), found)
    slots = options.whole("parallel", "np") or 1
    found.set("concurrency", max(1, slots))
    context = options.whole("ctx_size", "c")
    if context:
        found.set("max_model_length", max(1, context // max(1, slots)), "ctx-size")
    batch = options.whole("ubatch_size", "ub") or 512
    options.whole("batch_size", "b")
    found.set("max_batched_tokens", batch)
    pairs.read(options, PAIRS, found)
    options.take("cache_type_v", "ctv")
    _read_devices(options, found)
    layers = options.take("n_gpu_layers", "ngl", "gpu_layers")
    if layers is not None and str(layers).isdigit() and int(str(layers)) < 50:
        found.unread.append(Unread("n-gpu-layers", str(layers), "layers-on-host"))
    for moe in ("n_cpu_moe", "ncmoe", "cpu_moe", "cmoe", "override_tensor", "ot"):
        given = options.take(moe)
        if given not in (None, "0"):
            found.unread.append(Unread(moe, str(given)[:200], "layers-on-host"))
    found.set("cuda_graphs", options.take("env.GGML_CUDA_DISABLE_GRAPHS") is None)
    serving.lengths_unsaid(found)


def _read_devices(options: Options, found: Found) -> None:
    split = options.take("tensor_split", "ts")
    devices = options.take("device", "dev")
    mode = str(options.take("split_mode", "sm") or "layer")
    visible = options.take("env.CUDA_VISIBLE_DEVICES")
    count = max(len(str(given).split(",")) for given in (split or "", devices or "", visible or ""))
    count = 1 if mode == "none" else count
    found.set("gpus", count)
    found.set("tensor_parallel", count if mode in ("row", "tensor") else 1)
    found.set("pipeline_parallel", count if mode == "layer" else 1)


def read_gguf(name: str, found: Found) -> None:
    """The model and the weights' format of a GGUF's name: Llama-3.1-8B-Instruct-Q4_K_M.gguf, owner/name-GGUF:Q8_0."""
    text = name.rstrip("/")
    match = _QUANTISED.search(text)
    stem = text[: match.start()] if match else text.removesuffix(".gguf")
    kind = match["type"].upper().removeprefix("UD-") if match else "Q4_K_M"
    form = next((form for form in FORMATS if form == f"gguf-{kind.lower()}"), None)
    if match is None:
        found.assume("framework-default", field="weight_format", value="gguf-q4_k_m")
    if form:
        found.set("weight_format", form)
    else:
        found.unread.append(Unread("model", kind, "no-word", {"field": "weight_format"}))
    last: Any = re.sub(r"[-_.]gguf$", "", stem, flags=re.IGNORECASE)
    found.model(last, "model")


FRAMEWORK = Framework(
    id="llama.cpp",
    name="llama.cpp",
    version="llama.cpp of August 2026",
    source="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
    tasks=("serve",),
    write=write,
    recognise=recognise,
    read=read,
    defaults={"kv_dtype": "auto"},
    harmless=names(
        """
        host port t threads threads_batch tb fa flash_attn alias api_key temp top_p top_k min_p seed n predict
        n_predict chat_template chat_template_file mmproj numa timeout rope_scaling rope_scale yarn_orig_ctx main_gpu
        mg fit log_file lm load_mode
        """
    ),
)
