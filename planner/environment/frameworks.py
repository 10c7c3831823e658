"""Checks of PyTorch, TensorFlow and JAX against the driver and the GPUs."""

import re

from planner.environment.check import Check, Rule, State, has_hardware, maker
from planner.environment.compatibility import covers, driver_for, version
from planner.environment.facts import Facts


def framework_build(name: str) -> Rule:
    """Is the framework built for the GPU?"""

    def check(facts: Facts) -> Check:
        made = maker(f"{name}.build", f"{name} in a subprocess")
        found = facts.frameworks.get(name)
        if found is None:
            wheel = facts.wheels.get(name)
            return made(State.UNKNOWN if wheel else State.NOT_APPLICABLE, wheel or "")
        if "error" in found:
            return made(State.PROBLEM, f"{facts.wheels.get(name, '')} {found['error']}".strip(), "", "framework-import")
        cuda = found.get("cuda") or (found.get("hip") and f"ROCm {found['hip']}")
        shown = f"{found.get('version', '')}, CUDA {cuda or '–'}"
        if name == "jax":
            cuda = any(one.startswith(("jax-cuda", "nvidia-cuda")) for one in facts.wheels)
            shown = f"{found.get('version', '')}, {found.get('platform', '')}"
        if cuda or not has_hardware(facts):
            return made(State.OK, shown)
        return made(State.PROBLEM, shown, "CUDA", "cpu-only-wheel")

    return check


def framework_driver(name: str) -> Rule:
    """Is the driver new enough for the CUDA that the framework was built with?"""

    def check(facts: Facts) -> Check:
        made = maker(f"{name}.driver", "planner/data/cuda_compat.csv")
        cuda = str((facts.frameworks.get(name) or {}).get("cuda") or "")
        if not cuda or not facts.driver:
            return made(State.NOT_APPLICABLE)
        need = driver_for(cuda, facts.system == "Windows")
        if need is None:
            return made(State.UNKNOWN, f"CUDA {cuda}")
        found = f"driver {facts.driver}, CUDA {cuda}"
        expected = f"driver ≥ {need.least} ({need.full})"
        if version(facts.driver) < version(need.least):
            return made(State.PROBLEM, found, expected, "driver-or-wheel", need.source)
        return made(State.OK, found, expected, source=need.source)

    return check


def torch_architectures(facts: Facts) -> Check:
    """Was PyTorch built for each of these GPUs?"""
    made = maker("torch.arch", "torch.cuda.get_arch_list()")
    built = list((facts.frameworks.get("torch") or {}).get("architectures") or [])
    if not built or not facts.gpus:
        return made(State.NOT_APPLICABLE)
    lacking = [gpu for gpu in facts.gpus if covers(built, gpu.capability) is False]
    if not lacking:
        return made(State.OK, " ".join(built))
    found = ", ".join(f"{gpu.name} {gpu.capability}" for gpu in lacking)
    newer = version(lacking[0].capability) > max(version(re.sub(r"\D", "", one)[:-1] or "0") for one in built)
    return made(State.PROBLEM, found, " ".join(built), "wheel-newer" if newer else "wheel-older")


def torch_devices(facts: Facts) -> Check:
    """Does PyTorch see as many GPUs as the driver?"""
    made = maker("torch.devices", "torch.cuda.device_count()")
    seen = (facts.frameworks.get("torch") or {}).get("devices")
    if seen is None or not facts.gpus:
        return made(State.NOT_APPLICABLE)
    mig = any(gpu.mig for gpu in facts.gpus)
    if seen >= len(facts.gpus) or (mig and seen):
        return made(State.OK, str(seen), str(len(facts.gpus)))
    hidden = "CUDA_VISIBLE_DEVICES" in facts.variables
    advice = "visible-devices" if hidden else "fabric-manager"
    return made(State.WARNING if seen or hidden else State.PROBLEM, str(seen), str(len(facts.gpus)), advice)


def torch_cudnn(facts: Facts) -> Check:
    """Is the cuDNN that PyTorch loaded the one that was installed with it?"""
    made = maker("torch.cudnn", "torch.backends.cudnn.version(), importlib.metadata")
    loaded = (facts.frameworks.get("torch") or {}).get("cudnn")
    wheel = next((v for name, v in facts.wheels.items() if name.startswith("nvidia-cudnn-cu")), "")
    if not loaded or not wheel:
        return made(State.NOT_APPLICABLE, str(loaded or ""))
    number = int(loaded)  # 8907 is 8.9.7, 91002 is 9.10.2
    scale = 1000 if number < 90000 else 10000
    shown = (number // scale, number % scale // 100, number % 100)
    found = ".".join(map(str, shown))
    same = shown[:2] == version(wheel)[:2]
    return made(State.OK if same else State.PROBLEM, found, wheel, "" if same else "cudnn-shadow")
