"""Collects the option names of the frameworks into option_names.json. Run by hand, not by the tests:

    python tests/planner/launch/collect_option_names.py FOLDER_OF_CHECKOUTS

with git checkouts (bare ones, too) of Megatron-LM, torchtitan, axolotl, LLaMA-Factory and DeepSpeed in the folder,
under the names below, and the wheels of vLLM, SGLang, Unsloth and TRL (pip download --no-deps, read and never
installed), in an environment that has transformers, peft and accelerate. Of the rest the options that are written are
listed below, from the sources that are named.
"""

import ast
import dataclasses
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

OUT = Path(__file__).with_name("option_names.json")
FIELD = re.compile(r"^    ([a-z_0-9]+)\s*:", re.MULTILINE)

DOCUMENTED = {
    "tensorrt-llm": (
        "tensorrt_llm/commands/serve.py at 00209af and llmapi/llm_args.py",
        "tensor_parallel_size pipeline_parallel_size moe_expert_parallel_size max_batch_size max_num_tokens "
        "max_seq_len "
        "free_gpu_memory_fraction config kv_cache_config.dtype dtype enable_chunked_prefill cuda_graph_config",
    ),
    "llama.cpp": (
        "tools/server/README.md at 00dc805",
        "model ctx-size parallel batch-size ubatch-size n-gpu-layers flash-attn cache-type-k cache-type-v "
        "device split-mode",
    ),
    "ollama": ("docs/modelfile, envconfig/config.go", "num_ctx num_batch num_gpu"),
}


def shown(folder: Path, commit: str, path: str) -> str:
    """A file of a checkout."""
    return subprocess.run(
        ["git", "-C", str(folder), "show", f"{commit}:{path}"], capture_output=True, text=True, check=True
    ).stdout


def fields(folder: Path, commit: str, *paths: str) -> set[str]:
    """The fields of the classes in files."""
    return {name for path in paths for name in FIELD.findall(shown(folder, commit, path))}


def megatron(folder: Path) -> tuple[str, set[str]]:
    """Arguments, and the fields that it makes arguments of."""
    tag = "core_v0.19.0"
    declared = re.findall(r"['\"]--([a-z0-9-]+)['\"]", shown(folder, tag, "megatron/training/arguments.py"))
    made = fields(
        folder,
        tag,
        "megatron/training/config/training_config.py",
        "megatron/training/config/common_config.py",
        "megatron/core/transformer/transformer_config.py",
        "megatron/core/model_parallel_config.py",
    )
    renamed = {"num-experts", "swiglu", "disable-bias-linear", "group-query-attention", "fp8-format"}
    return tag, set(declared) | {name.replace("_", "-") for name in made} | renamed


def torchtitan(folder: Path) -> tuple[str, set[str]]:
    """Dotted names of the last TOML release."""
    source = shown(folder, "v0.2.2", "torchtitan/config/job_config.py")
    classes = {
        name: FIELD.findall(body)
        for name, body in re.findall(r"^class (\w+):\n(.*?)(?=^class |\Z)", source, re.M | re.S)
    }
    names = set()
    for section, kind in re.findall(r"^    (\w+): (\w+) = field", source.split("class JobConfig")[1], re.M):
        names |= {f"{section}.{name}" for name in classes[kind]}
    names |= {f"training.dataloader.{name}" for name in classes["DataLoader"]}
    return "v0.2.2", names | {f"quantize.linear.float8.{name}" for name in classes["Float8Linear"]}


def wheel(folder: Path, name: str) -> tuple[str, zipfile.ZipFile]:
    """The version of a downloaded wheel, and its files."""
    path = next(folder.glob(f"{name}-*.whl"))
    return path.name.split("-")[1], zipfile.ZipFile(path)


