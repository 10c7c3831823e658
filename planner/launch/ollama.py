"""Ollama: a Modelfile, and the server's environment.

Names: Ollama, docs/modelfile and envconfig/config.go, 0.12 and later.
"""

from planner.launch import llama_cpp, serving
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.types import File, Framework, names
from planner.plan.plan import Plan


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """Modelfile, and the commands for the server and for making the model."""
    values = plan.values
    lines = [
        f"# Made by GPU Planner for {FRAMEWORK.version}.",
        f"FROM ./{llama_cpp.file_name(plan)}",
        "# longest sequence: prompt and answer",
        f"PARAMETER num_ctx {serving.longest(plan)}",
        "# tokens of one prefill step",
        f"PARAMETER num_batch {values['max_batched_tokens']}",
        "# every layer on the GPU",
        "PARAMETER num_gpu 999",
    ]
    settings = [f"OLLAMA_NUM_PARALLEL={values['concurrency']}", "OLLAMA_FLASH_ATTENTION=1"]
    kv = llama_cpp.KV_WORDS.get(values["kv_dtype"])
    settings += [f"OLLAMA_KV_CACHE_TYPE={kv}"] if kv in ("f16", "q8_0", "q4_0") else []
    if values["gpus"] > 1:
        settings += [f"CUDA_VISIBLE_DEVICES={','.join(map(str, range(values['gpus'])))}", "OLLAMA_SCHED_SPREAD=1"]
    command = f"{' '.join(settings)} ollama serve &\nollama create planned -f Modelfile"
    return (File("Modelfile", "\n".join(lines) + "\n", "dockerfile"),), command


def recognise(options: Options) -> bool:
    """A Modelfile, or the program."""
    return options.kind == "modelfile" or (
        options.kind == "shell"
        and (
            any(word.rsplit("/", 1)[-1] == "ollama" for word in options.words) or options.has("env.OLLAMA_NUM_PARALLEL")
        )
    )


def read(options: Options, found: Found) -> None:
    """A Modelfile, or the server's command line."""
    found.set("task", "serve")
    found.set("engine", "llama.cpp")
    if options.kind == "modelfile":
        name = str(options.take("from") or "")
        if name:
            llama_cpp.read_gguf(
                name.removeprefix("./").replace(":", "-") if ".gguf" not in name else name.removeprefix("./"), found
            )
        context = options.whole("parameter.num_ctx")
        if context:
            found.set("max_model_length", context, "num_ctx")
        found.set("max_batched_tokens", options.whole("parameter.num_batch") or 512)
        options.take("parameter.num_gpu")
        serving.lengths_unsaid(found)
        return
    slots = options.whole("env.OLLAMA_NUM_PARALLEL")
    if slots:
        found.set("concurrency", slots)
    kv = options.take("env.OLLAMA_KV_CACHE_TYPE")
    known = {theirs: mine for mine, theirs in reversed(llama_cpp.KV_WORDS.items())}
    if kv is not None and str(kv) in known:
        found.set("kv_dtype", known[str(kv)])
    visible = options.take("env.CUDA_VISIBLE_DEVICES")
    count = len(str(visible).split(",")) if visible else 1
    found.set("gpus", count)
    found.set("tensor_parallel", 1)
    found.set("pipeline_parallel", count)
    options.take("f")
    for verb in ("run", "pull"):
        if verb in options.words[:-1]:
            name = options.words[options.words.index(verb) + 1]
            llama_cpp.read_gguf(name.replace(":", "-"), found)


FRAMEWORK = Framework(
    id="ollama",
    name="Ollama",
    version="Ollama 0.12 and later",
    source="https://docs.ollama.com/modelfile, https://docs.ollama.com/faq",
    tasks=("serve",),
    write=write,
    recognise=recognise,
    read=read,
    defaults={"concurrency": 1, "kv_dtype": "auto"},
    harmless=names(
        "temperature top_p top_k min_p stop seed repeat_penalty repeat_last_n num_predict num_thread num_keep f"
    ),
)
