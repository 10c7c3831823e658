"""TensorRT-LLM: `trtllm-serve`.

Option names: TensorRT-LLM 1.2, tensorrt_llm/commands/serve.py, and its YAML's from tensorrt_llm/llmapi/llm_args.py.
"""

from planner.launch import pairs, serving
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.pairs import Pair
from planner.launch.render import Line, yaml_text
from planner.launch.types import File, Framework, names
from planner.plan.plan import Plan

PAIRS = (
    Pair("tensor_parallel", "tensor_parallel_size", aliases=("tp_size",)),
    Pair("pipeline_parallel", "pipeline_parallel_size", aliases=("pp_size",)),
    Pair("expert_parallel", "moe_expert_parallel_size", aliases=("ep_size",)),
    Pair("concurrency", "max_batch_size"),
    Pair("max_batched_tokens", "max_num_tokens"),
    Pair("memory_fraction", "free_gpu_memory_fraction", aliases=("kv_cache_free_gpu_memory_fraction",)),
)
KV = Pair("kv_dtype", "kv_cache_config.dtype", {"auto": "auto", "fp8": "fp8", "bf16": "bfloat16", "fp16": "float16"})
DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """serve.sh and llm.yaml. The format of the weights is the checkpoint's."""
    values = plan.values
    lines = [
        Line("max_seq_len", serving.longest(plan), pairs.COMMENTS["max_model_length"]),
        *(line for line in pairs.written(plan, PAIRS) if line.name != "moe_expert_parallel_size" or line.value > 1),
        Line("config", "llm.yaml"),
    ]
    more = pairs.written(plan, (KV,))
    if values["weight_format"] in DTYPES:
        more.append(Line("dtype", DTYPES[values["weight_format"]], "dtype of the weights and products"))
    more.append(Line("enable_chunked_prefill", True))
    if not values["cuda_graphs"]:
        more.append(Line("cuda_graph_config", None, "no CUDA graphs"))
    program = f"trtllm-serve {serving.quoted(values['model'])}"
    files, command = serving.script("serve.sh", program, lines, FRAMEWORK.version, plan)
    return (*files, File("llm.yaml", yaml_text(more, f"Made by GPU Planner for {FRAMEWORK.version}."), "yaml")), command


def recognise(options: Options) -> bool:
    """Its program, or its YAML's keys."""
    if options.kind == "yaml":
        return bool(options.under("kv_cache_config")) or options.has("cuda_graph_config", "moe_expert_parallel_size")
    return options.kind == "shell" and any("trtllm-serve" in word for word in options.words)


def read(options: Options, found: Found) -> None:
    """A command line or the YAML beside it."""
    found.set("task", "serve")
    found.set("engine", "tensorrt-llm")
    for name in ("trust_remote_code", "enable_chunked_prefill", "kv_cache_config.enable_block_reuse"):
        options.flag(name)
    pairs.read(options, (*PAIRS, KV), found)
    inner = options.take("kv_cache_config.free_gpu_memory_fraction")
    if inner is not None:
        found.set("memory_fraction", inner)
    serving.read_length(options, found, "max_seq_len")
    dtype = options.take("dtype")
    known = {theirs: mine for mine, theirs in DTYPES.items()}
    if str(dtype) in known:
        found.set("weight_format", known[str(dtype)])
    if "cuda_graph_config" in options and options.take("cuda_graph_config") is None:
        found.set("cuda_graphs", False)
    if options.kind == "shell":
        serving.read_model(options, found, ("trtllm-serve", "serve", "mpirun", "trtllm-llmapi-launch"))
        file = options.take("config", "extra_llm_api_options")
        if file is not None:
            found.elsewhere.append(str(file)[:100])
        if "tensor_parallel" not in found.chosen:
            found.set("tensor_parallel", 1)
        found.assume("format-of-checkpoint")
        serving.lengths_unsaid(found)
    else:
        found.elsewhere.clear()


FRAMEWORK = Framework(
    id="tensorrt-llm",
    name="TensorRT-LLM",
    version="TensorRT-LLM 1.2",
    source="https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve",
    tasks=("serve",),
    write=write,
    recognise=recognise,
    read=read,
    defaults={"memory_fraction": 0.9, "kv_dtype": "auto"},
    harmless=names(
        "host port backend tokenizer log_level revision reasoning_parser tool_parser num_postprocess_workers"
    ),
)
