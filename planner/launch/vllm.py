"""vLLM: `vllm serve`.

Option names: vLLM's engine arguments (vllm/engine/arg_utils.py, https://docs.vllm.ai/en/stable/cli/serve), 0.11 to
0.33.
"""

from collections.abc import Mapping

from planner.launch import launcher, pairs, serving
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.pairs import Pair
from planner.launch.render import Line
from planner.launch.types import File, Framework, Unread, names
from planner.plan.plan import Plan

QUANTISATIONS: Mapping[str, str] = {
    "fp8": "fp8",
    "fp8-tensor": "modelopt",
    "awq-int4": "awq_marlin",
    "gptq-int4": "gptq_marlin",
    "int8": "compressed-tensors",
    "nf4": "bitsandbytes",
    "mxfp4": "mxfp4",
    "nvfp4": "modelopt_fp4",
}
OLDER = frozenset({"bitsandbytes"})
"""What vLLM 0.33 no longer takes."""
READ_QUANTISATIONS: Mapping[str, str] = {
    "awq": "awq-int4",
    "gptq": "gptq-int4",
    "modelopt_fp8": "fp8-tensor",
    "fbgemm_fp8": "fp8",
    "ptpc_fp8": "fp8",
}
DTYPES: Mapping[str, str] = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}

PAIRS = (
    Pair("tensor_parallel", "tensor-parallel-size", aliases=("tp",)),
    Pair("pipeline_parallel", "pipeline-parallel-size", aliases=("pp",)),
    Pair("concurrency", "max-num-seqs"),
    Pair("max_batched_tokens", "max-num-batched-tokens"),
    Pair("memory_fraction", "gpu-memory-utilization"),
    Pair(
        "kv_dtype",
        "kv-cache-dtype",
        {"auto": "auto", "fp8": "fp8", "bf16": "bfloat16"},
        {"fp8_e4m3": "fp8", "fp8_e5m2": "fp8"},
    ),
)


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """serve.sh with one `vllm serve`."""
    values = plan.values
    lines = pairs.written(plan, PAIRS)
    lines.insert(0, Line("max-model-len", serving.longest(plan), pairs.COMMENTS["max_model_length"]))
    copies = serving.replicas(plan)
    if copies > 1:
        lines.append(Line("data-parallel-size", copies, "copies of the model"))
    if plan.uses("expert_parallel") and values["expert_parallel"] > 1:
        lines.append(Line("enable-expert-parallel", True, "experts divided over tensor x data parallel"))
    form = values["weight_format"]
    lines.append(Line("dtype", DTYPES.get(form, "auto"), "dtype of the products"))
    if form in QUANTISATIONS:
        kind = QUANTISATIONS[form]
        comment = (
            "needs a release before 0.33" if kind in OLDER else "needs a checkpoint in this format, except for fp8"
        )
        lines.append(Line("quantization", kind, comment))
    if not values["cuda_graphs"]:
        lines.append(Line("enforce-eager", True, "no CUDA graphs"))
    if plan.uses("images_per_sample") and values["images_per_sample"]:
        lines.append(Line("limit-mm-per-prompt", f'{{"image": {values["images_per_sample"]}}}', "images per request"))
    return serving.script("serve.sh", f"vllm serve {serving.quoted(values['model'])}", lines, FRAMEWORK.version, plan)


def recognise(options: Options) -> bool:
    """`vllm serve`, its API server's module, or flags that only vLLM has."""
    if options.kind == "python":
        return options.has("LLM()", "EngineArgs()")
    if options.kind != "shell":
        return options.kind == "yaml" and options.has("max-model-len", "gpu-memory-utilization")
    named = any(word.rsplit("/", 1)[-1] == "vllm" or word.startswith("vllm.") for word in options.words)
    return named or "vllm" in str(options.peek("m") or "") or options.has("gpu_memory_utilization", "max_num_seqs")


def read(options: Options, found: Found) -> None:
    """A command line; or `LLM(...)` in Python, whose arguments have the same names."""
    if options.kind == "python":
        names = {
            name.partition(".")[2]: options.take(name) for call in ("LLM", "EngineArgs") for name in options.under(call)
        }
        for name in options.rest:
            options.take(name)
        options = _Inner("shell", {"model" if key == "0" else key: value for key, value in names.items()})
    elif options.kind == "yaml":
        options = _Inner("shell", {name.replace("-", "_"): options.take(name) for name in list(options.rest)})
    launcher.read(options, found)
    found.set("task", "serve")
    found.set("engine", "vllm")
    eager, experts = options.flag("enforce_eager"), options.flag("enable_expert_parallel")
    for name in _FLAGS:
        options.flag(name)
    found.set("cuda_graphs", not eager)
    pairs.read(options, PAIRS, found)
    serving.read_length(options, found, "max_model_len")
    module = options.peek("m")
    serving.read_model(options, found, ("vllm", "serve", "python", "python3", str(module)), "model")
    options.take("m")
    found.replicas = options.whole("data_parallel_size", "dp") or 1
    if experts:
        found.set("expert_parallel", found.get("tensor_parallel", 1) * found.replicas)
    if "tensor_parallel" not in found.chosen:
        found.set("tensor_parallel", 1)
    _read_format(options, found)
    serving.lengths_unsaid(found)
    if isinstance(options, _Inner):
        found.unread.extend(Unread(name, str(value)[:200]) for name, value in options.rest.items() if value is not None)


class _Inner(Options):
    """Options of a call, put in the words of the command line."""


def _read_format(options: Options, found: Found) -> None:
    dtype, kind = str(options.take("dtype") or "auto"), options.take("quantization", "q")
    known = {theirs: mine for mine, theirs in QUANTISATIONS.items()} | dict(READ_QUANTISATIONS)
    dtypes = {theirs: mine for mine, theirs in DTYPES.items()} | {"half": "fp16", "float": "fp32"}
    if kind is not None and str(kind).lower() in known:
        found.set("weight_format", known[str(kind).lower()])
    elif kind is not None and str(kind).lower() not in ("none", "null"):
        found.unread.append(Unread("quantization", str(kind)[:200], "no-word", {"field": "weight_format"}))
    elif dtype in dtypes:
        found.set("weight_format", dtypes[dtype])
    else:
        found.assume("format-of-checkpoint")


_FLAGS = (
    "trust_remote_code",
    "enable_prefix_caching",
    "no_enable_prefix_caching",
    "enable_chunked_prefill",
    "disable_log_requests",
    "disable_log_stats",
    "enable_auto_tool_choice",
    "async_scheduling",
)

FRAMEWORK = Framework(
    id="vllm",
    name="vLLM",
    version="vLLM 0.11 to 0.33",
    source="https://docs.vllm.ai/en/stable/cli/serve",
    tasks=("serve",),
    write=write,
    recognise=recognise,
    read=read,
    defaults={"memory_fraction": 0.9, "kv_dtype": "auto"},
    harmless=names(
        """
        host port api_key served_model_name seed tokenizer tokenizer_mode download_dir revision tool_call_parser
        reasoning_parser chat_template uvicorn_log_level generation_config load_format hf_overrides
        distributed_executor_backend
        """
    ),
)