def literal(source: str, name: str) -> set[str]:
    """The strings of the list or Literal that a module assigns to a name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return {one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)}
    raise LookupError(name)


def engines(folder: Path) -> dict[str, tuple[str, set[str]]]:
    """The options of vLLM and SGLang, and what their option `quantization` may be, by entry."""
    version, files = wheel(folder, "vllm")
    found = {
        "vllm": (
            f"vLLM {version}, vllm/engine/arg_utils.py",
            set(re.findall(r'"--([a-z0-9-]+)"', files.read("vllm/engine/arg_utils.py").decode())),
        )
    }
    path = "vllm/model_executor/layers/quantization/__init__.py"
    found["vllm-quantization"] = f"vLLM {version}, {path}", literal(files.read(path).decode(), "QuantizationMethods")
    version, files = wheel(folder, "sglang")
    root = "sglang/srt/arg_groups"
    paths = [name for name in files.namelist() if name.startswith(f"{root}/fields/") and name.endswith(".py")]
    source = "\n".join(files.read(path).decode() for path in paths)
    hidden = set(re.findall(r"^    (\w+): A\[\w+, Arg\(no_cli=True\)\]", source, re.M))
    names = {name.replace("_", "-") for name in set(FIELD.findall(source)) - hidden}
    names |= set(re.findall(r'"--([a-z0-9-]+)"', files.read("sglang/srt/server_args.py").decode()))
    found["sglang"] = f"SGLang {version}, sglang/srt/server_args.py and arg_groups/fields", names
    choices = literal(files.read(f"{root}/choices.py").decode(), "QUANTIZATION_CHOICES")
    found["sglang-quantization"] = f"SGLang {version}, {root}/choices.py", choices
    return found


def unsloth(folder: Path) -> dict[str, tuple[str, set[str]]]:
    """The arguments of Unsloth's two calls, and those that TRL's SFTConfig adds to TrainingArguments."""
    version, files = wheel(folder, "unsloth")
    found = {}
    for call, path in (("from_pretrained", "unsloth/models/loader.py"), ("get_peft_model", "unsloth/models/llama.py")):
        names: set[str] = set()
        for node in ast.walk(ast.parse(files.read(path))):
            if isinstance(node, ast.FunctionDef) and node.name == call:
                names |= {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
        found[f"unsloth-{call}"] = f"Unsloth {version}, {path}", names
    version, files = wheel(folder, "trl")
    path = "trl/trainer/sft_config.py"
    found["trl"] = f"TRL {version}, {path}", set(FIELD.findall(files.read(path).decode()))
    return found


def collect(folder: Path) -> dict[str, object]:
    """Everything."""
    from accelerate.commands.config.config_args import ClusterConfig
    from accelerate.commands.launch import launch_command_parser
    from peft import LoraConfig
    from transformers import TrainingArguments
    from transformers.training_args import OptimizerNames

    out: dict[str, object] = {}

    def add(name: str, source: str, names: set[str]) -> None:
        out[name] = {"source": source, "names": sorted(names)}

    version, names = megatron(folder / "Megatron-LM")
    add("megatron-lm", f"Megatron-LM {version}", names)
    version, names = torchtitan(folder / "torchtitan")
    add("torchtitan", f"torchtitan {version}", names)
    schemas = ("config", "model", "training", "peft", "quantization", "datasets", "integrations")
    paths = [f"src/axolotl/utils/schemas/{name}.py" for name in schemas]
    names = fields(folder / "axolotl", "v0.18.0", *paths, "src/axolotl/integrations/liger/args.py")
    fsdp = {
        f"fsdp_config.{name}" for name in fields(folder / "axolotl", "v0.18.0", "src/axolotl/utils/schemas/fsdp.py")
    }
    add("axolotl", "axolotl v0.18.0", names | fsdp)
    trainer = {field.name for field in dataclasses.fields(TrainingArguments)}
    paths = [f"src/llamafactory/hparams/{name}_args.py" for name in ("model", "data", "finetuning", "training")]
    add("llama-factory", "LLaMA-Factory v0.9.5", fields(folder / "LLaMA-Factory", "v0.9.5", *paths) | trainer)
    deepspeed = folder / "DeepSpeed"
    zero = fields(deepspeed, "v0.19.5", "deepspeed/runtime/zero/config.py")
    zero |= set(re.findall(r'alias="(\w+)"', shown(deepspeed, "v0.19.5", "deepspeed/runtime/zero/config.py")))
    offload = fields(deepspeed, "v0.19.5", "deepspeed/runtime/zero/offload_config.py")
    top = set(re.findall(r'= "([a-z_0-9]+)"', shown(deepspeed, "v0.19.5", "deepspeed/runtime/constants.py")))
    names = top | {f"zero_optimization.{name}" for name in zero}
    names |= {f"zero_optimization.{part}.{name}" for part in ("offload_param", "offload_optimizer") for name in offload}
    names |= {f"{part}.{name}" for part in ("bf16", "fp16", "torch_autocast") for name in top}
    names |= {"gradient_accumulation_steps", "tensor_parallel.autotp_size"}
    add("deepspeed", "DeepSpeed v0.19.5", names)
    add("transformers", "transformers 5.24, TrainingArguments", trainer)
    add("optimizers", "transformers 5.24, OptimizerNames", {name.value for name in OptimizerNames})
    add("peft", "peft 0.21, LoraConfig", {field.name for field in dataclasses.fields(LoraConfig)})
    flags = {
        option[2:].replace("-", "_") for action in launch_command_parser()._actions for option in action.option_strings
    }
    cluster = {field.name for field in dataclasses.fields(ClusterConfig)}
    names = cluster | {f"fsdp_config.{name}" for name in flags} | {f"parallelism_config.{name}" for name in flags}
    names |= {f"fp8_config.{name.removeprefix('fp8_')}" for name in flags} | {"fp8_config.fp8_format"}
    add("accelerate", "accelerate 1.15, ClusterConfig and accelerate launch", names)
    for name, (source, names) in {**engines(folder), **unsloth(folder)}.items():
        add(name, source, names)
    for name, (source, words) in DOCUMENTED.items():
        add(name, source, set(words.split()))
    return out


if __name__ == "__main__":
    OUT.write_text(json.dumps(collect(Path(sys.argv[1])), indent=0) + "\n", "utf-8")
