"""The frameworks by id; export of a plan, and reading of pasted texts."""

import dataclasses
from collections.abc import Mapping

from planner.launch import (
    accelerate,
    axolotl,
    deepspeed,
    hugging_face,
    launcher,
    llama_cpp,
    llama_factory,
    megatron,
    ollama,
    sglang,
    tensorrt_llm,
    torch_fsdp,
    torchtitan,
    unsloth,
    vllm,
    wrappers,
)
from planner.launch.compare import lost, onto
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.texts import options_of
from planner.launch.types import Framework, Launch, Reading, Unread
from planner.models.spec import ModelTask
from planner.plan.plan import Plan
from planner.result import InputError, Notice, Problem

FRAMEWORKS: Mapping[str, Framework] = {
    framework.id: framework
    for framework in (
        hugging_face.FRAMEWORK,
        accelerate.FRAMEWORK,
        deepspeed.FRAMEWORK,
        torch_fsdp.FRAMEWORK,
        unsloth.FRAMEWORK,
        megatron.FRAMEWORK,
        torchtitan.FRAMEWORK,
        axolotl.FRAMEWORK,
        llama_factory.FRAMEWORK,
        vllm.FRAMEWORK,
        sglang.FRAMEWORK,
        tensorrt_llm.FRAMEWORK,
        llama_cpp.FRAMEWORK,
        ollama.FRAMEWORK,
    )
}
"""Every framework by its stable id, in the order in which they are offered."""

_ENGINES = {"vllm": "vllm", "sglang": "sglang", "tensorrt-llm": "tensorrt-llm", "llama.cpp": "llama.cpp"}


def frameworks_for(plan: Plan) -> tuple[Framework, ...]:
    """The frameworks that can run a plan's task, method and model; a served plan's own engine first."""
    if not plan.uses("sequence_length") and not plan.uses("input_tokens"):
        return ()
    values = plan.values
    adapters = values["task"] == "finetune" and values["method"] in ("lora", "dora", "qlora")
    decoder = plan.spec.task in (ModelTask.CAUSAL_LM, ModelTask.MULTIMODAL)
    able = [
        framework
        for framework in FRAMEWORKS.values()
        if values["task"] in framework.tasks
        and (framework.adapters or not adapters)
        and (decoder or not framework.decoders_only)
    ]
    if values["task"] == "serve":
        gguf = values["weight_format"].startswith("gguf-")
        able = [framework for framework in able if gguf == (framework.id in ("llama.cpp", "ollama"))]
        able.sort(key=lambda framework: framework.id != _ENGINES.get(values["engine"]))
    return tuple(able)


def export(plan: Plan, framework_id: str, wrapper: str | None = None) -> Launch:
    """A plan as files and a command, within a scheduler's job where `wrapper` says so (slurm, kubernetes).

    What the framework cannot say is told in the notes, found by reading the result back. Raises `InputError`.
    """
    framework = FRAMEWORKS.get(framework_id)
    if framework is None:
        raise InputError([Problem("unknown-framework", "framework", framework_id, {"known": list(FRAMEWORKS)})])
    if framework not in frameworks_for(plan):
        able = [other.id for other in frameworks_for(plan)]
        raise InputError([Problem("framework-not-for-plan", "framework", framework_id, {"able": able})])
    files, command = framework.write(plan)
    launch = Launch(framework=framework.id, version=framework.version, files=files, command=command)
    if wrapper is not None:
        if wrapper not in wrappers.WRAPPERS:
            raise InputError([Problem("unknown-framework", "wrapper", wrapper, {"known": list(wrappers.WRAPPERS)})])
        file, command = (wrappers.slurm if wrapper == "slurm" else wrappers.kubernetes)(plan, launch)
        launch = dataclasses.replace(launch, files=(file, *files), command=command)
    return dataclasses.replace(launch, notes=_notes(plan, launch))


def _notes(plan: Plan, launch: Launch) -> tuple[Notice, ...]:
    read_back = onto(plan, read(*launch.texts))
    notes = [
        Notice("not-expressed", parameters={"field": name, "value": value}) for name, value in lost(plan, read_back)
    ]
    if "model_config" in plan.chosen or plan.values["model"].startswith("transformer-"):
        notes.append(Notice("model-is-yours"))
    return tuple(notes)


def read(*texts: str) -> Reading:
    """What one or several pasted texts of a run mean. Raises `InputError` where nothing in them is recognised."""
    found = Found()
    documents: list[Options] = []
    for text in texts:
        for options in options_of(text):
            inner = wrappers.unwrap(options, found)
            if inner is None:
                documents.append(options)
            else:
                documents.extend(document for command in inner for document in options_of(command))
    pairs = [(framework, options) for options in documents if (framework := _recognised(options))]
    if not pairs:
        known = [framework.name for framework in FRAMEWORKS.values()]
        raise InputError([Problem("not-recognised", "text", None, {"known": known})])
    for options in documents:
        wrappers.read_slurm(options, found)
        if not _recognised(options):  # a launcher alone: torchrun train.py
            launcher.read(options, found)
    for framework, options in sorted(pairs, key=lambda pair: pair[0].companion):
        found.frameworks.append(framework.id)
        framework.read(options, found)
        found.unread.extend(_unread(framework, options))
    for framework, _ in pairs:
        for name, value in framework.defaults.items():
            found.default(name, value)
    return found.finish()


def _recognised(options: Options) -> Framework | None:
    by_special = sorted(FRAMEWORKS.values(), key=lambda framework: framework.general)
    return next((framework for framework in by_special if framework.recognise(options)), None)


def _unread(framework: Framework, options: Options) -> list[Unread]:
    return [
        Unread(name, str(value)[:200])
        for name, value in options.rest.items()
        if name.rsplit(".", 1)[-1] not in framework.harmless
        and not name.startswith(("env.", "sbatch."))
        and value not in (None, "auto")
    ][:100]
