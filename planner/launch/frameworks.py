"""The frameworks by id; export of a plan, and reading of pasted texts."""

from collections.abc import Mapping

from planner.launch import accelerate, deepspeed, hugging_face, launcher, sglang, vllm
from planner.launch.compare import lost, onto
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.texts import options_of
from planner.launch.types import Framework, Launch, Reading, Unread
from planner.plan.plan import Plan
from planner.result import InputError, Notice, Problem

FRAMEWORKS: Mapping[str, Framework] = {
    framework.id: framework
    for framework in (
        accelerate.FRAMEWORK,
        deepspeed.FRAMEWORK,
        hugging_face.FRAMEWORK,
        vllm.FRAMEWORK,
        sglang.FRAMEWORK,
    )
}
"""Every framework by its stable id, in the order in which they are offered. The first that recognises a text reads it."""


def frameworks_for(plan: Plan) -> tuple[Framework, ...]:
    """The frameworks that can run a plan's task and model."""
    if not plan.uses("sequence_length") and not plan.uses("input_tokens"):
        return ()
    return tuple(framework for framework in FRAMEWORKS.values() if plan.values["task"] in framework.tasks)


def export(plan: Plan, framework_id: str) -> Launch:
    """A plan as files and a command. What the framework cannot say is told in the notes, found by reading it back."""
    framework = FRAMEWORKS.get(framework_id)
    if framework is None:
        raise InputError([Problem("unknown-framework", "framework", framework_id, {"known": list(FRAMEWORKS)})])
    if framework not in frameworks_for(plan):
        able = [other.id for other in frameworks_for(plan)]
        raise InputError([Problem("framework-not-for-plan", "framework", framework_id, {"able": able})])
    files, command = framework.write(plan)
    launch = Launch(framework=framework.id, version=framework.version, files=files, command=command)
    read_back = onto(plan, read(*launch.texts))
    notes = [
        Notice("not-expressed", parameters={"field": name, "value": value}) for name, value in lost(plan, read_back)
    ]
    if plan.values["model"] == "custom" or plan.values["model"].startswith("transformer-"):
        notes.append(Notice("model-is-yours"))
    return Launch(framework=framework.id, version=framework.version, files=files, command=command, notes=tuple(notes))


def read(*texts: str) -> Reading:
    """What one or several pasted texts of a run mean. Raises `InputError` where nothing in them is recognised."""
    documents = [options for text in texts for options in options_of(text)]
    pairs = [(framework, options) for options in documents if (framework := _recognised(options))]
    if not pairs:
        raise InputError(
            [Problem("not-recognised", "text", documents[0].kind, {"known": [f.name for f in FRAMEWORKS.values()]})]
        )
    found = Found()
    for options in documents:
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
    return next((framework for framework in FRAMEWORKS.values() if framework.recognise(options)), None)


def _unread(framework: Framework, options: Options) -> list[Unread]:
    return [
        Unread(name, str(value)[:200])
        for name, value in options.rest.items()
        if name.rsplit(".", 1)[-1] not in framework.harmless
        and not name.startswith(("env.", "sbatch."))
        and value not in (None, "auto")
    ][:100]
