"""SGLang: `python -m sglang.launch_server`.

Option names: SGLang's server arguments (python/sglang/srt/server_args.py, https://docs.sglang.io, server arguments),
0.5 to 0.5.23.
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
    "fp8-tensor": "modelopt_fp8",
    "int8": "w8a8_int8",
    "awq-int4": "awq_marlin",
    "gptq-int4": "gptq_marlin",
    "nf4": "bitsandbytes",
    "mxfp4": "mxfp4",
    "nvfp4": "modelopt_fp4",
}
READ_QUANTISATIONS: Mapping[str, str] = {
    "awq": "awq-int4",
    "gptq": "gptq-int4",
    "w8a8_fp8": "fp8",
    "modelopt": "fp8-tensor",
}
DTYPES: Mapping[str, str] = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}

PAIRS = (
    Pair("pipeline_parallel", "pp-size", aliases=("pipeline_parallel_size",)),
    Pair("expert_parallel", "ep-size", aliases=("expert_parallel_size", "ep")),
    Pair("concurrency", "max-running-requests"),
    Pair("max_batched_tokens", "chunked-prefill-size"),
    Pair("memory_fraction", "mem-fraction-static"),
    Pair(
        "kv_dtype",
        "kv-cache-dtype",
        {"auto": "auto", "fp8": "fp8_e4m3", "bf16": "bf16"},
        {"fp8_e5m2": "fp8", "bfloat16": "bf16"},
    ),
)


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """serve.sh with one server; replicas share its port."""
    values = plan.values
    tensor = values["tensor_parallel"] if plan.uses("tensor_parallel") else 1
    lines = [
        Line("model-path", values["model"]),
        Line("context-length", serving.longest(plan), pairs.COMMENTS["max_model_length"]),
        Line("tp-size", tensor, pairs.COMMENTS["tensor_parallel"]),
        *(line for line in pairs.written(plan, PAIRS) if line.name not in ("pp-size", "ep-size") or line.value > 1),
    ]
    copies = serving.replicas(plan)
    if copies > 1:
        lines.append(Line("dp-size", copies, "copies of the model"))
    form = values["weight_format"]
    lines.append(Line("dtype", DTYPES.get(form, "auto"), "dtype of the products"))
    if form in QUANTISATIONS:
        lines.append(Line("quantization", QUANTISATIONS[form], "needs a checkpoint in this format, except for fp8"))
    if not values["cuda_graphs"]:
        lines.append(Line("disable-cuda-graph", True, "no CUDA graphs"))
    nodes, _ = launcher.nodes(plan)
    if nodes > 1:
        lines.append(Line("nnodes", nodes))
    files, command = serving.script("serve.sh", "python -m sglang.launch_server", lines, FRAMEWORK.version, plan)
    if nodes > 1:
        text = files[0].text.replace(
            '"${ARGS[@]}"', '"${ARGS[@]}" --node-rank "$NODE_RANK" --dist-init-addr "$HEAD_NODE:5000"'
        )
        files = (File(files[0].name, text, "bash"),)
    return files, command


def recognise(options: Options) -> bool:
    """The server's module, or flags that only SGLang has."""
    if options.kind != "shell":
        return False
    module = str(options.peek("m") or "")
    named = any(word == "sglang" or word.startswith("sglang.") for word in options.words)
    return "sglang" in module or named or options.has("mem_fraction_static", "chunked_prefill_size")


def read(options: Options, found: Found) -> None:
    """A command line."""
    module = options.take("m")
    nodes = options.whole("nnodes")
    for name in ("node_rank", "dist_init_addr"):
        options.take(name)
    launcher.read(options, found)
    found.set("task", "serve")
    found.set("engine", "sglang")
    decode = str(options.take("cuda_graph_backend_decode") or "")
    eager = [options.flag(name) for name in ("disable_cuda_graph", "disable_decode_cuda_graph")]
    found.set("cuda_graphs", decode != "disabled" and not any(eager))
    attention_dp = options.flag("enable_dp_attention") or options.take("attn_dp_size") is not None
    for name in ("trust_remote_code", "disable_radix_cache", "enable_metrics", "enable_torch_compile"):
        options.flag(name)
    pairs.read(options, PAIRS, found)
    tensor = options.whole("tp_size", "tp", "tensor_parallel_size") or 1
    found.set("tensor_parallel", tensor)
    serving.read_length(options, found, "context_length")
    serving.read_model(options, found, ("sglang", "serve", "python", "python3", str(module)), "model_path", "model")
    copies = options.whole("dp_size", "dp", "data_parallel_size") or 1
    found.replicas = 1 if attention_dp else copies
    if nodes and nodes > 1:
        found.set("gpus_per_node", max(1, tensor * found.get("pipeline_parallel", 1) * found.replicas // nodes))
    _read_format(options, found)
    serving.lengths_unsaid(found)


def _read_format(options: Options, found: Found) -> None:
    dtype, kind = str(options.take("dtype") or "auto"), options.take("quantization")
    known = {theirs: mine for mine, theirs in QUANTISATIONS.items()} | dict(READ_QUANTISATIONS)
    dtypes = {theirs: mine for mine, theirs in DTYPES.items()} | {"half": "fp16", "float": "fp32"}
    if kind is not None and str(kind).lower() in known:
        found.set("weight_format", known[str(kind).lower()])
    elif kind is not None:
        found.unread.append(Unread("quantization", str(kind)[:200], "no-word", {"field": "weight_format"}))
    elif dtype in dtypes:
        found.set("weight_format", dtypes[dtype])
    else:
        found.assume("format-of-checkpoint")


FRAMEWORK = Framework(
    id="sglang",
    name="SGLang",
    version="SGLang 0.5 to 0.5.23",
    source="https://docs.sglang.io/advanced_features/server_arguments.html",
    tasks=("serve",),
    write=write,
    recognise=recognise,
    read=read,
    defaults={"kv_dtype": "auto"},
    harmless=names(
        """
        host port api_key served_model_name random_seed tokenizer_path tool_call_parser reasoning_parser log_level
        chat_template attention_backend sampling_backend download_dir load_format
        """
    ),
)
